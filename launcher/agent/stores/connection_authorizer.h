// Decides whether a process that connects to a store belongs to the job: asks LocalConnectionCheck if the process is on
// this host, else, through the launcher, the agent on the host of that process.
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
#include "launcher/agent/core/local_connection_check.h"
#include "launcher/agent/os/socket_owner.h"

namespace sml::agent {

// One thread: that of the loop. Collects the questions of one turn of the loop, and sends up to wire::kMaxCallers of
// them to the launcher in one message; the launcher passes them to the agents of the hosts concerned.
class ConnectionAuthorizer {
 public:
  using Answer = LocalConnectionCheck::Answer;
  using Send = std::function<void(wire::AskPeerOwnership)>;

  using OwnAddresses = std::function<std::vector<std::string>()>;

  // `own` returns the numeric addresses of this host; called at most once, for the first caller that is not on
  // loopback. `attempt` counts from 1. `local` and whatever `send` uses must outlive this object. Each attempt has its
  // own range of question numbers, so that a late answer to an earlier attempt's question is ignored.
  ConnectionAuthorizer(boost::asio::io_context& loop, LocalConnectionCheck& local, OwnAddresses own,
                       std::uint32_t attempt, Send send);
  ConnectionAuthorizer(const ConnectionAuthorizer&) = delete;
  ConnectionAuthorizer& operator=(const ConnectionAuthorizer&) = delete;

  // Asks whether a connection to a store belongs to the job: Yes, No, or Unknown if no kernel knows. `ends` are the
  // addresses of the connection as the connecting process has them: `local` is that process's. Calls `answer` before
  // this returns or later; never if the launcher does not reply. An answer about a process of this host may come even
  // after this object is destroyed, so `answer` must be safe to call then.
  void ask(const os::TcpEnds& ends, Answer answer);
  // The launcher's reply: calls the pending `answer` of each question in `m`; ignores unknown question numbers.
  void take_verdicts(const wire::PeerVerdicts& m);

 private:
  bool is_own(const boost::asio::ip::address& address);
  void flush();

  boost::asio::io_context& loop_;
  LocalConnectionCheck& local_;
  OwnAddresses own_;
  std::optional<std::set<boost::asio::ip::address>> own_addresses_;  // nullopt: not needed yet
  Send send_;
  std::uint32_t next_id_;
  std::vector<wire::Caller> gathered_;               // questions that are not sent yet
  std::unordered_map<std::uint32_t, Answer> asked_;  // by question number
  Lifetime lifetime_;
};

// Converts ::ffff:a.b.c.d to the IPv4 address a.b.c.d; returns other addresses unchanged.
boost::asio::ip::address plain(const boost::asio::ip::address& address);

// The two ends of a caller's connection, as for ask(); nullopt if they are not addresses, or of different families.
std::optional<os::TcpEnds> ends_of(const wire::Caller& caller);

}  // namespace sml::agent
