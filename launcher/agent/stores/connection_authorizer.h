// Decides whether a process that connects to a store belongs to the job: asks this host's kernel, or the agent on the
// host of that process.
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

#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/core/local_callers.h"
#include "launcher/agent/os/socket_owner.h"

namespace sml::agent {

// One thread. Sends all questions of one turn of the loop in one message.
class ConnectionAuthorizer {
 public:
  using Answer = LocalCallers::Answer;
  using Send = std::function<void(wire::AskPeerOwnership)>;

  using OwnAddresses = std::function<std::vector<std::string>()>;

  // `own` returns the numeric addresses of this host; called once, at the first connection. `local` and whatever `send`
  // uses must outlive this object. Each attempt has its own range of question numbers, so that a late answer to an
  // earlier attempt's question is ignored.
  ConnectionAuthorizer(boost::asio::io_context& loop, LocalCallers& local, OwnAddresses own, std::uint32_t attempt,
                       Send send);
  ConnectionAuthorizer(const ConnectionAuthorizer&) = delete;
  ConnectionAuthorizer& operator=(const ConnectionAuthorizer&) = delete;

  // `ends` are the addresses as the caller sees them. Calls `answer` now or later, or never if the launcher does not
  // reply.
  void ask(const os::TcpEnds& ends, Answer answer);
  void take_verdicts(const wire::PeerVerdicts& m);

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

// Converts ::ffff:a.b.c.d to the IPv4 address a.b.c.d; returns other addresses unchanged.
boost::asio::ip::address plain(const boost::asio::ip::address& address);

// The two ends of a caller's connection; nullopt if its addresses are invalid.
std::optional<os::TcpEnds> ends_of(const wire::Caller& caller);

}  // namespace sml::agent
