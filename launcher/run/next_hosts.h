// Which hosts a further attempt has: those that are there, without those on which attempts fail.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/job_map.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/restart_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/report/verdict.h"
#include "launcher/run/changing_hosts.h"
#include "launcher/run/exclusion.h"

namespace sml::run {

class NextHosts {
 public:
  // All of them outlive this.
  NextHosts(const RestartOptions& options, const fleet::Fleet& fleet, const report::EventFeed& events)
      : options_(options), fleet_(fleet), events_(events), exclusion_(options.exclude) {}

  // Of an attempt with that map: the host on which the worker was that decided may be out. Answers what there is to be
  // said of that, once people know how the attempt ended.
  [[nodiscard]] std::vector<std::string> blame(const report::Verdict& verdict, const plan::JobMap& map);
  // The same where that worker could not be started for want of processes or memory: it is out if others can take its
  // place in `planned`.
  [[nodiscard]] std::vector<std::string> blame_unwell(const report::Verdict& verdict, const plan::JobMap& map,
                                                      const plan::JobMap& planned, const ChangingHosts& changing);
  // Those that it has done without, as people have been told.
  void blame(const std::vector<HostId>& hosts);
  // Error: there are not enough of them.
  Result<plan::JobMap> after(plan::JobMap map, const ChangingHosts& changing) const;
  // The same of a round, as ChangingHosts has it; it has done without these, too.
  Result<plan::JobMap> after_round(plan::JobMap round, std::vector<HostId> out, const ChangingHosts& changing) const;

 private:
  std::vector<HostId> out() const;

  const RestartOptions& options_;
  const fleet::Fleet& fleet_;
  const report::EventFeed& events_;
  Exclusion exclusion_;
  std::vector<HostId> unwell_;
};

}  // namespace sml::run
