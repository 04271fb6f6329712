// A launcher by hand: starts the real agent on a socket pair and exchanges frames with it. Header only.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"
#include "tests/support/watchdog.h"

namespace sml::fake {

class Launcher {
 public:
  static constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

  explicit Launcher(const std::vector<std::string>& prefix = {}) {
    auto sockets = os::make_socketpair();
    REQUIRE(sockets.has_value());
    std::vector<std::string> argv = prefix;
    for (const std::string& word : {std::string(SML_BUILD_DIR "/sml-run-agent"), std::string("--mark"), mark()}) {
      argv.push_back(word);
    }
    const auto pid = os::spawn_helper(
        {.argv = argv, .stdin_fd = (*sockets)[1].get(), .stdout_fd = (*sockets)[1].get(), .stderr_fd = STDERR_FILENO});
    REQUIRE(pid.has_value());
    pid_ = *pid;
    socket_ = std::move((*sockets)[0]);
    REQUIRE(read_line(socket_.get()) == mark() + " AGENT " + std::to_string(wire::kProtocolVersion));
    const std::vector<pid_t> agents = children_of(pid_);
    REQUIRE(agents.size() == 1);
    agent_ = agents[0];
  }
  ~Launcher() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }

  static std::string mark() { return "m" + std::to_string(::getpid()); }

  pid_t pid() const { return pid_; }      // of what we started: the agent's guardian
  pid_t agent() const { return agent_; }  // the agent itself

  int socket() const { return socket_.get(); }
  void hang_up() { socket_.reset(); }
  void send(const wire::ToAgent& message) { REQUIRE(os::write_all(socket_.get(), wire::encode(message))); }

  // The next message, whatever it is; none when the agent has closed, or nothing has come for `limit`.
  std::optional<wire::ToLauncher> next(std::chrono::milliseconds limit = watchdog()) {
    for (;;) {
      auto message = decoder_.next();
      REQUIRE(message.has_value());
      if (message->has_value()) {
        note(**message);
        return std::move(*message);
      }
      pollfd p{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&p, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
      char buffer[65536];
      const ssize_t n = ::read(socket_.get(), buffer, sizeof buffer);
      if (n <= 0) {
        closed_ = true;
        return std::nullopt;
      }
      received_ += static_cast<std::uint64_t>(n);
      decoder_.feed(std::span<const char>(buffer, static_cast<std::size_t>(n)));
    }
  }

  // Takes messages until one of this kind comes.
  template <class Message>
  Message await() {
    while (auto message = next()) {
      if (auto* found = std::get_if<Message>(&*message)) return std::move(*found);
    }
    FAIL("the agent did not send what was waited for");
    return {};
  }
  void until(const std::function<bool()>& condition) {
    while (!condition()) {
      if (!next()) FAIL("the agent did not do what was waited for");
    }
  }
  // An answered Ping: the agent has dealt with all that was sent before.
  void round_trip() {
    const std::uint64_t token = ++pings_;
    send(wire::Ping{token});
    while (await<wire::Pong>().token != token) {
    }
  }

  // Hello, Prepare, Start, and Leave when that is done.
  static wire::Hello hello(std::uint64_t credit = kPlenty) {
    return {.job_id = "test", .host = "here", .heartbeat_timeout_ms = 3'600'000, .grace_ms = 5000, .credit = credit};
  }
  using Argv = std::vector<std::string>;
  static wire::Prepare plan(const std::vector<Argv>& workers) {
    wire::Prepare prepare;
    prepare.mark = mark();
    for (std::uint32_t i = 0; i < workers.size(); ++i) {
      prepare.apps.push_back({.argv = workers[i],
                              .working_directory = {},
                              .base = plan::BaseEnvironment::Login,
                              .launcher_environment = {},
                              .user_environment = {}});
      prepare.workers.push_back({.rank = Rank(i), .local_rank = LocalRank(i), .app = i, .environment = {}});
    }
    return prepare;
  }
  void start_plan(const wire::Prepare& prepare, const wire::Hello& greeting = hello()) {
    send(greeting);
    await<wire::HelloAck>();
    send(prepare);
    CHECK(await<wire::Prepared>().errors.empty());
    send(wire::Start{});
    send(wire::Leave{});
    await<wire::Started>();
  }
  void start(const std::vector<Argv>& workers, const wire::Hello& greeting = hello()) {
    start_plan(plan(workers), greeting);
  }

  // Everything that has come so far, by rank.
  struct News {
    std::string out;
    std::string err;
    pid_t pid = -1;
    std::optional<wire::ExitedWorker> exited;
    std::optional<wire::DrainEnd> drained;
    std::uint64_t input_taken = 0;
  };
  News& news(std::uint32_t rank) {
    if (news_.size() <= rank) news_.resize(rank + 1);
    return news_[rank];
  }
  void forget() { news_.clear(); }  // an attempt begins
  std::uint64_t output_bytes() const { return output_bytes_; }
  std::uint64_t received() const { return received_; }                      // bytes of frames
  const std::optional<wire::Cleared>& cleared() const { return cleared_; }  // the last
  const std::optional<wire::Bye>& bye() const { return bye_; }

  // Told to leave when it is done, the agent has said Bye, closed its end and exited with 0.
  void must_leave_well() {
    if (!bye_) {
      const std::string leave = wire::encode(wire::ToAgent(wire::Leave{}));
      ::send(socket_.get(), leave.data(), leave.size(), MSG_NOSIGNAL);
    }
    while (next()) {
    }
    CHECK(closed_);
    CHECK(bye_.has_value());
    int raw = -1;
    CHECK(::waitpid(pid_, &raw, 0) == pid_);
    CHECK(raw == 0);
    pid_ = -1;
  }
  // The agent has exited, however; without reading what it says.
  bool leaves() {
    int raw = 0;
    const bool left = eventually([&] { return ::waitpid(pid_, &raw, WNOHANG) == pid_; });
    if (left) pid_ = -1;
    return left;
  }
  // "VmHWM", "VmRSS": kilobytes.
  long memory(const std::string& what) const {
    std::ifstream status("/proc/" + std::to_string(agent_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(what + ":")) return std::stol(line.substr(what.size() + 1));
    }
    return -1;
  }

 private:
  void note(const wire::ToLauncher& message) {
    if (const auto* output = std::get_if<wire::Output>(&message)) {
      News& of = news(output->rank.value());
      CHECK_FALSE(of.drained.has_value());  // no output after Drained
      (output->stream == wire::Stream::Stdout ? of.out : of.err) += output->bytes;
      output_bytes_ += output->bytes.size();
    } else if (const auto* exited = std::get_if<wire::ExitedWorker>(&message)) {
      CHECK_FALSE(news(exited->rank.value()).exited.has_value());  // once
      news(exited->rank.value()).exited = *exited;
    } else if (const auto* drained = std::get_if<wire::Drained>(&message)) {
      CHECK(news(drained->rank.value()).exited.has_value());  // exit first
      CHECK_FALSE(news(drained->rank.value()).drained.has_value());
      news(drained->rank.value()).drained = drained->end;
    } else if (const auto* started = std::get_if<wire::Started>(&message)) {
      for (const wire::StartedWorker& worker : started->workers) news(worker.rank.value()).pid = worker.pid;
    } else if (const auto* credit = std::get_if<wire::StdinCredit>(&message)) {
      CHECK_FALSE(bye_.has_value());  // the last word
      news(credit->rank.value()).input_taken += credit->bytes;
    } else if (const auto* cleared = std::get_if<wire::Cleared>(&message)) {
      cleared_ = *cleared;
    } else if (const auto* last = std::get_if<wire::Bye>(&message)) {
      bye_ = *last;
    }
  }

  pid_t pid_ = -1;
  pid_t agent_ = -1;
  os::UniqueFd socket_;
  wire::Decoder<wire::ToLauncher> decoder_;
  std::deque<News> news_;
  std::optional<wire::Cleared> cleared_;
  std::optional<wire::Bye> bye_;
  std::uint64_t output_bytes_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t pings_ = 0;
  bool closed_ = false;
};

}  // namespace sml::fake
