#include "launcher/inputs/read_to_end.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace sml {

namespace {

bool wait_for_data(int fd) {
  constexpr int kMilliseconds = 30'000;
  pollfd event{fd, POLLIN, 0};
  int ready = ::poll(&event, 1, kMilliseconds);
  while (ready < 0 && errno == EINTR) ready = ::poll(&event, 1, kMilliseconds);
  return ready > 0;
}

}  // namespace

Result<std::string> read_to_end(int fd, std::size_t limit) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {  // a shell's <(command) that has not written yet
      if (!wait_for_data(fd)) return Error(ErrorKind::Config, "nothing comes from it");
      continue;
    }
    if (count < 0) return Error(ErrorKind::Config, errno_text(errno));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > limit) return Error(ErrorKind::Config, "is larger than " + std::to_string(limit) + " bytes");
  }
}

}  // namespace sml
