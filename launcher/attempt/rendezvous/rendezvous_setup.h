// The rendezvous of one attempt's workers: finds the address and ports that they receive, starts them with these,
// reports which ranks have not joined, and passes the stores' questions about connections to the agents that can answer
// them. The agent of the first host, that of rank 0, serves the stores.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_control.h"
#include "launcher/attempt/rendezvous/join_count.h"
#include "launcher/attempt/rendezvous/join_watch.h"
#include "launcher/fleet/address_search.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class RendezvousSetup {
 public:
  // The arguments outlive this; the fleet has its hosts already. Calls AttemptControl::look_for_end() when the count of
  // count_joined() is complete.
  RendezvousSetup(const AttemptContext& context, const plan::LaunchPlan& plan, AttemptControl& control);

  // The next functions take the steps and replies of hosts on the way to the start.
  void introduced(const fleet::Host& host) { search_.ask(host); }
  void prepared(const fleet::Host& host, const wire::Prepared& message);
  void note(const fleet::Host& host, const wire::Probed& m) { search_.note(host, m); }
  bool has_answered(const fleet::Host& host) const { return search_.has_answered(host); }

  // Call when all hosts are ready: asks those that have not been asked to try the addresses of the first host. Returns
  // true if there are no other hosts: then address() is set already.
  [[nodiscard]] bool ask();
  enum class Search : std::uint8_t { Pending, Found, Failed };
  // Call after each reply: returns the state of the search for an address that all hosts reach. Found: address() is
  // set. Failed: `faults` has the reasons.
  [[nodiscard]] Search look(std::vector<fleet::ProbeFault>& faults);
  // Where workers find torch's store. Empty and 0 until they are known.
  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }

  // Starts the workers on every host; the first serves the stores.
  void start_workers(transport::Afterwards afterwards);
  // Starts the workers on a host that came later and serves no stores; `variables` override those of its plan.
  void start_workers(fleet::Host& host, std::vector<wire::RankVariables> variables,
                     transport::Afterwards afterwards) const;
  // Call when the workers are being ended: stops watching who joins.
  void leave() { watching_ = false; }
  // Call when the workers are being ended, or have ended: asks the agents, once, how many workers had joined. Does
  // nothing unless another attempt may follow and workers have been started.
  void count_joined();
  // Whether the count is complete, or none is needed.
  bool has_counted() const { return !counts_joined_ || (counting_ && joined_.complete()); }
  bool all_joined() const { return counting_ && joined_.all_of(plan_.map.members()); }
  bool some_joined() const { return counting_ && joined_.any(); }
  // A host's session has ended.
  void lost(const fleet::Host& host) { joined_.gone(host.id); }
  // Call after news of a host: releases the agent of rank 0's host, with its stores and what its ranks have published,
  // once the sessions of all other hosts have ended. Until then this does nothing.
  void release_stores();
  // Whether the stores are released, so that no other host may come any more.
  bool has_released() const { return released_; }
  // Other hosts may come for spawned ranks: keeps the stores until rank 0's host is done, too.
  void expect_others() { expects_others_ = true; }

  void handle(const fleet::Host& host, const wire::Joined& m);
  void handle(const fleet::Host& host, const wire::AskPeerOwnership& m);
  void handle(const fleet::Host& host, const wire::PeerVerdictsOfHost& m);

 private:
  // Why the first host has been asked how many ranks have joined. It replies in the order of the questions.
  enum class Asker : std::uint8_t { Watch, Trace };

  plan::Rendezvous rendezvous() const;
  std::string address_of_lone_host() const;
  std::vector<std::string> all_addresses() const;
  std::vector<std::string> host_addresses() const;
  void watch();
  void arm();
  void ask_first(Asker asker);
  void trace_joins();
  void ask_everybody();
  bool warn(const std::string& sentence) const;  // returns whether it was printed

  const AttemptContext& context_;
  const plan::LaunchPlan& plan_;
  AttemptControl& control_;
  fleet::AddressSearch search_;
  JoinWatch join_watch_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer trace_timer_;
  TimePoint started_{};
  std::deque<Asker> asked_;      // the questions to the first host, oldest first
  bool watching_ = false;        // the workers run, and who joins matters
  bool expects_others_ = false;  // see expect_others()
  bool released_ = false;
  bool counts_joined_ = false;  // whether to count when the workers end
  bool counting_ = false;       // count_joined() has asked
  JoinCount joined_;
  std::string address_;
  std::uint16_t port_ = 0;
  std::uint16_t horovod_port_ = 0;
  std::vector<plan::PresetPort> preset_ports_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
