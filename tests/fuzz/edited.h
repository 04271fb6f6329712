// For fuzz targets of conversations: input is either the bytes themselves, or changes to an honest conversation, which
// a fuzzer would hardly find by itself.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sml::fuzz {

// The first byte is even: what follows, as it is. Odd: `honest` with changes of four bytes each: what to do (bits 0-1:
// exchange a byte, put one in, take some out, repeat some), where (two bytes), and with what.
inline std::string edited(std::string_view input, std::string_view honest) {
  if (input.empty()) return {};
  const auto byte = [&input](std::size_t at) { return static_cast<unsigned char>(input[at]); };
  if (byte(0) % 2 == 0) return std::string(input.substr(1));
  std::string out(honest);
  for (std::size_t at = 1; at + 3 < input.size() && !out.empty() && out.size() < 65536; at += 4) {
    const std::size_t place = (byte(at + 1) * 256U + byte(at + 2)) % out.size();
    const char with = input[at + 3];
    const auto piece = std::string_view(out).substr(place, byte(at + 3));
    switch (byte(at) % 4) {
      case 0: out[place] = with; break;
      case 1: out.insert(place, 1, with); break;
      case 2: out.erase(place, piece.size()); break;
      default: out.insert(place, std::string(piece)); break;
    }
  }
  return out;
}

}  // namespace sml::fuzz
