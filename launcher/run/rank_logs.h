// --log-dir: writes the output of each rank, byte for byte, to files of its own, on this machine or on the rank's host,
// and lines that match to files that ranks share (MatchedLines). Without that option begin() calls `then` at once, and
// all other calls do nothing.
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
#include "common/os/logs/log_writer.h"
#include "common/plan/launch_plan.h"
#include "launcher/options/job_options.h"
#include "launcher/run/matched_lines.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::run {

// The absolute path for each stream: two per rank, stdout first; empty for streams that `routes` send to no file. Error
// (Usage): the layout is not a template, or gives two streams the same path.
Result<std::vector<std::string>> log_paths(const LogOptions& options, const output::StreamRoutes& routes,
                                           const plan::LaunchPlan& plan);

// Used on the loop's thread.
class RankLogs {
 public:
  // Plans the files of one attempt, and creates none. Error: as from log_paths(), MatchedLines::plan() or
  // os::LogFiles::check(), which finds files of an earlier job. For files on other hosts, the agents check that.
  static Result<RankLogs> plan(const LogOptions& options, const OutputOptions& output, const plan::LaunchPlan& plan);
  // The same without os::LogFiles::check(), which blocks while the file system does: begin() finds what is wrong.
  static Result<RankLogs> plan_unchecked(const LogOptions& options, const OutputOptions& output,
                                         const plan::LaunchPlan& plan);

  // The folder whose name contains the job's id, for a message: a user cannot derive it from the options. Empty if
  // there is none.
  std::string own_folder(const std::string& job_id) const;

  // Sets the receivers of log events; to be called before the files are created.
  void listen(const boost::asio::any_io_executor& loop, os::LogWriter::Events events);
  // Creates the files, unless the agents do; `then`, which starts the workers, is called once they exist.
  void begin(std::function<void()> then);
  // Plans the files for ranks that may be added to a running job: those of `plan` from `first` on, replacing earlier
  // ones that were added but not begun. Puts into `messages` the files that agents are to write. Error: as from
  // log_paths().
  Result<void> add(const plan::LaunchPlan& plan, Rank first, const output::StreamRoutes& routes,
                   std::vector<wire::AddWorkers>& messages);
  // The ranks of `plan` from `first` on start.
  void begin(const OutputOptions& output, const plan::LaunchPlan& plan, Rank first);
  // `read_at` is when the worker's host read the bytes, on this process's clock.
  void write(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at);
  // No more output comes from this rank.
  void rank_done(Rank rank) { matched_.rank_done(rank); }
  std::size_t pending() const;  // bytes not yet in their files
  bool is_busy() const;         // files are being worked on, so that the handler `failed` may still be called
  // For the end of the program: waits for pending bytes, up to `limit`, and as long again for those of MatchedLines.
  void flush(Duration limit);
  // Puts into a session's plan the files that its agent is to write. The plan refers to this object, which must
  // outlive it.
  void instruct(transport::AgentSession::Plan& session) const;

 private:
  Result<void> check_matched() const;
  void name_files(std::vector<wire::Worker>& workers) const;

  LogOptions options_;
  std::vector<std::string> paths_;
  std::optional<os::LogFiles> files_;  // until listen() is called; nullopt: no files on this machine
  std::unique_ptr<os::LogWriter> writer_;
  MatchedLines matched_;
};

}  // namespace sml::run
