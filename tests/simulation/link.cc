#include "tests/simulation/link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "common/wire/handshake.h"
#include "tests/simulation/host.h"

namespace sml::sim {

namespace {

constexpr std::size_t kMostOnTheWay = std::size_t{256} << 10;
constexpr Duration kKeepAlive = std::chrono::minutes(131);  // then the host's system gives the connection up
constexpr Duration kRetry = std::chrono::milliseconds(50);

void close_fd(int& fd) {
  if (fd >= 0) ::close(std::exchange(fd, -1));
}

}  // namespace

// ---- the monitor

std::string_view Monitor::unread(std::uint64_t& read, std::uint64_t place, std::string_view bytes) const {
  if (place > read) world->broken(host_ + ": bytes are left out where another connection goes on");
  bytes.remove_prefix(std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(read - std::min(read, place))));
  read += bytes.size();
  return bytes;
}

void Monitor::to_agent(std::uint64_t place, std::string_view bytes) {
  down_.feed(unread(read_down_, place, bytes));
  for (;;) {
    Result<std::optional<wire::ToAgent>> next = down_.next();
    if (!next) return world->broken(host_ + " is sent nonsense: " + next.error().message());
    if (!next->has_value()) return;
    look(**next);
  }
}

void Monitor::to_launcher(std::uint64_t place, std::string_view bytes) {
  up_.feed(unread(read_up_, place, bytes));
  for (;;) {
    Result<std::optional<wire::ToLauncher>> next = up_.next();
    if (!next) return world->broken(host_ + " sends nonsense: " + next.error().message());
    if (!next->has_value()) return;
    look(**next);
  }
}

void Monitor::look(const wire::ToAgent& message) {
  if (const auto* m = std::get_if<wire::Hello>(&message)) granted_ += m->credit;
  if (const auto* m = std::get_if<wire::Credit>(&message)) {
    granted_ += m->bytes;
    if (granted_ - delivered_ > window_) {
      world->broken(host_ + " has credit for " + std::to_string(granted_ - delivered_) +
                    " bytes of output, more than " + std::to_string(window_));
    }
  }
  if (suspended_ && !std::holds_alternative<wire::Resume>(message)) {
    world->broken(host_ + " is told something while it is suspended");
  }
  suspended_ = std::holds_alternative<wire::Suspend>(message);
  if (const auto* m = std::get_if<wire::Prepare>(&message)) {
    if (prepared_ != 0) world->moment("a further attempt is prepared");
    stopped_ = false;
    prepared_ = m->attempt;
  }
  if (std::holds_alternative<wire::Start>(message)) world->moment("all hosts are ready");
  if (const auto* m = std::get_if<wire::Stop>(&message)) {
    world->moment(m->signo == SIGKILL ? "all workers are to be killed" : "all workers are to stop");
    stopped_ = true;
  }
  if (std::holds_alternative<wire::Leave>(message) && !stopped_) {
    world->moment("the stores are not needed any more");
    if (++releases_ > 1) world->broken(host_ + " is released twice");
  }
}

void Monitor::look(const wire::ToLauncher& message) {
  if (const auto* m = std::get_if<wire::Output>(&message)) {
    delivered_ += m->bytes.size();
    if (delivered_ == granted_) world->moment("a worker's output has no credit");
  }
  if (const auto* m = std::get_if<wire::AgentLog>(&message);
      m != nullptr && m->text.find("ignored a ") != std::string::npos) {
    world->broken(host_ + ": " + m->text);
  }
}

// ---- the link

Link::Link(Ends ends, LinkQuality quality, std::shared_ptr<Monitor> monitor)
    : host_(ends.host),
      launcher_(std::move(ends.launcher)),
      mark_(std::move(ends.mark)),
      purpose_(ends.purpose),
      quality_(quality),
      monitor_(std::move(monitor)) {}

void Link::tell_launcher(std::function<void(transport::TransportEvents&)> what) {
  if (events_ == nullptr) return;  // nor is its loop
  world->launcher_has_news = true;
  boost::asio::post(launcher_, [self = shared_from_this(), what = std::move(what)] {
    if (self->events_ != nullptr) what(*self->events_);
  });
}

TimePoint Link::arrival(TimePoint& last) {
  last = std::max(last, world->now() + world->dice.between(quality_.least_delay, quality_.most_delay));
  return last;
}

void Link::start(transport::TransportEvents& events) {
  events_ = &events;
  tell_launcher([](transport::TransportEvents& e) { e.transport_step("connecting"); });
  world->after(quality_.opens_after, [self = shared_from_this()] { self->open_up(); });
}

void Link::open_up() {
  if (events_ == nullptr || down_ == Way::Closed) return;
  if (quality_.refuses || host_.dead()) {
    return close_up(Error(ErrorKind::Connect, "connection refused"));
  }
  tell_launcher([peer = host_.address()](transport::TransportEvents& e) {
    e.transport_step("authenticating");
    e.transport_open("10.0.0.254", peer);
  });
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (::pipe2(down.data(), O_CLOEXEC | O_NONBLOCK) != 0 || ::pipe2(up.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Broken{"no pipe can be made"};
  }
  agent_reads_ = down[0];
  to_agent_ = down[1];
  from_agent_ = up[0];
  agent_writes_ = up[1];
  const std::string line = wire::agent_line(mark_);
  world->at(arrival(last_up_), [self = shared_from_this(), line] {
    if (self->up_ != Way::Open) return;
    self->tell_launcher([line](transport::TransportEvents& e) { e.transport_bytes(line); });
  });
  if (purpose_ == LinkPurpose::Serve) host_.start_agent(shared_from_this());
}

void Link::send(std::string bytes) {
  if (purpose_ == LinkPurpose::Return && !std::exchange(asked_, true)) {
    world->at(arrival(last_down_), [self = shared_from_this(), bytes = std::move(bytes)] {
      if (self->down_ == Way::Open) self->host_.come_back(self, bytes);
    });
    return;
  }
  // On one that comes back it may begin within a frame.
  if (purpose_ == LinkPurpose::Serve) bytes = plants::sent_by_launcher(std::move(bytes));
  monitor_->to_agent(place_down_, bytes);
  place_down_ += bytes.size();
  if (down_ == Way::Closed) return;
  world->at(arrival(last_down_), [self = shared_from_this(), bytes = std::move(bytes)] {
    if (self->down_ != Way::Open) return;
    self->down_waiting_ += bytes;
    self->write_down();
  });
}

void Link::write_down() {
  if (to_agent_ < 0) return;
  while (!down_waiting_.empty()) {
    const ssize_t n = ::write(to_agent_, down_waiting_.data(), down_waiting_.size());
    if (n <= 0) break;
    down_waiting_.erase(0, static_cast<std::size_t>(n));
    host_.wake(*this);
  }
  if (down_waiting_.empty()) {
    if (down_ends_) close_down();
    return;
  }
  if (std::exchange(down_retries_, true)) return;
  world->after(kRetry, [self = shared_from_this()] {
    self->down_retries_ = false;
    self->write_down();
  });
}

void Link::close_down() {
  close_fd(to_agent_);
  host_.wake(*this);
}

void Link::finish() {
  world->at(arrival(last_down_), [self = shared_from_this()] {
    self->down_ends_ = true;
    if (self->down_ == Way::Open) self->write_down();
  });
}

void Link::launcher_gone() {
  if (open() && !ended_) world->moment("a host is given up");
  events_ = nullptr;
  if (down_ == Way::Swallows) return;
  world->at(arrival(last_down_), [self = shared_from_this()] {
    if (self->down_ != Way::Open) return;
    self->down_ = Way::Closed;
    self->up_ = Way::Closed;
    self->down_waiting_.clear();
    self->close_down();
    close_fd(self->from_agent_);
  });
}

// What the agent has written goes on its way, in pieces of any size.
void Link::read_up() {
  while (from_agent_ >= 0 && up_on_the_way_ < kMostOnTheWay) {
    static std::array<char, 16384> buffer;
    const std::size_t piece = world->dice.one_in(4) ? 1 + world->dice.below(buffer.size()) : buffer.size();
    const ssize_t n = ::read(from_agent_, buffer.data(), piece);
    if (n <= 0) return;
    read_in_all_ += static_cast<std::uint64_t>(n);
    if (up_ != Way::Open) continue;
    std::string bytes(buffer.data(), static_cast<std::size_t>(n));
    if (purpose_ == LinkPurpose::Serve && plants::AgentFrames::tampered_with()) bytes = frames_.pass(bytes);
    up_on_the_way_ += bytes.size();
    world->at(arrival(last_up_), [self = shared_from_this(), bytes = std::move(bytes)] {
      self->up_on_the_way_ -= bytes.size();
      self->host_.wake(*self);
      self->read_up();
      if (self->up_ != Way::Open || self->events_ == nullptr) return;
      self->watch_up(bytes);
      self->tell_launcher([bytes](transport::TransportEvents& e) { e.transport_bytes(bytes); });
    });
  }
}

// The first line of one that comes back is not of the conversation, and tells where that goes on.
void Link::watch_up(std::string_view bytes) {
  if (purpose_ == LinkPurpose::Return && !goes_on_) {
    first_line_ += bytes;
    const std::size_t end = first_line_.find('\n');
    if (end == std::string::npos) return;
    goes_on_ = true;
    world->moment("a connection goes on");
    const std::size_t number = first_line_.rfind(' ', end) + 1;
    place_down_ = std::stoull(first_line_.substr(number, end - number));
    bytes.remove_prefix(bytes.size() - (first_line_.size() - end - 1));
  }
  monitor_->to_launcher(place_up_, bytes);
  place_up_ += bytes.size();
}

void Link::refused() {
  const std::string line = wire::cannot_return_line(mark_, "its agent has gone");
  close_fd(agent_reads_);
  close_fd(agent_writes_);
  if (up_ != Way::Open) return;
  world->at(arrival(last_up_), [self = shared_from_this(), line] {
    if (self->up_ != Way::Open) return;
    self->tell_launcher([line](transport::TransportEvents& e) { e.transport_bytes(line); });
    self->ended_ = true;
    self->close_up(Error(ErrorKind::Lost, "the connection has ended"));
  });
}

void Link::agent_turned() { read_up(); }

void Link::agent_gone(bool well) {
  ended_well_ = well;
  while (from_agent_ >= 0) {
    const std::size_t before = up_on_the_way_;
    up_on_the_way_ = 0;
    read_up();
    const bool more = up_on_the_way_ > 0;
    up_on_the_way_ += before;
    if (!more) break;
  }
  if (up_ != Way::Open) return;
  world->at(arrival(last_up_), [self = shared_from_this()] {
    if (self->up_ != Way::Open) return;
    self->ended_ = true;
    self->close_up(Error(ErrorKind::Lost, "the connection has ended"));
  });
}

void Link::close_up(Error why) {
  up_ = Way::Closed;
  tell_launcher([self = shared_from_this(), why = std::move(why)](transport::TransportEvents& e) {
    self->events_ = nullptr;
    e.transport_closed(why);
  });
}

void Link::cut() {
  if (down_ == Way::Closed || from_agent_ < 0) return;
  world->note("the link to " + host_.name() + " is cut");
  world->moment("a connection breaks");
  down_ = Way::Closed;
  down_waiting_.clear();
  close_down();
  close_fd(from_agent_);
  if (up_ != Way::Closed) close_up(Error(ErrorKind::Lost, "connection reset by peer"));
}

void Link::half_open(bool towards_agent, bool towards_launcher) {
  world->note("the link to " + host_.name() + " swallows what goes " + (towards_agent ? "down" : "") +
              (towards_launcher ? " up" : ""));
  if (towards_agent && down_ == Way::Open) down_ = Way::Swallows;
  if (towards_launcher && up_ == Way::Open) up_ = Way::Swallows;
  world->after(kKeepAlive, [self = shared_from_this()] {
    self->down_ = Way::Closed;
    self->close_down();
    close_fd(self->from_agent_);
  });
}

}  // namespace sml::sim
