// An attempt whose workers may outlive each other, and take in others (hvd.elastic): what the store's agent tells of
// them, they are told of hosts, and what becomes of a round is done.
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
#include "launcher/attempt/elastic_notice.h"
#include "launcher/attempt/elastic_rounds.h"
#include "launcher/attempt/joining.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/verdict.h"

namespace sml::attempt {

// It is to be: hosts that call run only what they were started with.
bool is_elastic(const JobOptions& options, const plan::LaunchPlan& plan);

class ElasticJob {
 public:
  // All of it outlives this.
  struct Around {
    const JobOptions& options;
    const plan::LaunchPlan& plan;
    fleet::Fleet& fleet;
    Workers& workers;
    AttemptOwner& owner;
    std::uint32_t restarts_used = 0;  // resets count as such
    std::function<bool()> run;        // the workers do, and are not being ended
    // What has failed is the attempt's failure after all; the hosts that were lost are named, if any were.
    std::function<void(const std::vector<report::Facts::HostFault>& lost)> give_up;
    std::function<void(Error why)> stop;
  };
  ElasticJob(Around around, Joining::Around joining);

  void handle(const fleet::Host& host, const wire::HorovodNews& m);
  void handle(const fleet::Host& host, const wire::HorovodAnswer& m);
  // A worker has ended, a host has been lost. True: that need not be the end of the attempt, or has been dealt with.
  [[nodiscard]] bool outlives(Rank rank, const ExitStatus& status, const Workers::End& end);
  [[nodiscard]] bool outlives(const fleet::Host& host, const Error& why);

  // Its workers hear of hosts that come and go, and need not be ended for these.
  bool hears_of_hosts() const { return rounds_ && !is_deaf_ && !doors_.empty(); }
  // Such hosts may have come, or gone: the workers are told, if so.
  void look_at_hosts();
  const Joining& joining() const { return joining_; }

  std::uint32_t resets() const { return rounds_ ? rounds_->resets() : 0; }
  // On which workers have failed, and which rounds have done without.
  const std::vector<HostId>& hosts_out() const;

 private:
  void note_door(Rank rank, Result<NoticeDoor> door);
  void look();
  void begin(const ElasticRounds::Next& round);
  void end_workers_on(const std::vector<HostId>& hosts) const;
  void say(const std::string& text) const;
  void say_begin(const ElasticRounds::Next& round) const;

  Around around_;
  Joining joining_;
  std::optional<ElasticRounds> rounds_;  // nothing: the job is not elastic
  std::vector<report::Facts::HostFault> lost_;
  std::map<Rank, NoticeDoor> doors_;  // of those that have registered
  bool told_ = false;                 // the workers have been told, or are being told, of other hosts in this round
  std::int64_t told_at_ = 0;          // seconds, ever later
  bool is_deaf_ = false;              // nobody hears
};

}  // namespace sml::attempt
