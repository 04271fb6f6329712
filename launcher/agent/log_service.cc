#include "launcher/agent/log_service.h"

#include <utility>

namespace sml::agent {

namespace {

os::LogRules rules_of(const wire::WorkerLogs& rules) {
  const auto overwrite = rules.overwrite == wire::LogOverwrite::Yes ? os::Overwrite::Yes : os::Overwrite::No;
  return {.max_size = rules.max_size, .overwrite = overwrite};
}

std::vector<std::string> paths_of(const std::vector<const wire::Worker*>& workers) {
  std::vector<std::string> out;
  for (const wire::Worker* worker : workers) {
    out.push_back(worker->stdout_log);
    out.push_back(worker->stderr_log);
  }
  return out;
}

}  // namespace

LogService::LogService(const ServiceContext& context, const wire::WorkerLogs& rules,
                       const std::vector<const wire::Worker*>& workers)
    : context_(context), files_(rules_of(rules), paths_of(workers)) {
  for (std::size_t i = 0; i < workers.size(); ++i) index_[workers[i]->rank] = 2 * i;
}

bool LogService::add_world(const wire::AddWorkers& m, std::span<const WorkerShare>, const WorldReady&) {
  to_come_ = m.workers;
  return false;
}

void LogService::hear(const wire::ToAgent& message) {
  const auto* m = std::get_if<wire::StartAdded>(&message);
  if (m == nullptr) return;
  const std::vector<wire::Worker> workers = std::exchange(to_come_, {});
  if (m->go == wire::Go::No || workers.empty() || workers.front().rank < m->first) return;
  std::vector<std::string> paths;
  for (const wire::Worker& worker : workers) {
    index_[worker.rank] = files_.count() + paths.size();
    paths.push_back(worker.stdout_log);
    paths.push_back(worker.stderr_log);
  }
  tell(files_.add(std::move(paths)));
}

void LogService::output(Rank rank, Stream stream, std::string_view bytes) {
  const auto found = index_.find(rank);
  if (found != index_.end()) tell(files_.write(found->second + (stream == Stream::Stderr ? 1 : 0), bytes));
}

void LogService::tell(const Result<void>& result) const {
  if (!result) context_.tell(wire::LogFailed{result.error().message()});
}

}  // namespace sml::agent
