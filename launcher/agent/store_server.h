// The sockets of a rendezvous::Engine: accepts what the doorkeeper takes for the job's, carries bytes, closes who
// breaks the rules. Costs nothing while nobody calls.
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
#include "common/rendezvous/engine.h"
#include "launcher/agent/doorkeeper.h"
#include "launcher/agent/lifetime.h"

namespace sml::agent {

// One thread: that of the loop. When there are too many connections, the oldest gives way of the address that has most
// of those of which it is not known yet whose they are; where there are none, most of those that have not proved
// themselves. What goes wrong with a connection concerns nobody else; the first of each kind
// is reported, the others are counted.
class StoreServer {
 public:
  struct Settings {
    std::string name;                // "torch's store", for messages
    std::vector<std::string> hosts;  // numeric addresses that may call; loopback always may
    std::size_t most_clients = 0;    // at the same time
    std::function<void(const std::string&)> report;
  };

  // Takes a listening socket over. `engine` and `door` outlive the server.
  StoreServer(boost::asio::io_context& loop, os::UniqueFd listener, rendezvous::Engine& engine, Doorkeeper& door,
              Settings settings);
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // These hosts may call, too.
  void admit(const std::vector<std::string>& hosts);
  // The engine has been told something by others than its clients.
  void look() { settle(); }
  // The workers stand still, and their silence means nothing; until resume().
  void suspend();
  void resume();
  // What has been counted since it was reported; empty when there is nothing to say.
  std::string summary() const;

 private:
  using Tcp = boost::asio::ip::tcp;
  using ClientId = rendezvous::ClientId;
  using ByAddress = std::unordered_map<std::string, std::set<ClientId>>;  // ids rise with time
  struct Connection {
    Connection(Tcp::socket&& s, ClientId i, std::string p) : socket(std::move(s)), id(i), peer(std::move(p)) {}
    Tcp::socket socket;
    ClientId id;
    std::string peer;     // address
    std::string pending;  // answers, of which the system has taken
    std::size_t taken = 0;
    bool admitted = false;  // the engine knows it
    bool proved = false;
    bool reading = false;
    bool writing = false;
    bool closing = false;  // when all has been written
  };
  struct Tally {
    std::uint64_t refused = 0;  // before a word
    std::uint64_t broken = 0;   // the rules
    std::uint64_t gave_way = 0;
    std::uint64_t unknown = 0;  // whether they are the job's; served
  };

  void accept();
  void accepted(Tcp::socket socket, const Tcp::endpoint& peer);
  bool make_room();
  void ruled(ClientId id, wire::IsOurs ours);
  void admit(Connection& connection);
  void note_proof(ClientId id);
  static void forget(ByAddress& list, const Connection& connection);
  void await_bytes(Connection& connection);
  void read(ClientId id);
  void write(Connection& connection);
  void await_room(Connection& connection);
  void apply(const rendezvous::Effect& effect);
  void settle();
  void drop(ClientId id);
  void refuse(const std::string& peer, const std::string& why);
  void blame(const std::string& peer, const std::string& fault);
  void arm_timer();
  Connection* find(ClientId id);

  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;  // of accepting
  boost::asio::steady_timer timer_;  // of the engine
  rendezvous::Engine& engine_;
  Doorkeeper& door_;
  Settings settings_;
  std::set<boost::asio::ip::address> hosts_;
  std::unordered_map<ClientId, std::unique_ptr<Connection>> connections_;
  ByAddress unproved_;
  ByAddress unruled_;  // those of them that may be anybody's
  std::uint32_t next_id_ = 0;
  Tally tally_;
  std::optional<TimePoint> armed_for_;
  bool suspended_ = false;
  std::array<char, std::size_t{64} << 10> buffer_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
