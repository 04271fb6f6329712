// An attempt whose workers may outlive each other and take in new ones (hvd.elastic): handles the store agent's
// messages about the workers, notifies the workers of hosts, and starts the next round or ends the attempt.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/dynamic/elastic_join.h"
#include "launcher/attempt/dynamic/elastic_notice.h"
#include "launcher/attempt/dynamic/elastic_rounds.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::attempt {

class ElasticJob {
 public:
  // Everything here outlives this.
  struct Deps {
    const JobOptions& options;
    const plan::LaunchPlan& plan;
    fleet::Fleet& fleet;
    Workers& workers;
    AttemptOwner& owner;
    std::uint32_t restarts_used = 0;  // resets count as restarts
    std::function<bool()> run;        // whether the workers run and are not being ended
    // The attempt fails after all; `lost` names the hosts that were lost, if any.
    std::function<void(const std::vector<report::AttemptFacts::HostFault>& lost)> give_up;
    std::function<void(Error why)> stop;
  };
  ElasticJob(Deps deps, ElasticJoin::Deps joining);

  void handle(const fleet::Host& host, const wire::HorovodNews& m);
  void handle(const fleet::Host& host, const wire::HorovodAnswer& m);
  // Call when a worker has ended or a host has been lost. Returns true if the attempt need not end because of it, or if
  // this has dealt with it.
  [[nodiscard]] bool outlives(Rank rank, const ExitStatus& status, const Workers::End& end);
  [[nodiscard]] bool outlives(const fleet::Host& host, const Error& why);

  // Whether the workers accept notices about hosts that come and go, so that they need not be ended for these.
  bool hears_of_hosts() const { return rounds_ && !is_deaf_ && !endpoints_.empty(); }
  // Call when such hosts may have come or gone: notifies the workers if they have.
  void look_at_hosts();
  const ElasticJoin& joining() const { return joining_; }

  std::uint32_t resets() const { return rounds_ ? rounds_->resets() : 0; }
  // Hosts on which workers have failed, and which later rounds have done without.
  const std::vector<HostId>& hosts_out() const;

 private:
  // A host on which workers have failed.
  struct CoolingDown {
    std::optional<TimePoint> since;  // nullopt: it has come back
    std::uint32_t times = 0;
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
  std::optional<ElasticRounds> rounds_;  // nullopt: the job is not elastic
  std::vector<report::AttemptFacts::HostFault> lost_;
  std::map<HostId, CoolingDown> cooling_;
  std::map<Rank, NotificationEndpoint> endpoints_;  // workers that have registered
  bool told_ = false;  // the workers have been notified of other hosts in this round, or the notice is on its way
  std::int64_t told_at_ = 0;  // time stamp of the last notice, in seconds; strictly increasing
  bool is_deaf_ = false;      // no notices: a worker does not understand or acknowledge them
};

}  // namespace sml::attempt
