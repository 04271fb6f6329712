// The part of an attempt that is elastic (hvd.elastic): workers may go on without others, and with new ones. Handles
// what the agent with Horovod's store reports about the workers, notifies the workers of hosts that have come or gone,
// and starts the next round or ends the attempt. In other jobs it does nothing. One thread: that of the loop.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_control.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/dynamic/elastic_join.h"
#include "launcher/attempt/dynamic/elastic_notice.h"
#include "launcher/attempt/dynamic/elastic_rounds.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::attempt {

class ElasticJob {
 public:
  // Everything here outlives the use of this; see DynamicRanks::Deps.
  struct Deps {
    const AttemptContext& context;
    AttemptControl& control;
    const AttemptMachine& machine;
    const plan::LaunchPlan& plan;
    Workers& workers;
    std::uint32_t restarts_used = 0;  // resets count as restarts
  };
  ElasticJob(Deps deps, ElasticJoin::Deps joining);

  void handle(const fleet::Host& host, const wire::HorovodNews& m);
  void handle(const fleet::Host& host, const wire::HorovodAnswer& m);
  // Call when a worker has ended or a host has been lost. Returns true if the caller need do nothing more about that:
  // the others may go on, or this object has ended the attempt. False: the caller handles it as in any other job.
  [[nodiscard]] bool outlives(Rank rank, const ExitStatus& status, const Workers::End& end);
  [[nodiscard]] bool outlives(const fleet::Host& host, const Error& why);

  // Whether the workers accept notices that hosts have come or gone, so that the attempt need not end to use other
  // hosts.
  bool hears_of_hosts() const { return rounds_ && !is_deaf_ && !endpoints_.empty(); }
  // Call when hosts may have come or gone: notifies the workers if the next round would have other hosts.
  void look_at_hosts();
  const ElasticJoin& joining() const { return joining_; }

  std::uint32_t resets() const { return rounds_ ? rounds_->resets() : 0; }
  // Hosts on which workers have failed, and which later rounds have done without.
  const std::vector<HostId>& hosts_out() const;

 private:
  // A host on which workers have failed.
  struct CoolingDown {
    std::optional<TimePoint> since;  // when it went out; nullopt: it is back
    std::uint32_t times = 0;         // how often it has gone out
  };
  bool has_cooled_down(HostId host) const;
  void note_failed_hosts(const ElasticRounds::Next& round);
  void note_endpoint(Rank rank, Result<NotificationEndpoint> endpoint);
  void look();
  void begin(const ElasticRounds::Next& round);
  void end_workers_on(const std::vector<HostId>& hosts) const;
  void print(const std::string& text) const;
  void say_begin(const ElasticRounds::Next& round) const;

  Deps deps_;
  ElasticJoin joining_;
  std::optional<ElasticRounds> rounds_;                // nullopt: the job is not elastic
  std::vector<report::AttemptFacts::HostFault> lost_;  // hosts lost in this round, for give_up
  std::map<HostId, CoolingDown> cooling_;
  std::map<Rank, NotificationEndpoint> endpoints_;  // workers that have registered
  bool notified_ = false;  // the workers have been notified of other hosts in this round, or the notice is on its way
  std::int64_t notified_at_ = 0;  // time stamp of the last notice, in seconds; strictly increasing
  bool is_deaf_ = false;          // no notices: a worker does not understand or acknowledge them
};

}  // namespace sml::attempt
