#include "launcher/run/rank_logs.h"

#include <utility>

#include "common/core/text.h"
#include "launcher/output/log_layout.h"

namespace sml::run {

namespace {

std::size_t index_of(Rank rank, Stream stream) {
  return std::size_t{rank.value()} * 2 + (stream == Stream::Stderr ? 1 : 0);
}

}  // namespace

Result<std::vector<std::string>> log_paths(const LogOptions& options, const output::StreamRoutes& routes,
                                           const plan::LaunchPlan& plan) {
  const Result<output::LogLayout> layout = output::LogLayout::parse(options.layout);
  if (!layout) return Error(layout.error()).in("--log-layout " + show(options.layout));
  const bool absolute = options.directory.starts_with('/');
  const std::string folder = (absolute ? "" : plan.working_directory + "/") + options.directory + "/";
  std::vector<std::string> paths;
  for (const plan::RankAssignment& rank : plan.map.ranks) {
    for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
      const output::LogLayout::Place place{.rank = rank.rank,
                                           .local_rank = rank.local_rank,
                                           .host = plan.map.hosts[rank.host.value()].host.name,
                                           .job = plan.job.job_id,
                                           .restart = plan.job.attempt,
                                           .stream = stream,
                                           .world_size = plan.map.world_size()};
      paths.push_back(routes.to_file(rank.local_rank, stream) ? folder + layout->path(place) : std::string());
    }
  }
  std::vector<std::string> written = paths;
  std::erase(written, "");
  if (Result<void> distinct = output::check_distinct(std::move(written)); !distinct) {
    return Error(distinct.error()).in("--log-layout " + show(options.layout));
  }
  return paths;
}

Result<RankLogs> RankLogs::plan(const LogOptions& options, const output::StreamRoutes& routes,
                                const plan::LaunchPlan& plan) {
  RankLogs logs;
  logs.options_ = options;
  if (options.directory.empty()) return logs;
  Result<std::vector<std::string>> paths = log_paths(options, routes, plan);
  if (!paths) return paths.error();
  logs.paths_ = std::move(*paths);
  if (options.place == LogPlace::Hosts) return logs;
  logs.files_.emplace(options.rules, logs.paths_);
  if (Result<void> free = logs.files_->check(); !free) return Error(free.error()).in("--log-dir");
  return logs;
}

std::string RankLogs::own_folder(const std::string& job_id) const {
  for (const std::string& path : paths_) {
    const std::size_t named = path.find(job_id);
    const std::size_t end = named == std::string::npos ? named : path.find('/', named);
    if (end != std::string::npos) return path.substr(0, end);
  }
  return "";
}

void RankLogs::listen(const boost::asio::any_io_executor& loop, os::LogWriter::Handlers handlers) {
  if (!files_) return;
  writer_ = std::make_unique<os::LogWriter>(loop, std::move(*files_), std::move(handlers));
  files_.reset();
}

void RankLogs::begin(std::function<void()> then) {
  if (!writer_) return then();
  writer_->create(std::move(then));
}

void RankLogs::name_files(std::vector<wire::Worker>& workers) const {
  for (wire::Worker& worker : workers) {
    worker.stdout_log = paths_[index_of(worker.rank, Stream::Stdout)];
    worker.stderr_log = paths_[index_of(worker.rank, Stream::Stderr)];
  }
}

// Ranks before `first` keep their files: from the extended plan, only the paths of new ranks are used.
Result<void> RankLogs::add(const plan::LaunchPlan& plan, Rank first, const output::StreamRoutes& routes,
                           std::vector<wire::AddWorkers>& messages) {
  if (options_.directory.empty()) return {};
  Result<std::vector<std::string>> paths = log_paths(options_, routes, plan);
  if (!paths) return paths.error();
  const std::size_t known = index_of(first, Stream::Stdout);
  paths_.resize(known);
  paths_.insert(paths_.end(), paths->begin() + static_cast<std::ptrdiff_t>(known), paths->end());
  if (options_.place != LogPlace::Hosts) return {};
  for (wire::AddWorkers& message : messages) name_files(message.workers);
  return {};
}

void RankLogs::begin(Rank first) {
  if (!writer_) return;
  const auto known = static_cast<std::ptrdiff_t>(index_of(first, Stream::Stdout));
  writer_->add({paths_.begin() + known, paths_.end()});
}

void RankLogs::write(Rank rank, Stream stream, std::string_view bytes) {
  if (writer_) writer_->write(index_of(rank, stream), bytes);
}

void RankLogs::flush(Duration limit) {
  if (writer_) writer_->flush(limit);
}

void RankLogs::instruct(launch::AgentSession::Plan& session) const {
  if (options_.directory.empty() || options_.place != LogPlace::Hosts) return;
  session.prepare = [this, make = std::move(session.prepare)](launch::AgentPlace place) {
    wire::Prepare prepare = make(place);
    prepare.logs = {
        .max_size = options_.rules.max_size,
        .overwrite = options_.rules.overwrite == os::Overwrite::Yes ? wire::LogOverwrite::Yes : wire::LogOverwrite::No};
    name_files(prepare.workers);
    return prepare;
  };
}

}  // namespace sml::run
