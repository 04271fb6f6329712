#include "launcher/run/rank_logs.h"

#include <utility>

#include "common/core/text.h"
#include "launcher/output/log_layout.h"
#include "launcher/run/log_paths.h"

namespace sml::run {

Result<std::vector<std::string>> log_paths(const LogOptions& options, const output::StreamRoutes& routes,
                                           const plan::LaunchPlan& plan) {
  const Result<LogPaths> names = LogPaths::make(options.directory, options.layout, plan);
  if (!names) return Error(names.error()).in("--log-layout " + show(options.layout));
  std::vector<std::string> paths;
  for (const plan::RankAssignment& rank : plan.map.ranks) {
    for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
      paths.push_back(routes.to_file(rank.local_rank, stream) ? names->of(rank, stream) : std::string());
    }
  }
  std::vector<std::string> written = paths;
  std::erase(written, "");
  if (Result<void> distinct = output::check_distinct(std::move(written)); !distinct) {
    return Error(distinct.error()).in("--log-layout " + show(options.layout));
  }
  return paths;
}

Result<RankLogs> RankLogs::plan(const LogOptions& options, const OutputOptions& output, const plan::LaunchPlan& plan) {
  Result<RankLogs> logs = plan_unchecked(options, output, plan);
  if (!logs) return logs;
  Result<void> free = logs->matched_.check();
  if (free && logs->files_) free = logs->files_->check();
  if (!free) return Error(free.error()).in("--log-dir");
  return logs;
}

Result<RankLogs> RankLogs::plan_unchecked(const LogOptions& options, const OutputOptions& output,
                                          const plan::LaunchPlan& plan) {
  RankLogs logs;
  logs.options_ = options;
  if (options.directory.empty()) return logs;
  Result<std::vector<std::string>> paths = log_paths(options, output.routes, plan);
  if (!paths) return paths.error();
  logs.paths_ = std::move(*paths);
  Result<MatchedLines> matched = MatchedLines::plan(options, output, plan);
  if (!matched) return matched.error();
  logs.matched_ = std::move(*matched);
  if (Result<void> distinct = logs.check_matched(); !distinct) return distinct.error();
  if (options.place == LogPlace::Hosts) return logs;
  logs.files_.emplace(options.rules, logs.paths_);
  return logs;
}

// Error (Usage): a file for matched lines is one of a rank.
Result<void> RankLogs::check_matched() const {
  if (matched_.paths().empty()) return {};
  std::vector<std::string> written = paths_;
  std::erase(written, "");
  written.insert(written.end(), matched_.paths().begin(), matched_.paths().end());
  Result<void> distinct = output::check_distinct(std::move(written));
  if (!distinct) return Error(distinct.error()).in("--log-match-layout " + show(options_.matched.layout));
  return {};
}

std::string RankLogs::own_folder(const std::string& job_id) const {
  for (const std::string& path : paths_) {
    const std::size_t named = path.find(job_id);
    const std::size_t end = named == std::string::npos ? named : path.find('/', named);
    if (end != std::string::npos) return path.substr(0, end);
  }
  return "";
}

void RankLogs::listen(const boost::asio::any_io_executor& loop, os::LogWriter::Events events) {
  matched_.listen(loop, events);
  if (!files_) return;
  writer_ = std::make_unique<os::LogWriter>(loop, std::move(*files_), std::move(events));
  files_.reset();
}

void RankLogs::begin(std::function<void()> then) {
  if (!writer_) return matched_.begin(std::move(then));
  writer_->create([this, then = std::move(then)]() mutable { matched_.begin(std::move(then)); });
}

void RankLogs::name_files(std::vector<wire::Worker>& workers) const {
  for (wire::Worker& worker : workers) {
    worker.stdout_log = paths_[log_index(worker.rank, Stream::Stdout)];
    worker.stderr_log = paths_[log_index(worker.rank, Stream::Stderr)];
  }
}

// Ranks before `first` keep their files: from the extended plan, only the paths of new ranks are used.
Result<void> RankLogs::add(const plan::LaunchPlan& plan, Rank first, const output::StreamRoutes& routes,
                           std::vector<wire::AddWorkers>& messages) {
  if (options_.directory.empty()) return {};
  Result<std::vector<std::string>> paths = log_paths(options_, routes, plan);
  if (!paths) return paths.error();
  const std::size_t known = log_index(first, Stream::Stdout);
  paths_.resize(known);
  paths_.insert(paths_.end(), paths->begin() + static_cast<std::ptrdiff_t>(known), paths->end());
  if (options_.place != LogPlace::Hosts) return {};
  for (wire::AddWorkers& message : messages) name_files(message.workers);
  return {};
}

void RankLogs::begin(const OutputOptions& output, const plan::LaunchPlan& plan, Rank first) {
  matched_.add(output, plan, first);
  if (!writer_) return;
  const auto known = static_cast<std::ptrdiff_t>(log_index(first, Stream::Stdout));
  writer_->add({paths_.begin() + known, paths_.end()});
}

void RankLogs::write(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) {
  if (writer_) writer_->write(log_index(rank, stream), bytes);
  matched_.write(rank, stream, bytes, read_at);
}

std::size_t RankLogs::pending() const { return (writer_ ? writer_->pending() : 0) + matched_.pending(); }

bool RankLogs::is_busy() const { return (writer_ && writer_->is_busy()) || matched_.is_busy(); }

void RankLogs::flush(Duration limit) {
  if (writer_) writer_->flush(limit);
  matched_.flush(limit);
}

void RankLogs::instruct(transport::AgentSession::Plan& session) const {
  if (options_.directory.empty() || options_.place != LogPlace::Hosts) return;
  session.prepare = [this, make = std::move(session.prepare)](transport::AgentPlace place) {
    wire::Prepare prepare = make(place);
    prepare.logs = {
        .max_size = options_.rules.max_size,
        .overwrite = options_.rules.overwrite == os::Overwrite::Yes ? wire::LogOverwrite::Yes : wire::LogOverwrite::No};
    name_files(prepare.workers);
    return prepare;
  };
}

}  // namespace sml::run
