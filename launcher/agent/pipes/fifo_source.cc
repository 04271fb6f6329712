#include "launcher/agent/pipes/fifo_source.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/own_file.h"

namespace sml::agent {

namespace {

constexpr int kSourcePipe = 1 << 20;

// Where others can write, one of them can be the first to create the platform's FIFO, or give another of the user's its
// name, and feed the workers.
bool is_planted(int fifo) {
  struct stat file {};
  return ::fstat(fifo, &file) != 0 || (file.st_uid != 0 && file.st_uid != ::geteuid()) || file.st_nlink > 1;
}

bool is_missing(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) != 0 && errno == ENOENT;
}

Error broken(const std::string& what, const std::string& path, int sys_errno) {
  return sys_error(ErrorKind::Io, what + " " + show(path), sys_errno);
}

}  // namespace

Result<FifoSource::Opened> FifoSource::open(std::uint32_t epoch) {
  path_ = base_ + std::to_string(epoch);
  fd_.reset();
  if (is_missing(path_)) return Opened::NotYet;
  const Result<os::Place> place = os::find_place(path_, os::Folders::MustExist);
  if (!place) return place.error();
  const int link = place->others_write_above ? O_NOFOLLOW : 0;
  fd_.reset(::openat(place->folder.get(), place->name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | link));
  const int why = fd_ ? 0 : errno;
  if (place->others_write_above && (fd_ ? is_planted(fd_.get()) : why == ELOOP)) {
    fd_.reset();
    return Error(ErrorKind::Io, "cannot open " + show(path_) + ": another user made it, where others can write");
  }
  if (!fd_) return why == ENOENT ? Result<Opened>(Opened::NotYet) : broken("cannot open", path_, why);
  os::widen_pipe(fd_.get(), kSourcePipe);
  return Opened::Yes;
}

Result<std::optional<std::size_t>> FifoSource::read(std::span<char> out) {
  const ssize_t n = ::read(fd_.get(), out.data(), out.size());
  if (n >= 0) return std::optional(static_cast<std::size_t>(n));
  if (errno == EAGAIN || errno == EINTR) return std::optional<std::size_t>();
  return broken("cannot read", path_, errno);
}

}  // namespace sml::agent
