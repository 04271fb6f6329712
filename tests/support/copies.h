// Copies of the built sml-run on this machine, each of which stands for a host: they call each other over loopback, as
// hosts that call do over a network. Header only.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/dialin/port.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"
#include "tests/support/watchdog.h"

namespace sml::copies {

using Words = std::vector<std::string>;

inline const std::string kSecret = "0123456789abcdef0123456789abcdef";
inline const std::string kProgram = SML_BUILD_DIR "/sml-run";
// Longer than any test: who ends such a job does it because something else happened.
inline const Words kNoClock{"--heartbeat-timeout", "1h", "--start-timeout", "1h", "--grace", "1h"};

inline Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// How a copy has ended.
struct Ended {
  int status = -1;  // as a shell has it
  std::string out;
  std::string err;
};

class Copy {
 public:
  Copy(const Words& words, const Words& environment) {
    auto out = os::make_pipe();
    auto err = os::make_pipe();
    auto null = os::open_dev_null();
    REQUIRE((out.has_value() && err.has_value() && null.has_value()));
    const auto started = os::spawn_worker({.program = {},
                                           .argv = words,
                                           .environment = environment,
                                           .working_directory = {},
                                           .stdin_fd = null->get(),
                                           .stdout_fd = out->write.get(),
                                           .stderr_fd = err->write.get(),
                                           .ignored_signals = {}});
    REQUIRE(std::holds_alternative<pid_t>(started));
    pid_ = std::get<pid_t>(started);
    pipes_ = {std::move(out->read), std::move(err->read)};
  }
  ~Copy() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signo) const { REQUIRE(::kill(pid_, signo) == 0); }

  // Waits for a text on standard error, or standard output.
  void until_says(const std::string& text) { until_holds(texts_[1], text); }
  void until_prints(const std::string& text) { until_holds(texts_[0], text); }

  Ended finish() {
    while (take()) {
    }
    int raw = 0;
    REQUIRE(::waitpid(std::exchange(pid_, -1), &raw, 0) > 0);
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw), texts_[0], texts_[1]};
  }

 private:
  void until_holds(const std::string& all, const std::string& text) {
    while (all.find(text) == std::string::npos) {
      if (take()) continue;
      FAIL("it has ended without \"" << text << "\":\n" << texts_[0] << texts_[1]);
    }
  }
  // What comes next of either; false: both have ended.
  bool take() {
    std::array<pollfd, 2> polled{};
    for (std::size_t i = 0; i < 2; ++i) polled[i] = {.fd = pipes_[i].get(), .events = POLLIN, .revents = 0};
    if (!pipes_[0] && !pipes_[1]) return false;
    REQUIRE(::poll(polled.data(), polled.size(), -1) > 0);
    for (std::size_t i = 0; i < 2; ++i) {
      if (polled[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t size = ::read(pipes_[i].get(), buffer.data(), buffer.size());
      if (size <= 0) {
        pipes_[i].reset();
      } else {
        texts_[i].append(buffer.data(), static_cast<std::size_t>(size));
      }
    }
    return true;
  }

  pid_t pid_ = -1;
  std::array<os::UniqueFd, 2> pipes_;  // of standard output, and standard error
  std::array<std::string, 2> texts_;
};

using Copies = std::vector<std::unique_ptr<Copy>>;

// All of them, in their order.
inline std::vector<Ended> finish(const Copies& copies, int status) {
  std::vector<Ended> out;
  for (const auto& copy : copies) {
    const Ended& one = out.emplace_back(copy->finish());
    INFO(one.out << one.err);
    CHECK(one.status == status);
  }
  return out;
}
inline Ended finish(Copy& copy, int status) {
  Ended ended = copy.finish();
  INFO(ended.out << ended.err);
  CHECK(ended.status == status);
  return ended;
}

inline bool holds(const std::string& all, const std::string& text) { return all.find(text) != std::string::npos; }
inline void check_says(const Ended& ended, const std::string& text) {
  INFO("said:\n" << ended.err << "not said:\n" << text);
  CHECK(holds(ended.err, text));
}
inline void check_does_not_say(const Ended& ended, const std::string& text) {
  INFO("said:\n" << ended.err << "and not to be said:\n" << text);
  CHECK_FALSE(holds(ended.err, text));
}

inline Words sorted_lines(const std::string& text) {
  std::istringstream in(text);
  Words lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

// One on which nobody listens, and that no outgoing connection gets by itself.
inline std::uint16_t free_port() {
  static auto next = static_cast<std::uint16_t>(20'000 + ::getpid() * 37 % 10'000);
  for (;;) {
    const std::uint16_t port = next++;
    const auto listener = dialin::listen_unless_taken(port);
    if (listener && *listener) return port;
    REQUIRE(next < 32'000);
  }
}

// So many connections of this machine's in the state (proc_pid_net(5): "01" established, "0A" listening), by what
// follows the colon of the local or the remote address.
inline int connections(std::uint16_t port, const std::string& state, std::size_t column) {
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), ":%04X", port);
  int count = 0;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream in(line);
      std::array<std::string, 4> fields;  // number, local, remote, state
      for (std::string& field : fields) in >> field;
      if (fields[column].ends_with(hex.data()) && fields[3] == state) ++count;
    }
  }
  return count;
}

// Hosts of one job, all of them here.
class Hosts {
 public:
  // Of the hosts, whose number is on every line.
  explicit Hosts(std::uint32_t count) : count_(count) {}

  std::uint16_t port() const { return port_; }
  std::string head() const { return "127.0.0.1:" + std::to_string(port_); }

  static Words environment(const Words& more = {}, const std::string& secret = kSecret) {
    const char* path = std::getenv("PATH");
    Words out = more + Words{"PATH=" + std::string(path == nullptr ? "/usr/bin:/bin" : path)};
    const auto add = [&](const std::string& name, const std::string& value) {
      const auto is_it = [&](const std::string& entry) { return entry.starts_with(name + "="); };
      if (std::none_of(out.begin(), out.end(), is_it)) out.push_back(name + "=" + value);
    };
    add("HOME", "/nonexistent");
    add("XDG_CONFIG_HOME", "/nonexistent");  // the developer may have a secret
    add("SAGEMAKER_BASE_DIR", "/nonexistent");
    if (!secret.empty()) add("SML_JOB_SECRET", secret);
    return out;
  }

  // The copy that is the host of that place, with more words behind those that say so.
  std::unique_ptr<Copy> start(std::uint32_t place, const Words& words,
                              const Words& environment = Hosts::environment()) {
    const Words own{kProgram, "--nnodes", std::to_string(count_), "--node-rank", std::to_string(place),
                    "--head", head()};
    return std::make_unique<Copy>(own + words, environment);
  }
  Copies start_all(const Words& words) {
    Copies out;
    for (std::uint32_t place = 0; place < count_; ++place) out.push_back(start(place, words));
    return out;
  }

  void until_head_listens() const {
    REQUIRE(fake::eventually([this] { return connections(port_, "0A", 1) > 0; }));
  }
  // So many hosts have a connection to the head.
  void until_called(int hosts) const {
    REQUIRE(fake::eventually([&] { return connections(port_, "01", 1) == hosts; }));
  }

 private:
  std::uint32_t count_;
  std::uint16_t port_ = free_port();
};

// It handles the signals that stop it, as it does from when it waits in its loop.
inline void until_heeds_stops(const Copy& copy) {
  const auto heeds = [&] {
    std::ifstream status("/proc/" + std::to_string(copy.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
    }
    return false;
  };
  REQUIRE(fake::eventually(heeds));
}

// In seconds: long enough for another host to call, also on a slow machine.
inline std::string time_to_call() { return std::to_string(std::lround(3 * fake::machine_factor())); }

// ---- torchrun, which tells no host which one it is

// The program under that name.
class Torchrun {
 public:
  explicit Torchrun(const std::string& nnodes) : nnodes_(nnodes) {
    REQUIRE(::symlink(kProgram.c_str(), (folder_ / "torchrun").c_str()) == 0);
  }
  std::uint16_t port() const { return hosts_.port(); }
  const std::string& nnodes() const { return nnodes_; }
  const Hosts& hosts() const { return hosts_; }
  const fake::ScratchFolder& folder() const { return folder_; }

  // Who comes first is the head: the same line for all, with `options` and what to run, which is no script.
  std::unique_ptr<Copy> start(const Words& options, const Words& command,
                              const Words& environment = Hosts::environment()) const {
    const Words own{folder_ / "torchrun", "--nnodes=" + nnodes_, "--nproc-per-node=2", "--rdzv-backend=c10d",
                    "--rdzv-endpoint=localhost:" + std::to_string(port())};
    return std::make_unique<Copy>(own + options + Words{"--no-python"} + command, environment);
  }
  // The same, and is the head before another is started.
  std::unique_ptr<Copy> start_head(const Words& options, const Words& command,
                                   const Words& environment = Hosts::environment()) const {
    auto head = start(options, command, environment);
    hosts_.until_head_listens();
    return head;
  }

 private:
  std::string nnodes_;
  fake::ScratchFolder folder_;
  Hosts hosts_{0};
};

}  // namespace sml::copies
