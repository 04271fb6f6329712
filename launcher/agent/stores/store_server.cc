#include "launcher/agent/stores/store_server.h"

#include <algorithm>
#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/core/text.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr Duration kAcceptPause = std::chrono::milliseconds(100);  // if the system lacks a resource
constexpr int kReadsPerTurn = 4;                                   // then the other clients' turn

boost::asio::ip::tcp protocol_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4();
}

// True if, as far as is known here, the other end has neither closed nor reset the connection.
bool stands(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_ESTABLISHED;
}

std::string connections(std::uint64_t n, std::string_view what) {
  return std::to_string(n) + (n == 1 ? " connection " : " connections ") + std::string(what);
}

}  // namespace

StoreServer::StoreServer(boost::asio::io_context& loop, os::UniqueFd listener, Engine& engine,
                         ConnectionAuthorizer& authorization, Settings settings)
    : acceptor_(loop),
      pause_(loop),
      timer_(loop),
      engine_(engine),
      authorization_(authorization),
      settings_(std::move(settings)) {
  admit(settings_.hosts);
  const auto protocol = protocol_of(listener.get());
  acceptor_.assign(protocol, listener.release());
  accept();
}

void StoreServer::admit(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(host, error);
    if (!error) hosts_.insert(plain(address));
  }
}

// ---- connections

void StoreServer::accept() {
  auto peer = std::make_shared<Tcp::endpoint>();
  const auto handler = [this, peer](boost::system::error_code error, Tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (!error) {
      accepted(std::move(socket), *peer);
      return accept();
    }
    if (error != boost::asio::error::connection_aborted) refuse("somebody", error.message());
    pause_.expires_after(kAcceptPause);
    when_due(pause_, lifetime_.guard([this] { accept(); }));
  };
  acceptor_.async_accept(*peer, lifetime_.guard(handler));
}

void StoreServer::accepted(Tcp::socket socket, const Tcp::endpoint& peer) {
  const auto address = plain(peer.address());
  if (!address.is_loopback() && !hosts_.contains(address)) {
    return refuse(address.to_string(), "which is no host of this job");
  }
  boost::system::error_code error;
  const Tcp::endpoint here = socket.local_endpoint(error);
  if (error) return;  // the connection is gone
  if (connections_.size() >= settings_.most_clients && !make_room()) {
    return refuse(address.to_string(), "there are too many");
  }
  socket.non_blocking(true, error);
  socket.set_option(Tcp::no_delay(true), error);
  const ClientId id(next_id_++);
  unproved_[address.to_string()].insert(id);
  undecided_[address.to_string()].insert(id);
  connections_.emplace(id, std::make_unique<Connection>(std::move(socket), id, address.to_string()));
  authorization_.ask({{address, peer.port()}, {plain(here.address()), here.port()}},
                     lifetime_.guard([this, id](wire::PeerOwnership ours) { take_verdicts(id, ours); }));
}

void StoreServer::take_verdicts(ClientId id, wire::PeerOwnership ours) {
  Connection* connection = find(id);
  if (connection == nullptr) return;
  forget(undecided_, *connection);
  // Once a connection is gone, its owner cannot be determined; its bytes are then ignored.
  if (ours != wire::PeerOwnership::Yes && !stands(connection->socket.native_handle())) return drop(id);
  if (ours == wire::PeerOwnership::No) {
    refuse(connection->peer, "it is another user's than the job");
    return drop(id);
  }
  if (ours == wire::PeerOwnership::Unknown && tally_.unknown++ == 0) {
    settings_.report(settings_.name + " cannot find out whose connections from " + connection->peer +
                     " are, and serves all users there");
  }
  admit(*connection);
}

void StoreServer::admit(Connection& connection) {
  connection.admitted = true;
  engine_.opened(connection.id, Clock::now());
  read(connection.id);
}

bool StoreServer::make_room() {
  const ByAddress& from = undecided_.empty() ? unproved_ : undecided_;
  const auto most = std::max_element(from.begin(), from.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == from.end()) return false;
  if (tally_.gave_way++ == 0) {
    settings_.report(settings_.name + " closed a connection from " + most->first +
                     " that had sent nothing yet: there are too many");
  }
  drop(*most->second.begin());
  return true;
}

void StoreServer::note_proof(ClientId id) {
  Connection* connection = find(id);
  if (connection == nullptr || connection->proved || !engine_.proved(id)) return;
  connection->proved = true;
  forget(unproved_, *connection);
}

void StoreServer::forget(ByAddress& list, const Connection& connection) {
  const auto of_address = list.find(connection.peer);
  if (of_address == list.end()) return;
  of_address->second.erase(connection.id);
  if (of_address->second.empty()) list.erase(of_address);
}

StoreServer::Connection* StoreServer::find(ClientId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

void StoreServer::drop(ClientId id) {
  const Connection* connection = find(id);
  if (connection == nullptr) return;
  forget(unproved_, *connection);
  forget(undecided_, *connection);
  if (const std::string fault = connection->admitted ? engine_.closed(id) : ""; !fault.empty()) {
    blame(connection->peer, fault);
  }
  connections_.erase(id);
}

// ---- bytes

void StoreServer::await_bytes(Connection& connection) {
  if (connection.reading || !engine_.takes_input(connection.id)) return;
  connection.reading = true;
  const auto handler = [this, id = connection.id](boost::system::error_code error) {
    Connection* waiting = find(id);
    if (waiting == nullptr) return;
    waiting->reading = false;
    if (!error) read(id);
  };
  connection.socket.async_wait(Tcp::socket::wait_read, lifetime_.guard(handler));
}

void StoreServer::read(ClientId id) {
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    Connection* connection = find(id);
    if (connection == nullptr || !engine_.takes_input(id)) return;
    const ssize_t n = ::recv(connection->socket.native_handle(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0) {
      drop(id);
      return settle();
    }
    engine_.received(id, std::string_view(buffer_.data(), static_cast<std::size_t>(n)), Clock::now());
    note_proof(id);
    settle();
    if (static_cast<std::size_t>(n) < buffer_.size()) break;
  }
  if (Connection* connection = find(id)) await_bytes(*connection);
}

void StoreServer::write(Connection& connection) {
  while (!connection.pending.empty() && !connection.writing) {
    const std::string_view left = std::string_view(connection.pending).substr(connection.taken);
    const ssize_t n = ::send(connection.socket.native_handle(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return drop(connection.id);
    if (n < 0) return await_room(connection);
    connection.taken += static_cast<std::size_t>(n);
    if (connection.taken * 2 > connection.pending.size()) {  // so that each byte is moved at most once
      connection.pending.erase(0, std::exchange(connection.taken, 0));
      if (connection.pending.empty() && connection.pending.capacity() > buffer_.size()) connection.pending = {};
    }
    engine_.sent(connection.id, static_cast<std::size_t>(n), Clock::now());
  }
  if (connection.pending.empty() && connection.closing) return drop(connection.id);
  await_bytes(connection);
}

void StoreServer::await_room(Connection& connection) {
  connection.writing = true;
  const auto handler = [this, id = connection.id](boost::system::error_code) {
    Connection* waiting = find(id);
    if (waiting == nullptr) return;
    waiting->writing = false;
    write(*waiting);
    settle();
  };
  connection.socket.async_wait(Tcp::socket::wait_write, lifetime_.guard(handler));
}

void StoreServer::apply(const Effect& effect) {
  Connection* connection = find(effect.client);
  if (connection == nullptr) return;
  if (effect.then == Effect::Then::Fault) {
    blame(connection->peer, effect.fault);
    return drop(effect.client);
  }
  if (!effect.fault.empty()) blame(connection->peer, effect.fault);
  connection->pending += effect.bytes;
  connection->closing = effect.then == Effect::Then::Close;
  write(*connection);
}

void StoreServer::settle() {
  for (auto effects = engine_.take_effects(); !effects.empty(); effects = engine_.take_effects()) {
    for (const Effect& effect : effects) apply(effect);
  }
  arm_timer();
}

// ---- refused and closed connections

void StoreServer::refuse(const std::string& peer, const std::string& why) {
  if (tally_.refused++ > 0) return;
  settings_.report(settings_.name + " refused a connection from " + peer + ": " + why);
}

void StoreServer::blame(const std::string& peer, const std::string& fault) {
  if (tally_.broken++ > 0) return;
  settings_.report(settings_.name + " closed a connection from " + peer + ": " + show(fault));
}

std::string StoreServer::summary() const {
  std::string out;
  if (tally_.refused > 1) out += connections(tally_.refused, "refused");
  if (tally_.gave_way > 1) out += (out.empty() ? "" : ", ") + connections(tally_.gave_way, "gave way");
  if (tally_.broken > 1) out += (out.empty() ? "" : ", ") + connections(tally_.broken, "closed for what they sent");
  return out.empty() ? out : settings_.name + ": " + out;
}

// ---- time

void StoreServer::arm_timer() {
  const std::optional<TimePoint> due = suspended_ ? std::nullopt : engine_.deadline();
  if (!due || armed_for_ == due) return;
  armed_for_ = due;
  timer_.expires_at(*due);
  when_due(timer_, lifetime_.guard([this] {
    armed_for_.reset();
    if (!suspended_) engine_.pass(Clock::now());
    settle();
  }));
}

void StoreServer::suspend() { suspended_ = true; }

void StoreServer::resume() {
  suspended_ = false;
  engine_.restart_clocks(Clock::now());
  settle();
}

}  // namespace sml::agent
