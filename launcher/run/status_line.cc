#include "launcher/run/status_line.h"

#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "launcher/os/terminal_size.h"

namespace sml::run {

namespace {

constexpr Duration kQuietStart = std::chrono::seconds(1);
constexpr Duration kLeast = std::chrono::milliseconds(100);
constexpr Duration kMost = std::chrono::seconds(1);

// One less than there are: a character in the last one makes some terminals begin a new line.
std::size_t columns_of(int fd) { return os::terminal_columns(fd).value_or(80) - 1; }

}  // namespace

StatusLine::StatusLine(const boost::asio::any_io_executor& loop, int fd, os::OutStream& stream,
                       const output::Chain& chain, Text text)
    : fd_(fd), stream_(stream), chain_(chain), text_(std::move(text)), timer_(loop), next_(Clock::now() + kQuietStart) {
  wake_at(next_);
}

bool StatusLine::can_be_drawn_on(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

// Among the jobs of a shell, only the foreground one may use the terminal. A terminal that is not this process's
// controlling one has no such jobs.
StatusLine::Terminal StatusLine::terminal() const {
  const pid_t owner = ::tcgetpgrp(fd_);
  return owner < 0 || owner == ::getpgrp() ? Terminal::Ours : Terminal::Others;
}

void StatusLine::draw(std::string& out) {
  next_ = Clock::now() + kLeast;
  if (terminal() == Terminal::Others) return line_.forget();
  if (stream_.pending() > 0 || stream_.broken()) return line_.erase(out);
  line_.draw(text_(columns_of(fd_)), chain_.end(), out);
}

void StatusLine::let_pass(std::string& bytes) {
  if (line_.drawn()) {
    std::string off;
    if (terminal() == Terminal::Ours) line_.erase(off);
    line_.forget();
    bytes.insert(0, off);
  }
  if (hidden_) return;
  if (Clock::now() < next_) return wake_at(next_);
  draw(bytes);
  wake_at(next_ - kLeast + kMost);
}

void StatusLine::wake_at(TimePoint at) {
  if (at == wake_at_) return;
  wake_at_ = at;
  timer_.expires_at(at);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired() || hidden_) return;
    std::string out;
    draw(out);
    if (!out.empty()) stream_.write(out);
    wake_at(next_ - kLeast + kMost);
  });
}

void StatusLine::redraw() {
  if (!hidden_) wake_at(next_);
}

void StatusLine::hide() {
  hidden_ = true;
  timer_.cancel();
  wake_at_ = {};
  std::string out;
  if (terminal() == Terminal::Ours) line_.erase(out);
  line_.forget();
  if (!out.empty()) stream_.write(out);
}

void StatusLine::show() {
  hidden_ = false;
  redraw();
}

void StatusLine::cursor_moved() {
  line_.cursor_moved();
  redraw();
}

}  // namespace sml::run
