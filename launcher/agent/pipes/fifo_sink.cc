#include "launcher/agent/pipes/fifo_sink.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr int kWidePipe = 1 << 20;
constexpr std::size_t kWorthListing = 512;  // the size from which writev() is cheaper than a copy

// Where another user can create files, that user would read data that is meant for the workers.
bool is_fifo_of_ours(const struct stat& status) {
  return S_ISFIFO(status.st_mode) && (status.st_uid == ::geteuid() || status.st_uid == 0);
}

}  // namespace

Result<void> FifoSink::make(std::uint32_t epoch) const {
  const std::string path = base_ + std::to_string(epoch);
  if (::mkfifo(path.c_str(), 0600) == 0) return {};
  const int why = errno;
  struct stat status {};
  if (why == EEXIST && ::lstat(path.c_str(), &status) == 0 && is_fifo_of_ours(status)) return {};
  return sys_error(ErrorKind::Io, "cannot make the FIFO " + show(path), why);
}

void FifoSink::await(std::uint32_t epoch) {
  epoch_ = epoch;
  awaiting_ = true;
  finishing_ = false;
  forget();
}

void FifoSink::forget() {
  backlog_.clear();
  sent_ = 0;
  listed_.clear();
  listed_size_ = 0;
}

Result<bool> FifoSink::look() {
  const std::string path = base_ + std::to_string(epoch_);
  fd_.reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!fd_ && (errno == ENXIO || errno == EINTR)) return false;  // no reader
  if (!fd_) return sys_error(ErrorKind::Io, "cannot open the FIFO " + show(path), errno);
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0 || !is_fifo_of_ours(status)) {
    return Error(ErrorKind::Io, "cannot open the FIFO " + show(path) + ": something of another user is in its place");
  }
  awaiting_ = false;
  os::widen_pipe(fd_.get(), kWidePipe);
  return true;
}

// Copies small pieces, which is cheaper than listing them. Keeps the order.
void FifoSink::add(std::string_view bytes) {
  const bool list = fd_ && (bytes.size() >= kWorthListing || !listed_.empty()) && backlog_.empty();
  if (!list) {
    backlog_ += bytes;
    return;
  }
  listed_.push_back({const_cast<char*>(bytes.data()), bytes.size()});
  listed_size_ += bytes.size();
}

// Copies the listed bytes that have not been written to the backlog.
void FifoSink::keep_listed(std::size_t written) {
  for (const iovec& piece : listed_) {
    const std::size_t skipped = std::min(written, piece.iov_len);
    written -= skipped;
    backlog_.append(static_cast<const char*>(piece.iov_base) + skipped, piece.iov_len - skipped);
  }
  listed_.clear();
  listed_size_ = 0;
}

// Returns false if the FIFO has no reader.
bool FifoSink::write_listed() {
  std::size_t written = 0;
  for (std::size_t at = 0; at < listed_.size(); at += IOV_MAX) {
    const std::span<const iovec> some =
        std::span(listed_).subspan(at, std::min<std::size_t>(IOV_MAX, listed_.size() - at));
    std::size_t wanted = 0;
    for (const iovec& piece : some) wanted += piece.iov_len;
    const ssize_t n = ::writev(fd_.get(), some.data(), static_cast<int>(some.size()));
    if (n < 0 && errno == EPIPE) return false;
    written += n > 0 ? static_cast<std::size_t>(n) : 0;
    if (n < static_cast<ssize_t>(wanted)) break;
  }
  keep_listed(written);
  return true;
}

FifoSink::Written FifoSink::write() {
  if (!listed_.empty() && !write_listed()) return Written::NoReader;
  while (pending() > 0) {
    const ssize_t n = ::write(fd_.get(), backlog_.data() + sent_, pending());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return Written::NoReader;
    sent_ += static_cast<std::size_t>(n);
  }
  const bool all = pending() == 0;
  if (all || sent_ > kMostPending) backlog_.erase(0, std::exchange(sent_, 0));
  return all ? Written::All : Written::Some;
}

void FifoSink::close() {
  fd_.reset();
  awaiting_ = false;
  finishing_ = false;
  forget();
  ::unlink((base_ + std::to_string(epoch_)).c_str());
}

}  // namespace sml::agent
