// --log-dir: what each rank prints, byte for byte in files of its own, on this machine or on the rank's.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/os/log_files.h"
#include "common/plan/launch_plan.h"
#include "launcher/launch/agent_session.h"
#include "launcher/options/job_options.h"

namespace sml::run {

// Where every rank's streams go: absolute; two per rank, stdout first; empty for those that `routes` send to no file.
// Error (Usage): the layout gives one place to two.
Result<std::vector<std::string>> log_paths(const LogOptions& options, const output::StreamRoutes& routes,
                                           const plan::LaunchPlan& plan);

class RankLogs {
 public:
  // Looks whether files of an earlier job are there (error of kind Usage) and makes nothing. On other hosts it is the
  // agents who look.
  static Result<RankLogs> plan(const LogOptions& options, const output::StreamRoutes& routes,
                               const plan::LaunchPlan& plan);

  // The folder whose name no option tells, since the job's id is in it. Empty: there is none.
  std::string own_folder(const std::string& job_id) const;

  // Called for a file that cannot be written.
  void on_failure(std::function<void(Error why)> failed) { failed_ = std::move(failed); }
  // Makes the files, unless the agents do; the workers are about to start.
  void begin();
  // For ranks that may come while others run, those of `plan` from `first` on; in place of those that it was told
  // before and that have not begun. Tells the agents what to write themselves. Error: as of log_paths().
  Result<void> add(const plan::LaunchPlan& plan, Rank first, const output::StreamRoutes& routes,
                   std::vector<wire::AddWorkers>& messages);
  // They start.
  void begin(Rank first);
  void write(Rank rank, Stream stream, std::string_view bytes);
  // Tells a host's agent what to write itself.
  void instruct(launch::AgentSession::Plan& session) const;

 private:
  void name_files(std::vector<wire::Worker>& workers) const;

  LogOptions options_;
  std::vector<std::string> paths_;
  std::optional<os::LogFiles> files_;  // nothing: none here
  std::function<void(Error)> failed_;
};

}  // namespace sml::run
