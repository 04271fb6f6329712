// Decides between two attempts whether another follows, with which hosts, and when. Keeps the history of the attempts
// and the changing hosts of the job. The rules are pure (restart_policy.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/attempt/attempt.h"
#include "launcher/attempt/attempt_outcome.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/outcome/report_json.h"
#include "launcher/run/restarts/changing_hosts.h"
#include "launcher/run/restarts/exclusion.h"
#include "launcher/run/restarts/restart_policy.h"
#include "launcher/run/watch/file_work.h"

namespace sml::run {

// Used on the loop's thread.
class RestartController final : private ChangingHosts::Hosts {
 public:
  static constexpr std::size_t kRemembered = 1000;  // of earlier(): older attempts are dropped from the report

  // Everything here outlives this.
  struct Deps {
    boost::asio::io_context& loop;
    const JobOptions& options;
    const fleet::Fleet& fleet;
    const report::EventFeed& events;
    FileWork& files;
    const std::unique_ptr<attempt::Attempt>& last;  // runs, or has ended last; the first exists already
    Printer& printer;
    std::weak_ptr<dialin::Coordinator> head;  // as in HostDiscovery
  };
  explicit RestartController(Deps deps);
  RestartController(const RestartController&) = delete;
  RestartController& operator=(const RestartController&) = delete;

  // Starts and ends the discovery of hosts. It may end the running attempt for other hosts.
  void begin() { changing_hosts_.begin(); }
  void end() { changing_hosts_.end(); }
  // So many of the fleet's lost hosts are other names of hosts that the job has, and do not count as lost.
  void set_other_names(std::size_t hosts) { other_names_ = hosts; }
  // The map that follows `round` of an elastic job without the hosts `out`; see AttemptOwner::next_round().
  Result<plan::JobMap> next_round(const plan::JobMap& round, std::vector<HostId> out) const;

  // Call once for each attempt, when it is cleared: records it, excludes the host that is to blame for too many
  // failures (and begins to add it to --exclude-file), and notifies the user and the event feed if another attempt
  // follows. Returns whether one does; does not start it.
  [[nodiscard]] bool ended(const attempt::AttemptOutcome& outcome, const Signs& signs);
  // Begins the wait before the next attempt: the backoff, and longer while workers of lost hosts may still run or too
  // few hosts may become more. Calls `then` at its end, unless no attempt follows after all.
  void rest(std::function<void()> then);
  // The job ends during the wait.
  void end_rest() { rest_timer_.expires_at(TimePoint::max()); }
  // Call when a host is lost during the wait. If no attempt can follow then, ends the wait and returns false.
  [[nodiscard]] bool can_do_without_lost();
  // The map of the next attempt. nullopt: there are not enough hosts.
  std::optional<plan::JobMap> next_map();

  // Restarts so far, including the resets of elastic jobs.
  std::uint32_t used() const { return used_; }
  // The attempts that were to be followed by another, oldest first.
  const std::vector<report::AttemptRecord>& earlier() const { return earlier_; }
  // All attempts at the end of the job; `outcome` is that of the last.
  std::vector<report::AttemptRecord> all(const attempt::AttemptOutcome& outcome) const;
  // Why no other attempt follows, as a part of a sentence; empty: the reason is evident.
  const std::string& why_none() const { return why_none_; }

 private:
  // ChangingHosts::Hosts
  HostPool::MayConnect may_come() const override;
  std::vector<HostId> lost() const override { return deps_.last->spares().lost(); }
  void come(const plan::MappedHost& host) override { deps_.last->spares().come(host); }
  bool is_ready(HostId id) const override;
  void look_for_growth() override;

  std::vector<HostId> out() const;  // hosts that are lost, excluded or unwell
  Result<plan::JobMap> next() const;
  bool may_mend() const;  // whether more hosts may still come if there are too few for another attempt
  // These return messages, to be printed after the end of the attempt has been reported.
  std::vector<std::string> blame(const attempt::AttemptOutcome& outcome);
  std::vector<std::string> exclude(HostIndex index, const report::JobOutcome& verdict);
  const PastAttempt& note(const attempt::AttemptOutcome& outcome, const Signs& signs);
  void tell(const attempt::AttemptOutcome& outcome, const std::vector<std::string>& news) const;
  std::string announcement() const;

  Deps deps_;
  const RestartOptions& options_;
  std::vector<PastAttempt> history_;
  std::vector<report::AttemptRecord> earlier_;
  std::size_t hosts_lost_ = 0;   // by the end of the last attempt
  std::size_t other_names_ = 0;  // see set_other_names()
  std::uint32_t used_ = 0;       // restarts
  std::string why_none_;
  Exclusion exclusion_;
  std::vector<HostId> unwell_;  // excluded for the rest of the job: no worker can be started there
  ChangingHosts changing_hosts_;
  boost::asio::steady_timer rest_timer_;
  Duration rest_{};  // the wait before the next attempt
};

}  // namespace sml::run
