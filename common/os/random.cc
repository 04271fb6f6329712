#include "common/os/random.h"

#include <array>
#include <span>

#include <sys/random.h>

namespace sml::os {

std::string random_hex(std::size_t bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::array<unsigned char, 256> noise{};
  if (bytes > noise.size() || ::getrandom(noise.data(), bytes, 0) != static_cast<ssize_t>(bytes)) return {};
  std::string out;
  for (const unsigned char byte : std::span(noise).first(bytes)) (out += digits[byte >> 4]) += digits[byte & 15];
  return out;
}

}  // namespace sml::os
