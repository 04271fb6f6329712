// Chooses the hosts of the next attempt: those that are available, without those on which attempts have failed.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/restart_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/run/restarts/changing_hosts.h"
#include "launcher/run/restarts/exclusion.h"
#include "launcher/run/watch/file_work.h"

namespace sml::run {

class NextHosts {
 public:
  // All arguments must outlive this.
  NextHosts(const RestartOptions& options, const fleet::Fleet& fleet, const report::EventFeed& events, FileWork& files)
      : options_(options), fleet_(fleet), events_(events), files_(files), exclusion_(options.exclude) {}

  // After a failed attempt with that map: excludes the host of the root cause if enough attempts have failed there, and
  // begins to add it to --exclude-file. Returns messages about that, to be printed after the end of the attempt has
  // been reported.
  [[nodiscard]] std::vector<std::string> blame(const report::JobOutcome& verdict, const plan::JobMap& map);
  // The same if the worker of the root cause could not be started for lack of processes or memory: excludes its host at
  // once, and for the rest of the job, if other hosts can take its place in `planned`.
  [[nodiscard]] std::vector<std::string> blame_unwell(const report::JobOutcome& verdict, const plan::JobMap& map,
                                                      const plan::JobMap& planned, const ChangingHosts& changing);
  // Records one failure of each of these hosts, without which an attempt has gone on (hvd.elastic). Prints no message:
  // the user has been informed.
  void blame(const std::vector<HostId>& hosts);
  // The map of the attempt after that of `map`. Error: there are not enough hosts.
  Result<plan::JobMap> after(plan::JobMap map, const ChangingHosts& changing) const;
  // The same for a round, see ChangingHosts::next_round(); `out` are hosts that the round has gone on without.
  Result<plan::JobMap> after_round(plan::JobMap round, std::vector<HostId> out, const ChangingHosts& changing) const;

  // Whether no listed host can have workers any more: an elastic Horovod job ends then, as under Horovod's launcher,
  // and waits for no others.
  bool all_are_out_for_good(const ChangingHosts& changing) const;

 private:
  std::vector<HostId> out() const;  // hosts that are lost, excluded or unwell

  const RestartOptions& options_;
  const fleet::Fleet& fleet_;
  const report::EventFeed& events_;
  FileWork& files_;
  Exclusion exclusion_;
  std::vector<HostId> unwell_;  // excluded by blame_unwell()
};

}  // namespace sml::run
