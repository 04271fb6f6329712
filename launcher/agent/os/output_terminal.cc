#include "launcher/agent/os/output_terminal.h"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

namespace sml::os {

namespace {

constexpr int kOpen = O_RDWR | O_NOCTTY | O_CLOEXEC;

// Before Linux 4.13 by its name.
UniqueFd other_end(int end) {
  UniqueFd out(::ioctl(end, TIOCGPTPEER, kOpen));
  char name[64];
  if (!out && ::ptsname_r(end, name, sizeof name) == 0) out.reset(::open(name, kOpen));
  return out;
}

}  // namespace

Result<Pipe> make_output_terminal() {
  UniqueFd read(::open("/dev/ptmx", kOpen));
  if (!read || ::unlockpt(read.get()) != 0) return sys_error(ErrorKind::Io, "cannot open a terminal", errno);
  UniqueFd write = other_end(read.get());
  termios settings{};
  if (!write || ::tcgetattr(write.get(), &settings) != 0) {
    return sys_error(ErrorKind::Io, "cannot open a terminal", errno);
  }
  ::cfmakeraw(&settings);
  if (::tcsetattr(write.get(), TCSANOW, &settings) != 0 || ::fchmod(write.get(), 0600) != 0) {
    return sys_error(ErrorKind::Io, "cannot set up a terminal", errno);
  }
  return Pipe{std::move(read), std::move(write)};
}

}  // namespace sml::os
