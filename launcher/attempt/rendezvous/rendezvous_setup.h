// The rendezvous of one attempt's workers: which address and ports they receive, which agent serves the stores for
// which hosts, and which ranks have not joined.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/rendezvous/join_count.h"
#include "launcher/attempt/rendezvous/join_watch.h"
#include "launcher/fleet/address_search.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class RendezvousSetup {
 public:
  struct Handlers {
    std::function<void(const std::string&)> print;  // prints which ranks have not joined
    std::function<void()> missing;                  // such a sentence has named missing ranks
    std::function<void()> counted;                  // the count of count_joined() is complete
    std::function<void()> met;                      // all ranks have joined torch's store; only with --trace
  };

  // The arguments outlive this; the fleet has its hosts already.
  RendezvousSetup(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet, const plan::LaunchPlan& plan,
                  const JobOptions& options, Handlers handlers);

  void introduced(const fleet::Host& host) { search_.ask(host); }
  void prepared(const fleet::Host& host, const wire::Prepared& message);
  void note(const fleet::Host& host, const wire::Probed& m) { search_.note(host, m); }
  bool has_answered(const fleet::Host& host) const { return search_.has_answered(host); }

  // Call when all hosts are ready: asks those that have not been asked to try the addresses of the first. Returns true
  // if there are no other hosts.
  [[nodiscard]] bool ask();
  enum class Search : std::uint8_t { GoesOn, Found, Failed };
  // The state of the search for an address; fills `faults` if it has failed.
  [[nodiscard]] Search look(std::vector<fleet::ProbeFault>& faults);
  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }

  // Starts the workers on every host; the first serves the stores.
  void start_workers(transport::Afterwards afterwards);
  // Starts the workers on a host that came later and serves no stores; `variables` override those of its plan.
  void start_workers(fleet::Host& host, std::vector<wire::RankVariables> variables,
                     transport::Afterwards afterwards) const;
  // Call when the workers are being ended: stops watching who joins.
  void leave() { watching_ = false; }
  // Call when the workers are being ended, or have ended: asks, once, how many had joined. Does nothing unless another
  // attempt may follow and workers have been started.
  void count_joined();
  bool has_counted() const { return !counts_joined_ || (counting_ && joined_.complete()); }
  bool all_joined() const { return counting_ && joined_.all_of(plan_.map.members()); }
  bool some_joined() const { return counting_ && joined_.any(); }
  // A host's session has ended.
  void lost(const fleet::Host& host) { joined_.gone(host.index); }
  // Releases the stores on rank 0's host, and what its ranks have published, once every other host is done. Call after
  // news of a host.
  void release_stores();
  // Whether they are released, so that no other host may come any more.
  bool has_released() const { return released_; }
  // Other hosts may come for spawned ranks: keeps the stores until rank 0's host is done, too.
  void expect_others() { expects_others_ = true; }

  void handle(const fleet::Host& host, const wire::Joined& m);
  void handle(const fleet::Host& host, const wire::AskPeerOwnership& m);
  void handle(const fleet::Host& host, const wire::PeerVerdictsOfHost& m);

 private:
  // For whom the first host is asked who has joined. It answers in order.
  enum class Asker : std::uint8_t { Watch, Trace };

  plan::Rendezvous rendezvous() const;
  std::string address_of_lone_host() const;
  std::vector<std::string> all_addresses() const;
  std::vector<std::string> host_addresses() const;
  std::vector<wire::RankVariables> preset_variables(const fleet::Host& host, const plan::PresetFacts& facts) const;
  void watch();
  void arm();
  void ask_first(Asker asker);
  void trace_joins();
  void ask_everybody();
  bool warn(const std::string& sentence) const;

  fleet::Fleet& fleet_;
  const plan::LaunchPlan& plan_;
  const JobOptions& options_;
  Handlers handlers_;
  fleet::AddressSearch search_;
  JoinWatch join_watch_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer trace_timer_;
  TimePoint started_{};
  std::deque<Asker> asked_;  // the questions to the first host, oldest first
  bool watching_ = false;
  bool expects_others_ = false;
  bool released_ = false;
  bool counts_joined_ = false;  // whether to count when the workers end
  bool counting_ = false;
  JoinCount joined_;
  std::string address_;
  std::uint16_t port_ = 0;
  std::uint16_t horovod_port_ = 0;
  std::vector<plan::PresetPort> preset_ports_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
