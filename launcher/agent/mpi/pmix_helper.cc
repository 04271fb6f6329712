#include "launcher/agent/mpi/pmix_helper.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/nameless_file.h"
#include "common/os/spawn.h"
#include "launcher/agent/core/waits.h"
#include "launcher/agent/mpi/pmix_image.h"

namespace sml::agent {

using pmix::FromHelper;
using pmix::ToHelper;

namespace {

constexpr std::size_t kHelperRead = std::size_t{64} << 10;

Error gone() { return {ErrorKind::Lost, "has ended"}; }

}  // namespace

void PmixHelper::end() {
  close();
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool PmixHelper::ended(pid_t pid) {
  if (pid_ < 0 || pid != pid_) return false;
  pid_ = -1;
  return true;
}

Result<void> PmixHelper::start(std::span<const std::string> environment) {
  Result<os::UniqueFd> program = os::nameless_file("sml-run-pmix", pmix_helper_image(), os::FileUse::Execute);
  if (!program) return program.error();
  Result<std::array<os::UniqueFd, 2>> ends = os::make_socketpair();
  if (!ends) return ends.error();
  Result<pid_t> started = os::spawn_helper({.argv = {"sml-run-pmix"},
                                            .program_fd = program->get(),
                                            .stdin_fd = (*ends)[1].get(),
                                            .stdout_fd = STDERR_FILENO,
                                            .stderr_fd = STDERR_FILENO,
                                            .environment = environment,
                                            .environment_as_it_is = true});
  if (!started) return started.error();
  pid_ = *started;
  first_ = std::move((*ends)[0]);
  os::set_nonblocking(first_.get());
  return {};
}

// ---- blocking requests

Result<void> PmixHelper::read_some(TimePoint end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd ready{first_.get(), POLLIN, 0};
  const int got = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
  if (got < 0 && errno == EINTR) return {};
  if (got <= 0) return Error(ErrorKind::Timeout, "does not answer");
  std::string bytes(kHelperRead, '\0');
  const ssize_t n = ::read(first_.get(), bytes.data(), bytes.size());
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return gone();
  if (n > 0) decoder_.feed(std::string_view(bytes).substr(0, static_cast<std::size_t>(n)));
  return {};
}

Result<FromHelper> PmixHelper::ask(const ToHelper& question, Duration limit) {
  const TimePoint end = Clock::now() + limit;
  const std::string bytes = encode(question);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(first_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    pollfd ready{first_.get(), POLLOUT, 0};
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return gone();
    if (Clock::now() >= end) return Error(ErrorKind::Timeout, "takes nothing");
    ::poll(&ready, 1, 100);
  }
  for (;;) {
    Result<std::optional<FromHelper>> answer = decoder_.next();
    if (!answer) return answer.error();
    if (answer->has_value()) return std::move(**answer);
    if (Result<void> more = read_some(end); !more) return more.error();
  }
}

// ---- messages by the loop

void PmixHelper::listen(Hear handle, Fail fail) {
  hear_ = std::move(handle);
  fail_ = std::move(fail);
  socket_.assign(first_.release());
  await();
}

void PmixHelper::await() {
  when_readable(socket_, lifetime_.guard([this] { read(); }));
}

void PmixHelper::read() {
  std::array<char, kHelperRead> bytes;
  const ssize_t n = ::read(socket_.native_handle(), bytes.data(), bytes.size());
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return fail(gone());
  if (n > 0) decoder_.feed({bytes.data(), static_cast<std::size_t>(n)});
  while (socket_.is_open()) {
    const Result<std::optional<FromHelper>> message = decoder_.next();
    if (!message) return fail(message.error());
    if (!message->has_value()) return await();
    if (Result<void> handled = hear_(**message); !handled) return fail(handled.error());
  }
}

void PmixHelper::send(const ToHelper& message) {
  if (!socket_.is_open()) return;
  unsent_ += encode(message);
  if (!writing_) write();
}

// An error is left to the reader, which sees the end of the helper.
void PmixHelper::write() {
  writing_ = false;
  std::size_t sent = 0;
  while (sent < unsent_.size() && socket_.is_open()) {
    const ssize_t n = ::send(socket_.native_handle(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    sent += static_cast<std::size_t>(n);
  }
  const bool full = sent < unsent_.size() && errno == EAGAIN;
  unsent_.erase(0, full ? sent : unsent_.size());
  if (!full) return;
  writing_ = true;
  when_writable(socket_, lifetime_.guard([this] { write(); }));
}

void PmixHelper::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  first_.reset();
}

void PmixHelper::fail(const Error& why) {
  close();
  fail_(why);
}

}  // namespace sml::agent
