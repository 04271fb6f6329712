#include "launcher/transport/ssh/proxy_command.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/spawn.h"

namespace sml::ssh {
namespace {

constexpr std::size_t kKeptProxyErrors = 2048;
constexpr auto kBriefly = std::chrono::milliseconds(100);
constexpr auto kReapLimit = std::chrono::milliseconds(500);  // after SIGKILL; exceeded only in an uninterruptible wait
constexpr auto kPause = std::chrono::milliseconds(1);

}  // namespace

ProxyCommand::ProxyCommand(ProxyCommand&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(other.status_),
      errors_(std::move(other.errors_)),
      text_(std::move(other.text_)) {}

ProxyCommand& ProxyCommand::operator=(ProxyCommand&& other) noexcept {
  if (this == &other) return *this;
  stop();
  pid_ = std::exchange(other.pid_, -1);
  status_ = other.status_;
  errors_ = std::move(other.errors_);
  text_ = std::move(other.text_);
  return *this;
}

Result<ProxyCommand::Started> ProxyCommand::start(const std::vector<std::string>& argv) {
  auto sockets = os::make_socketpair();
  auto errors = os::make_pipe();
  if (!sockets) return sockets.error();
  if (!errors) return errors.error();
  const auto pid = os::spawn_helper({.argv = argv,
                                     .program_fd = -1,
                                     .stdin_fd = (*sockets)[1].get(),
                                     .stdout_fd = (*sockets)[1].get(),
                                     .stderr_fd = errors->write.get()});
  if (!pid && argv.front() == "ssh") {
    return Error(ErrorKind::Connect,
                 "ProxyJump needs the OpenSSH client, which cannot be started here: " + pid.error().message())
        .with_hint("install openssh-client");
  }
  if (!pid) return Error(ErrorKind::Connect, "cannot start the ProxyCommand: " + pid.error().message());
  Started started;
  started.process.pid_ = *pid;
  started.process.errors_ = std::move(errors->read);
  started.socket = std::move((*sockets)[0]);
  os::set_nonblocking(started.process.errors_.get());
  os::set_nonblocking(started.socket.get());
  return started;
}

void ProxyCommand::take_errors() {
  std::array<char, 4096> piece{};
  while (errors_) {
    const auto n = ::read(errors_.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    if (n == 0) return errors_.reset();
    text_.append(piece.data(), static_cast<std::size_t>(n));
    if (text_.size() > kKeptProxyErrors) text_.erase(0, text_.size() - kKeptProxyErrors);
  }
}

std::string ProxyCommand::errors() {
  take_errors();
  return text_;
}

bool ProxyCommand::reap(int flags) {
  int status = 0;
  const pid_t done = ::waitpid(pid_, &status, flags);
  if (done == 0 || (done < 0 && errno == EINTR)) return false;
  if (done == pid_) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return true;
}

std::optional<int> ProxyCommand::wait_briefly() {
  for (const TimePoint end = Clock::now() + kBriefly; pid_ > 0 && !reap(WNOHANG) && Clock::now() < end;) {
    std::this_thread::sleep_for(kPause);
  }
  return status_;
}

void ProxyCommand::stop() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // the leader of its group is not reaped yet, so the group's id is not reused
  for (const TimePoint end = Clock::now() + kReapLimit; !reap(WNOHANG) && Clock::now() < end;) {
    std::this_thread::sleep_for(kPause);
  }
  pid_ = -1;
}

}  // namespace sml::ssh
