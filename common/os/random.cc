#include "common/os/random.h"

#include <array>
#include <span>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml::os {

std::string random_hex(std::size_t bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::array<unsigned char, 256> noise{};
  if (bytes > noise.size()) return {};
  if (::getrandom(noise.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {  // Linux before 3.17
    const UniqueFd device(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    if (!device || ::read(device.get(), noise.data(), bytes) != static_cast<ssize_t>(bytes)) return {};
  }
  std::string out;
  for (const unsigned char byte : std::span(noise).first(bytes)) (out += digits[byte >> 4]) += digits[byte & 15];
  return out;
}

}  // namespace sml::os
