#include "launcher/control/control_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/fd.h"
#include "common/os/random.h"
#include "launcher/control/runtime_folder.h"
#include "launcher/os/acceptor.h"
#include "launcher/report/live/output_tail.h"

namespace sml::control {

namespace {

constexpr std::size_t kMostVisits = 64;
constexpr std::size_t kMostPending = std::size_t{1} << 20;  // bytes of output buffered for a client that follows
constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr int kBacklog = 64;
constexpr int kTries = 3;
constexpr int kLastBytesMs = 200;

// The socket appears under its name only when it accepts connections, so a client whose connection is refused knows
// that its owner is gone.
Result<os::UniqueFd> listen_at(const Folder& folder, const std::string& name) {
  os::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return sys_error(ErrorKind::Io, "cannot make a socket", errno);
  const std::string early = "." + os::random_hex(8);  // all clients see the name under which it was bound
  const std::string path = path_through(folder.fd.get(), early);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Error(ErrorKind::Io, "the socket's name is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = listener.get();
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd, kBacklog) != 0 ||
      ::renameat(folder.fd.get(), early.c_str(), folder.fd.get(), name.c_str()) != 0) {
    return sys_error(ErrorKind::Io, "cannot listen in " + folder.path, errno);
  }
  return listener;
}

std::optional<ucred> peer_of(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return std::nullopt;
  return peer;
}

bool is_served(uid_t user) { return user == 0 || user == ::geteuid(); }

Answer in_one_piece(const Result<std::string>& reply) {
  return reply ? Answer(Text{*reply}) : Answer(Refused{reply.error().message()});
}

}  // namespace

struct ControlSocket::State {
  State(const boost::asio::any_io_executor& on, Deps given) : loop(on), deps(std::move(given)) {}
  boost::asio::any_io_executor loop;
  Deps deps;
  std::optional<Folder> folder;
  std::string name;  // of the socket; empty: closed
  std::optional<os::Acceptor> acceptor;
  std::vector<std::shared_ptr<Visit>> visits;
  std::size_t followers = 0;
};

// A connected client.
struct ControlSocket::Visit {
  Visit(const std::shared_ptr<State>& of, int fd, const ucred& who) : state(of), socket(of->loop, fd), asker(who) {}
  std::weak_ptr<State> state;
  boost::asio::posix::stream_descriptor socket;
  ucred asker;
  std::string in;
  std::string out;
  bool has_asked = false;
  bool awaits_end = false;       // of the job
  bool follows = false;          // the ranks' output
  std::optional<RankSet> ranks;  // nullopt: all
  std::uint64_t skipped = 0;
  bool is_last = false;  // closes when `out` is sent
  bool waits = false;    // until the socket is writable
  bool gone = false;
};

ControlSocket::ControlSocket(boost::asio::any_io_executor loop, Deps deps)
    : state_(std::make_shared<State>(loop, std::move(deps))) {}

ControlSocket::~ControlSocket() { close(); }

Result<void> ControlSocket::open(std::string_view job_id) {
  const std::string name = socket_name(job_id);
  if (name.empty()) return Error(ErrorKind::Io, "the job's id cannot be the name of a socket");
  std::optional<Error> why;
  for (int i = 0; i < kTries; ++i) {  // another job that ends may remove the empty folder
    Result<Folder> folder = make_runtime_folder();
    if (!folder) return folder.error();
    Result<os::UniqueFd> listener = listen_at(*folder, name);
    if (!listener) {
      why = listener.error();
      continue;
    }
    state_->folder = std::move(*folder);
    state_->name = name;
    const auto came = [weak = std::weak_ptr(state_)](os::UniqueFd fd) {
      if (const auto alive = weak.lock()) receive(alive, std::move(fd));
    };
    state_->acceptor.emplace(state_->loop, std::move(*listener), came);
    state_->acceptor->open();
    return {};
  }
  return *why;
}

void ControlSocket::close() {
  if (state_->name.empty()) return;
  const Folder& folder = *state_->folder;
  ::unlinkat(folder.fd.get(), state_->name.c_str(), 0);
  ::unlinkat(folder.above.get(), folder.name.c_str(), AT_REMOVEDIR);  // removed by the last job; other sockets keep it
  state_->name.clear();
  state_->acceptor.reset();
  for (const auto& visit : std::vector(state_->visits)) leave(visit);
}

// ---- incoming connections

void ControlSocket::receive(const std::shared_ptr<State>& state, os::UniqueFd fd) {
  const std::optional<ucred> peer = peer_of(fd.get());
  if (!peer || !is_served(peer->uid)) return;
  if (state->visits.size() >= kMostVisits) {
    const auto idle = std::find_if(state->visits.begin(), state->visits.end(),
                                   [](const std::shared_ptr<Visit>& visit) { return !visit->has_asked; });
    if (idle == state->visits.end()) return;
    leave(std::shared_ptr<Visit>(*idle));
  }
  auto visit = std::make_shared<Visit>(state, fd.release(), *peer);
  state->visits.push_back(visit);
  await_bytes(visit);
}

void ControlSocket::await_bytes(const std::shared_ptr<Visit>& visit) {
  visit->socket.async_wait(boost::asio::posix::stream_descriptor::wait_read, [visit](boost::system::error_code error) {
    if (!error && !visit->gone) read(visit);
  });
}

void ControlSocket::read(const std::shared_ptr<Visit>& visit) {
  char bytes[4096];
  const ssize_t size = ::recv(visit->socket.native_handle(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return leave(visit);
  if (visit->has_asked && size > 0) return leave(visit);  // there is only one request per connection
  if (size > 0) visit->in.append(bytes, static_cast<std::size_t>(size));
  if (!visit->has_asked) {
    const Result<std::optional<Request>> request = take_request(visit->in);
    if (!request) return finish(visit, Refused{request.error().message()});
    if (*request) answer(visit, **request);
  }
  if (!visit->gone) await_bytes(visit);
}

void ControlSocket::answer(const std::shared_ptr<Visit>& visit, const Request& request) {
  const auto state = visit->state.lock();
  if (!state) return;
  visit->has_asked = true;
  const auto later = [](const std::shared_ptr<Visit>& asker) {
    return [asker](const Result<std::string>& reply) {
      if (!asker->gone) finish(asker, in_one_piece(reply));
    };
  };
  const Deps& job = state->deps;
  switch (request.topic) {
    case Topic::Summary: return finish(visit, Summary{job.summary()});
    case Topic::Status: return job.status(request.form, later(visit));
    case Topic::Stop: visit->awaits_end = true; return job.stop(visit->asker);
    case Topic::Signal: return finish(visit, in_one_piece(job.signal(request)));
    case Topic::Stacks: return job.stacks(request.form, later(visit));
    case Topic::Logs: return begin_logs(visit, request);
  }
}

void ControlSocket::begin_logs(const std::shared_ptr<Visit>& visit, const Request& request) {
  const auto state = visit->state.lock();
  const std::uint32_t world = state->deps.ranks();
  if (!request.ranks.empty()) {
    const Result<RankSet> ranks = RankSet::parse(request.ranks, world - 1);
    if (!ranks) return finish(visit, Refused{"--ranks: " + ranks.error().message()});
    visit->ranks = *ranks;
  }
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    if (visit->ranks && !visit->ranks->contains(rank)) continue;
    for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
      const std::string_view kept = state->deps.tail(Rank(rank), stream);
      const std::string_view bytes = request.lines > 0 ? report::last_lines(kept, request.lines) : kept;
      if (bytes.empty()) continue;
      visit->out += output_head(Rank(rank), stream, bytes.size());
      visit->out += bytes;
    }
  }
  if (request.follow == Lasts::No) return finish(visit, Done{});
  visit->follows = visit->awaits_end = true;
  ++state->followers;
  push(visit);
}

// ---- answers

void ControlSocket::output(Rank rank, Stream stream, std::string_view bytes) {
  if (state_->followers == 0) return;
  for (const auto& visit : std::vector(state_->visits)) {
    if (!visit->follows || (visit->ranks && !visit->ranks->contains(rank.value()))) continue;
    if (visit->out.size() + bytes.size() > kMostPending) {
      visit->skipped += bytes.size();
      continue;
    }
    if (visit->skipped > 0) visit->out += encode(Answer(Skipped{std::exchange(visit->skipped, 0)}));
    visit->out += output_head(rank, stream, bytes.size());
    visit->out += bytes;
    push(visit);
  }
}

void ControlSocket::send_end(int exit_code, const std::string& verdict) {
  const TimePoint limit = Clock::now() + std::chrono::milliseconds(kLastBytesMs);
  for (const auto& visit : std::vector(state_->visits)) {
    if (!visit->awaits_end) continue;
    if (visit->skipped > 0) visit->out += encode(Answer(Skipped{std::exchange(visit->skipped, 0)}));
    visit->waits = false;
    finish(visit, Ended{static_cast<std::uint8_t>(exit_code), verdict});
    while (!visit->gone && Clock::now() < limit) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
      pollfd ready{visit->socket.native_handle(), POLLOUT, 0};
      if (::poll(&ready, 1, static_cast<int>(left)) <= 0) break;
      visit->waits = false;
      push(visit);
    }
  }
}

void ControlSocket::finish(const std::shared_ptr<Visit>& visit, const Answer& last) {
  visit->has_asked = true;
  visit->is_last = true;
  visit->out += encode(last);
  push(visit);
}

void ControlSocket::push(const std::shared_ptr<Visit>& visit) {
  if (visit->gone || visit->waits) return;
  std::size_t sent = 0;
  while (sent < visit->out.size()) {
    const std::size_t size = std::min(visit->out.size() - sent, kChunk);
    const ssize_t n =
        ::send(visit->socket.native_handle(), visit->out.data() + sent, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return leave(visit);
    sent += static_cast<std::size_t>(n);
  }
  visit->out.erase(0, sent);
  if (visit->out.empty()) return visit->is_last ? leave(visit) : void();
  visit->waits = true;
  visit->socket.async_wait(boost::asio::posix::stream_descriptor::wait_write, [visit](boost::system::error_code error) {
    if (error || visit->gone) return;
    visit->waits = false;
    push(visit);
  });
}

void ControlSocket::leave(const std::shared_ptr<Visit>& visit) {
  if (std::exchange(visit->gone, true)) return;
  boost::system::error_code ignored;
  visit->socket.close(ignored);
  const auto state = visit->state.lock();
  if (!state) return;
  if (visit->follows) --state->followers;
  std::erase(state->visits, visit);
}

}  // namespace sml::control
