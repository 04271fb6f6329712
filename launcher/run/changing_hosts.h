// The hosts of a job that come and go while it runs: who is asked for them, and what that means for the attempt that
// follows.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/growth.h"
#include "common/plan/job_map.h"
#include "launcher/options/restart_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/run/host_discovery.h"
#include "launcher/run/host_pool.h"

namespace sml::run {

class ChangingHosts {
 public:
  // How long the list has been the same before an attempt ends for hosts that it lists no more.
  static constexpr Duration kQuiet = std::chrono::seconds(10);

  struct Around {
    // Of the attempt that there is now, as Spares has them.
    std::function<HostPool::Reach()> may_come;
    std::function<std::vector<HostId>()> lost;
    std::function<void(const plan::MappedHost& host)> come;
    std::function<bool(HostId id)> is_ready;
    std::function<void(const std::string& text)> say;
    std::function<void(report::HostListChanged how)> changed;
    std::function<void()> look;                          // there has been an answer
    std::function<std::vector<plan::Host>()> callers{};  // that are here, where hosts call
  };
  // `options` outlive this. `map`: of the first plan.
  ChangingHosts(boost::asio::io_context& loop, const RestartOptions& options, const plan::JobMap& map, Around around);

  // From now on hosts may come; nothing where they do not change.
  void begin() { discovery_.begin(options_.discovery.interval); }
  void end() { discovery_.end(); }

  // The map that follows `map` without the hosts `out`, see regroup(): without those that are listed no more, too, if
  // it can do so; with those that have come, as spares, and with ranks for those that are ready as far as it may grow.
  Result<plan::JobMap> next(plan::JobMap map, const std::vector<HostId>& out) const;
  // The same for workers that keep what they have (hvd.elastic): those of `round` stay as they are, in front, and hosts
  // that wait get ranks behind them, to make up for those that are out, and as far as the job may grow.
  Result<plan::JobMap> next_round(plan::JobMap round, const std::vector<HostId>& out) const;
  // The list has been the same for as long as it has to be before a job grows.
  bool is_quiet(TimePoint at) const {
    return at - pool_.changed() >= options_.discovery.grow_after.value_or(Duration::zero());
  }
  // Hosts may come yet, where there are not enough of them for another attempt.
  bool may_mend() const { return options_.discovery.is_on() && options_.discovery.wait > Duration::zero(); }
  // How long to wait before `next`, as next() has it, is looked at again; nothing: there is one, or it is too late.
  std::optional<Duration> wait_for(const Result<plan::JobMap>& next, TimePoint now);
  // Why an attempt with ranks as in `now` is to end so that another has them as in `next`, for people; empty: it is
  // not.
  std::string reason_to_regroup(const plan::JobMap& now, const plan::JobMap& next, TimePoint at) const;

 private:
  void listed(const std::vector<plan::Host>& hosts);
  void failed(const Error& why);
  void tell(const HostPool::News& news) const;
  using Rule = Result<plan::JobMap> (ChangingHosts::*)(plan::JobMap map, const std::vector<HostId>& hosts) const;
  Result<plan::JobMap> by(Rule rule, plan::JobMap map, const std::vector<HostId>& out) const;
  Result<plan::JobMap> without(plan::JobMap map, const std::vector<HostId>& hosts) const;
  Result<plan::JobMap> round_without(plan::JobMap round, const std::vector<HostId>& hosts) const;
  plan::JobMap grown(plan::JobMap map, const plan::MostSize& most) const;
  plan::MostSize most() const;
  bool is_enough(const plan::JobMap& map) const;
  void add_newcomers(plan::JobMap& map) const;

  const RestartOptions& options_;
  Around around_;
  std::uint32_t first_size_;  // ranks of the first plan
  HostPool pool_;
  HostDiscovery discovery_;
  bool has_failed_ = false;            // there was no answer the last time
  std::optional<TimePoint> wait_end_;  // too few hosts are waited for
};

}  // namespace sml::run
