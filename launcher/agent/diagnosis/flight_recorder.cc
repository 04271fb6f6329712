#include "launcher/agent/diagnosis/flight_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml::agent {

namespace {

// False for the file of another user: the path may be the user's own choice, in a folder like /tmp.
bool is_own(const struct stat& info) { return info.st_uid == ::geteuid(); }

std::int64_t written_ns(const struct stat& info) {
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

bool FlightRecorder::trigger() {
  awaited_ = false;
  size_ = 0;
  const os::UniqueFd pipe(::open(pipe_.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!pipe || ::fstat(pipe.get(), &info) != 0 || !S_ISFIFO(info.st_mode) || !is_own(info)) return false;
  struct stat earlier {};
  before_ns_ = ::stat(dump_.c_str(), &earlier) == 0 ? written_ns(earlier) : 0;
  awaited_ = ::write(pipe.get(), "1\n", 2) == 2;
  return awaited_;
}

std::optional<std::string> FlightRecorder::poll(std::size_t most) {
  const os::UniqueFd file(::open(dump_.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || !is_own(info)) return std::nullopt;
  if (written_ns(info) == before_ns_) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const bool grows = size == 0 || size != size_;
  size_ = size;
  if (grows) return std::nullopt;
  awaited_ = false;
  if (size > most) return std::nullopt;
  std::string out(size, '\0');
  if (::pread(file.get(), out.data(), out.size(), 0) != static_cast<ssize_t>(out.size())) return std::nullopt;
  return out;
}

}  // namespace sml::agent
