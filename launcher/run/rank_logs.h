// --log-dir: what each rank prints, byte for byte in files of its own, on this machine or on the rank's.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/log_writer.h"
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

  // Before the files are made: who hears what becomes of them.
  void listen(const boost::asio::any_io_executor& loop, os::LogWriter::Handlers handlers);
  // Makes the files, unless the agents do; the workers, which are about to start, wait for `then`.
  void begin(std::function<void()> then);
  // For ranks that may come while others run, those of `plan` from `first` on; in place of those that it was told
  // before and that have not begun. Tells the agents what to write themselves. Error: as of log_paths().
  Result<void> add(const plan::LaunchPlan& plan, Rank first, const output::StreamRoutes& routes,
                   std::vector<wire::AddWorkers>& messages);
  // They start.
  void begin(Rank first);
  void write(Rank rank, Stream stream, std::string_view bytes);
  std::size_t pending() const { return writer_ ? writer_->pending() : 0; }  // bytes not yet in their files
  bool is_busy() const { return writer_ && writer_->is_busy(); }
  // Of a job that did not wait for that: a moment.
  void flush(Duration limit);
  // Tells a host's agent what to write itself.
  void instruct(launch::AgentSession::Plan& session) const;

 private:
  void name_files(std::vector<wire::Worker>& workers) const;

  LogOptions options_;
  std::vector<std::string> paths_;
  std::optional<os::LogFiles> files_;  // until somebody listens; nothing: none here
  std::unique_ptr<os::LogWriter> writer_;
};

}  // namespace sml::run
