#include "launcher/agent/diagnosis/rank_monitor_service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include <sys/socket.h>
#include <sys/un.h>

#include "common/core/pickle.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr std::size_t kMonitorRead = 8 << 10;
constexpr int kNoProgressExit = 123;  // the exit status of every rank that hangs

// The length of the first message, without the length field itself.
std::size_t message_length(std::string_view bytes) {
  std::size_t out = 0;
  for (const char c : bytes.substr(0, kLengthSize)) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

}  // namespace

RankMonitorService::RankMonitorService(const ServiceContext& context, const plan::RankMonitor& limits,
                                       std::span<const Rank> ranks)
    : context_(context), limits_(limits), timer_(context.system.loop) {
  for (const Rank rank : ranks) workers_.push_back(std::make_unique<Watched>(context.system.loop, rank, limits));
}

Result<void> RankMonitorService::check(wire::Prepared&) {
  for (const auto& worker : workers_) {
    if (Result<void> open = open_listener(*worker); !open) return Error(open.error()).in("--rank-monitor");
  }
  return {};
}

Result<void> RankMonitorService::open_listener(Watched& worker) {
  const std::string& folder = context_.system.scratch.path();
  if (folder.empty()) return Error(ErrorKind::Io, "no folder for the sockets can be made in $TMPDIR or /tmp");
  worker.path = folder + "/monitor-" + std::to_string(worker.rank.value());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (worker.path.size() >= sizeof address.sun_path) {
    return Error(ErrorKind::Io, worker.path + " is too long a name for a socket; set TMPDIR to a shorter one");
  }
  std::memcpy(address.sun_path, worker.path.data(), worker.path.size());
  os::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return sys_error(ErrorKind::Io, "cannot make the socket " + worker.path, errno);
  }
  worker.listener.assign(socket.release());
  accept(worker);
  return {};
}

plan::Environment RankMonitorService::variables(Rank rank) const {
  for (const auto& worker : workers_) {
    if (worker->rank == rank) return {"FT_RANK_MONITOR_IPC_SOCKET=" + worker->path};
  }
  return {};
}

void RankMonitorService::accept(Watched& worker) {
  when_readable(worker.listener, lifetime_.guard([this, &worker] {
    os::UniqueFd caller(::accept4(worker.listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool again = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (!caller && again) return accept(worker);
    if (!caller)
      return context_.warn("rank " + std::to_string(worker.rank.value()) + " cannot come to its rank monitor");
    worker.caller.assign(caller.release());
    await(worker);
  }));
}

void RankMonitorService::await(Watched& worker) {
  const auto wait = worker.answer.empty() ? when_readable : when_writable;
  const bool reads = worker.answer.empty();
  wait(worker.caller, lifetime_.guard([this, &worker, reads] { reads ? read(worker) : write(worker); }));
}

void RankMonitorService::read(Watched& worker) {
  std::array<char, kMonitorRead> buffer;
  const ssize_t n = ::read(worker.caller.native_handle(), buffer.data(), buffer.size());
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return hang_up(worker);
  if (n > 0) worker.received.append(buffer.data(), static_cast<std::size_t>(n));
  listen(worker);
}

void RankMonitorService::write(Watched& worker) {
  const ssize_t n = ::send(worker.caller.native_handle(), worker.answer.data() + worker.taken,
                           worker.answer.size() - worker.taken, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) return hang_up(worker);
  if (n > 0) worker.taken += static_cast<std::size_t>(n);
  if (worker.taken < worker.answer.size()) return await(worker);
  worker.answer.clear();
  worker.taken = 0;
  if (worker.after == Watched::After::HangUp) return hang_up(worker);
  listen(worker);
}

// Handles the first message if it has been received completely.
void RankMonitorService::listen(Watched& worker) {
  const std::string_view received = worker.received;
  if (received.size() < kLengthSize) return await(worker);
  const std::size_t length = message_length(received);
  if (length > Pickle::kMaxSize) {
    refuse(worker, "it is too long");
    return write(worker);
  }
  if (received.size() < kLengthSize + length) return await(worker);
  worker.answer = answer_to(worker, received.substr(kLengthSize, length));
  worker.received.erase(0, kLengthSize + length);
  arm();
  write(worker);
}

std::string RankMonitorService::answer_to(Watched& worker, std::string_view pickle) {
  Result<RankMessage> message = read_rank_message(pickle);
  if (!message) {
    refuse(worker, message.error().message());
    return std::move(worker.answer);
  }
  const TimePoint now = Clock::now();
  MonitorMachine& machine = worker.machine;
  if (std::holds_alternative<Begin>(*message)) {
    machine.begin(now);
    return ok_answer(limits_);
  }
  if (std::holds_alternative<Heartbeat>(*message)) machine.heartbeat(now);
  if (const auto* limits = std::get_if<NewLimits>(&*message)) machine.set(*limits);
  if (const auto* section = std::get_if<SectionChange>(&*message)) {
    if (Result<void> changed = machine.change(*section, now); !changed) return error_answer(changed.error().message());
  }
  return ok_answer();
}

// Closes the connection after an error answer, as the bytes after an invalid message cannot be parsed.
void RankMonitorService::refuse(Watched& worker, const std::string& why) {
  context_.warn("rank " + std::to_string(worker.rank.value()) +
                " has sent its rank monitor what is no message of NVRx (" + why + "): it is watched no more");
  worker.answer = error_answer("what was sent is no message of NVRx: " + why);
  worker.after = Watched::After::HangUp;
}

void RankMonitorService::hang_up(Watched& worker) {
  close(worker);
  accept(worker);
}

void RankMonitorService::close(Watched& worker) {
  boost::system::error_code ignored;
  worker.caller.close(ignored);
  worker.received.clear();
  worker.answer.clear();
  worker.taken = 0;
  worker.after = Watched::After::Listen;
  worker.machine.end();
}

void RankMonitorService::worker_ended(Rank rank, const ExitStatus&) {
  for (const auto& worker : workers_) {
    if (worker->rank != rank) continue;
    boost::system::error_code ignored;
    worker->listener.close(ignored);
    close(*worker);
  }
}

// The workers are being killed and send nothing more.
void RankMonitorService::end() {
  for (const auto& worker : workers_) worker_ended(worker->rank, ExitStatus());
  timer_.cancel();
}

void RankMonitorService::suspend() {
  for (const auto& worker : workers_) worker->machine.suspend(Clock::now());
  timer_.cancel();
}

void RankMonitorService::resume() {
  for (const auto& worker : workers_) worker->machine.resume(Clock::now());
  arm();
}

void RankMonitorService::arm() {
  std::optional<TimePoint> first;
  for (const auto& worker : workers_) {
    const std::optional<TimePoint> one = worker->machine.deadline();
    if (one && (!first || *one < *first)) first = one;
  }
  timer_.cancel();
  if (!first) return;
  timer_.expires_at(*first);
  when_due(timer_, lifetime_.guard([this] { look(); }));
}

// A worker that is blocked on a full pipe, because its output is not taken, is not at fault.
void RankMonitorService::look() {
  const TimePoint now = Clock::now();
  const bool flows = context_.owner.output_flows();
  for (const auto& worker : workers_) {
    const std::optional<TimePoint> due = worker->machine.deadline();
    if (!due || now < *due) continue;
    if (!flows) {
      worker->machine.forgive(now);
    } else if (const std::optional<std::string> missed = worker->machine.on_time(now)) {
      context_.owner.fail_rank(worker->rank, wire::FaultKind::Silent, kNoProgressExit, *missed);
    }
  }
  arm();
}

}  // namespace sml::agent
