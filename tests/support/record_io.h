// RecordIO for tests, written from the format and not with the code that is tested.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sml::test {

// A whole record, or with another flag a part of one.
inline std::string frame(std::string_view payload, std::uint32_t flag = 0) {
  std::string out("\x0a\x23\xd7\xce", 4);
  const auto word = flag << 29 | static_cast<std::uint32_t>(payload.size());
  for (const unsigned shift : {0U, 8U, 16U, 24U}) out += static_cast<char>(static_cast<unsigned char>(word >> shift));
  out += payload;
  while (out.size() % 4 != 0) out += '\0';
  return out;
}

}  // namespace sml::test
