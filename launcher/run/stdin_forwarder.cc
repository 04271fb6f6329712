#include "launcher/run/stdin_forwarder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml::run {

namespace {

constexpr int kLookAgainMs = 500;  // interval to check whether this job is in the foreground
constexpr std::size_t kPiece = 16384;

// A terminal that is not the controlling one of this process, as under setsid, has no foreground, and may be read.
bool in_background() {
  const pid_t owner = ::isatty(STDIN_FILENO) == 1 ? ::tcgetpgrp(STDIN_FILENO) : -1;
  return owner >= 0 && owner != ::getpgrp();
}

}  // namespace

// Used by the thread.
struct StdinForwarder::Source {
  os::UniqueFd fd;
  os::UniqueFd stopped;  // read end of a pipe; at end of file, reading is to stop

  // Waits for bytes; returns none at the end of the input, or if it has been stopped.
  std::string read(std::size_t most) const {
    std::string bytes(most, '\0');
    for (;;) {
      std::array<pollfd, 2> set{{{stopped.get(), POLLIN, 0}, {fd.get(), POLLIN, 0}}};
      const bool others = in_background();  // a read now would stop this process (SIGTTIN)
      if (::poll(set.data(), others ? 1 : 2, others ? kLookAgainMs : -1) < 0 && errno != EINTR) return {};
      if (set[0].revents != 0) return {};
      if (set[1].revents == 0 || in_background()) continue;
      const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
      return bytes;
    }
  }
};

StdinForwarder::StdinForwarder(boost::asio::any_io_executor loop, Sink& sink) : loop_(std::move(loop)), sink_(sink) {}

StdinForwarder::~StdinForwarder() { stop(); }

void StdinForwarder::add_reader(Rank rank) { on_the_way_[rank] = 0; }

void StdinForwarder::start() {
  if (on_the_way_.empty() || std::exchange(started_, true)) return;
  over_ = false;
  Result<os::Pipe> running = os::make_pipe();
  os::UniqueFd fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  reader_.emplace(loop_);
  if (!running || !fd || !reader_->start()) return end();
  source_ = std::make_shared<const Source>(Source{std::move(fd), std::move(running->read)});
  running_ = std::move(running->write);
  pump();
}

void StdinForwarder::taken(Rank rank, std::uint64_t bytes) {
  const auto reader = on_the_way_.find(rank);
  if (reader == on_the_way_.end()) return;
  reader->second -= std::min(reader->second, bytes);
  pump();
}

void StdinForwarder::remove_reader(Rank rank) {
  if (on_the_way_.erase(rank) == 0) return;
  if (on_the_way_.empty()) return stop();
  pump();
}

std::uint64_t StdinForwarder::credit() const {
  std::uint64_t most = 0;
  for (const auto& [rank, bytes] : on_the_way_) most = std::max(most, bytes);
  return kWindow - std::min(most, kWindow);
}

void StdinForwarder::stop() {
  over_ = true;
  reader_.reset();
  running_.reset();
}

void StdinForwarder::pump() {
  if (over_ || credit() == 0 || std::exchange(reading_, true)) return;
  const std::size_t most = static_cast<std::size_t>(std::min<std::uint64_t>(credit(), kPiece));
  const auto bytes = std::make_shared<std::string>();
  reader_->post([source = source_, bytes, most] { *bytes = source->read(most); },
                [this, bytes] {
                  reading_ = false;
                  came(*bytes);
                });
}

void StdinForwarder::came(const std::string& bytes) {
  if (bytes.empty()) return end();
  for (auto& [rank, on_the_way] : on_the_way_) {
    on_the_way += bytes.size();
    sink_.send_input(rank, bytes);
  }
  pump();
}

void StdinForwarder::end() {
  for (const auto& [rank, on_the_way] : on_the_way_) sink_.end_input(rank);
  stop();
}

}  // namespace sml::run
