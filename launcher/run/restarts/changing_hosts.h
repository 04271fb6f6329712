// Tracks the hosts that join and leave a job while it runs, and computes the hosts and ranks of the next attempt from
// that. Runs the discovery of hosts (HostDiscovery), and keeps its results (HostPool). Used on the loop's thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/options/restart_options.h"
#include "launcher/plan/growth.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/run/restarts/host_discovery.h"
#include "launcher/run/restarts/host_pool.h"
#include "launcher/run/watch/printer.h"

namespace sml::run {

class ChangingHosts {
 public:
  // How long the host list must be unchanged before an attempt ends because of hosts that are no longer listed, unless
  // the options set a time before a job grows, which then counts for both.
  static constexpr Duration kQuiet = std::chrono::seconds(10);

  // The hosts as the current attempt has them; see attempt::SpareHosts.
  class Hosts {
   public:
    virtual ~Hosts() = default;
    virtual HostPool::MayConnect may_come() const = 0;    // whether new hosts may be connected to now
    virtual std::vector<HostId> lost() const = 0;         // lost hosts without workers
    virtual void come(const plan::MappedHost& host) = 0;  // connects to the host, which then waits as a spare
    virtual bool is_ready(HostId id) const = 0;           // whether the host could get ranks now
    virtual void look_for_growth() = 0;                   // called after each list that the discovery has found
  };
  // Everything here must outlive this.
  struct Deps {
    const RestartOptions& options;
    Hosts& hosts;
    const report::EventFeed& events;
    Printer& printer;
    std::weak_ptr<dialin::Coordinator> head{};  // as in HostDiscovery
  };
  // `map` is that of the first plan.
  ChangingHosts(boost::asio::io_context& loop, const plan::JobMap& map, Deps deps);

  // Starts the discovery of hosts; does nothing if the host list does not change.
  void begin() { discovery_.begin(options_.discovery.interval); }
  void end() { discovery_.end(); }

  // Computes the map of the next attempt: that of plan::regroup() for `map` without the hosts `out`. Also leaves out
  // hosts that are no longer listed, if enough others are left; adds new hosts as spares, and gives ranks to those that
  // are ready, up to the maximum size of the job. Error: as from regroup().
  Result<plan::JobMap> next(plan::JobMap map, const std::vector<HostId>& out) const;
  // The same for workers that keep their state (hvd.elastic): those that stay keep their order and come first; waiting
  // hosts get ranks after them, to replace the hosts that are out and up to the maximum size of the job.
  Result<plan::JobMap> next_round(plan::JobMap round, const std::vector<HostId>& out) const;
  // True if the host list has been unchanged for as long as the options require before a job grows.
  bool is_quiet(TimePoint at) const {
    return at - pool_.changed() >= options_.discovery.grow_after.value_or(Duration::zero());
  }
  // True if more hosts may still join when there are too few for another attempt.
  bool may_mend() const { return options_.discovery.is_on() && options_.discovery.wait > Duration::zero(); }
  // Whether the host list names no host but these.
  bool lists_only(const std::vector<HostId>& hosts) const { return pool_.lists_only(hosts); }
  // The time to wait before next() is called again, if its result `next` is that there are too few hosts. Nullopt: do
  // not wait, as `next` has a value, or the time to wait for hosts is over. Prints a message when the wait begins.
  std::optional<Duration> wait_for(const Result<plan::JobMap>& next, TimePoint now);
  // Why the running attempt with the map `now` should end so that another one gets the map `next`, in words for the
  // user; empty: it should go on.
  std::string reason_to_regroup(const plan::JobMap& now, const plan::JobMap& next, TimePoint at) const;

 private:
  void listed(const Result<std::vector<plan::Host>>& hosts);
  void failed(const Error& why);
  void announce(const HostPool::News& news) const;
  // How a map follows another without some hosts: without() or round_without().
  using Rule = Result<plan::JobMap> (ChangingHosts::*)(plan::JobMap map, const std::vector<HostId>& hosts) const;
  Result<plan::JobMap> by(Rule rule, plan::JobMap map, const std::vector<HostId>& out) const;
  Result<plan::JobMap> without(plan::JobMap map, const std::vector<HostId>& hosts) const;
  Result<plan::JobMap> round_without(plan::JobMap round, const std::vector<HostId>& hosts) const;
  plan::JobMap grown(plan::JobMap map, const plan::MostSize& most) const;
  plan::MostSize most() const;
  bool is_enough(const plan::JobMap& map) const;
  void add_newcomers(plan::JobMap& map) const;

  Deps deps_;
  const RestartOptions& options_;
  std::uint32_t first_size_;  // the number of ranks of the first plan
  HostPool pool_;
  HostDiscovery discovery_;
  bool has_failed_ = false;            // the last discovery failed
  std::optional<TimePoint> wait_end_;  // set while the job waits for more hosts
};

}  // namespace sml::run
