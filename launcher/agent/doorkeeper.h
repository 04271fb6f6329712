// Whether who calls a store is of the job: asked of this machine's kernel, or of the agent on the caller's host.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>

#include "common/os/socket_owner.h"
#include "common/wire/messages.h"
#include "launcher/agent/lifetime.h"
#include "launcher/agent/local_callers.h"

namespace sml::agent {

// One thread. What it is asked in one turn of the loop travels together.
class Doorkeeper {
 public:
  using Answer = LocalCallers::Answer;
  using Send = std::function<void(wire::AskVouch)>;

  using OwnAddresses = std::function<std::vector<std::string>()>;

  // `own`: numeric addresses of this machine, asked for once, when somebody calls. `local` and what `send` needs
  // outlive this. An answer that is late and belongs to another attempt's doorkeeper is none to this one: they number
  // their questions otherwise.
  Doorkeeper(boost::asio::io_context& loop, LocalCallers& local, OwnAddresses own, std::uint32_t attempt, Send send);
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  // `ends` as the caller sees them. Answers now or later; never, when the launcher does not answer.
  void ask(const os::TcpEnds& ends, Answer answer);
  void ruled(const wire::Ruled& m);

 private:
  bool is_own(const boost::asio::ip::address& address);
  void flush();

  boost::asio::io_context& loop_;
  LocalCallers& local_;
  OwnAddresses own_;
  std::optional<std::set<boost::asio::ip::address>> own_addresses_;
  Send send_;
  std::uint32_t next_id_;
  std::vector<wire::Caller> gathered_;
  std::unordered_map<std::uint32_t, Answer> asked_;
  Lifetime lifetime_;
};

// An IPv4 address that came as ::ffff:a.b.c.d as such.
boost::asio::ip::address plain(const boost::asio::ip::address& address);

// Of a Caller; nothing when its addresses are none.
std::optional<os::TcpEnds> ends_of(const wire::Caller& caller);

}  // namespace sml::agent
