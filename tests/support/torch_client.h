// Requests of a torch client, byte by byte as the protocol's table has them; written without the code under test.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sml::fake {

template <class T>
std::string raw(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
inline std::string u8(int value) { return std::string(1, static_cast<char>(value)); }
inline std::string u32(std::uint32_t value) { return raw(value); }
inline std::string u64(std::uint64_t value) { return raw(value); }
inline std::string i64(std::int64_t value) { return raw(value); }
inline std::string bytes(std::string_view s) { return u64(s.size()) + std::string(s); }
inline std::string keys(const std::vector<std::string>& list) {
  std::string out = u64(list.size());
  for (const std::string& key : list) out += bytes(key);
  return out;
}
inline std::string validate() { return u8(0) + u32(0x3C85F7CE); }

}  // namespace sml::fake
