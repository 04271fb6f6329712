// The sockets of an Engine: accepts connections that the connection authorizer allows, and with a warning those whose
// owner it cannot find out; transfers bytes between them and the engine, and closes connections that violate the
// protocol. Without connections it uses no processor time.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/os/fd.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/stores/connection_authorizer.h"
#include "launcher/agent/stores/engine.h"

namespace sml::agent {

// One thread: that of the loop. If there are too many connections, a new one takes the place of another: of one whose
// owner is not known yet, or, if there is none, of one that has not sent a valid request yet (Engine::proved()). The
// oldest such connection of the address that has most of them is closed; if there is none either, the new one is
// refused. A failure of one connection affects no other; the first of each kind is reported, the rest are counted.
class StoreServer {
 public:
  struct Settings {
    std::string name;                // "torch's store", for messages
    std::vector<std::string> hosts;  // numeric addresses from which clients may connect; loopback always may
    std::size_t most_clients = 0;    // concurrent connections
    std::function<void(const std::string&)> report;  // receives a sentence for the user
  };

  // Takes ownership of a listening socket. `engine` and `authorization` must outlive the server.
  StoreServer(boost::asio::io_context& loop, os::UniqueFd listener, Engine& engine, ConnectionAuthorizer& authorization,
              Settings settings);
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // Lets clients from these numeric addresses connect, too.
  void admit(const std::vector<std::string>& hosts);
  // Call after something other than a client has changed the engine: applies the engine's effects.
  void look() { settle(); }
  // Between suspend() and resume() the workers are stopped, so no client is dropped for its silence.
  void suspend();
  void resume();
  // A sentence with the counts of what happened more often than the one time that was reported; empty if there is none.
  std::string summary() const;

 private:
  using Tcp = boost::asio::ip::tcp;
  using ByAddress = std::unordered_map<std::string, std::set<ClientId>>;  // ids grow with time
  struct Connection {
    Connection(Tcp::socket&& s, ClientId i, std::string p) : socket(std::move(s)), id(i), peer(std::move(p)) {}
    Tcp::socket socket;
    ClientId id;
    std::string peer;     // address
    std::string pending;  // replies, of which `taken` bytes have been sent
    std::size_t taken = 0;
    bool admitted = false;  // it is authorized, and the engine knows it
    bool proved = false;    // Engine::proved()
    bool reading = false;   // a handler waits for bytes
    bool writing = false;   // a handler waits for room to send
    bool closing = false;   // to be closed once all has been sent
  };
  struct Tally {
    std::uint64_t refused = 0;   // before any byte was read
    std::uint64_t broken = 0;    // violated the protocol
    std::uint64_t gave_way = 0;  // closed for a new connection
    std::uint64_t unknown = 0;   // served although their owner is unknown
  };

  void accept();
  void accepted(Tcp::socket socket, const Tcp::endpoint& peer);
  bool make_room();  // closes a connection; false: all have sent valid requests
  void take_verdicts(ClientId id, wire::PeerOwnership ours);
  void admit(Connection& connection);
  void note_proof(ClientId id);
  static void forget(ByAddress& list, const Connection& connection);
  void await_bytes(Connection& connection);
  void read(ClientId id);
  void write(Connection& connection);
  void await_room(Connection& connection);
  void apply(const Effect& effect);
  void settle();
  void drop(ClientId id);
  void refuse(const std::string& peer, const std::string& why);
  void blame(const std::string& peer, const std::string& fault);
  void arm_timer();
  Connection* find(ClientId id);

  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;  // before the next accept
  boost::asio::steady_timer timer_;  // of the engine
  Engine& engine_;
  ConnectionAuthorizer& authorization_;
  Settings settings_;
  std::set<boost::asio::ip::address> hosts_;
  std::unordered_map<ClientId, std::unique_ptr<Connection>> connections_;
  ByAddress unproved_;   // connections that have not sent a valid request yet
  ByAddress undecided_;  // connections whose owner is not known yet; also in unproved_
  std::uint32_t next_id_ = 0;
  Tally tally_;
  std::optional<TimePoint> armed_for_;  // nullopt: timer_ does not run
  bool suspended_ = false;
  std::array<char, std::size_t{64} << 10> buffer_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
