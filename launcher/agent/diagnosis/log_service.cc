#include "launcher/agent/diagnosis/log_service.h"

#include <chrono>
#include <utility>

namespace sml::agent {

namespace {

constexpr std::size_t kMostPending = std::size_t{1} << 20;  // beyond this the workers have to wait
constexpr Duration kLastBytes = std::chrono::seconds(5);

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
    : context_(context), files_(os::LogFiles(rules_of(rules), paths_of(workers))) {
  for (std::size_t i = 0; i < workers.size(); ++i) index_[workers[i]->rank] = 2 * i;
}

// Flushes the files; they matter most if the launcher was lost.
LogService::~LogService() {
  if (writer_) writer_->flush(kLastBytes);
}

void LogService::start(const wire::Start&) {
  const auto failed = [this](const Error& why) { context_.send(wire::LogFailed{why.message()}); };
  writer_.emplace(context_.system.loop.get_executor(), std::move(*files_),
                  os::LogWriter::Events{failed, [this] { context_.owner.moved_on(); }});
  files_.reset();
  writer_->create([] {});
}

bool LogService::takes_output() const { return !writer_ || writer_->pending() < kMostPending; }

bool LogService::add_world(const wire::AddWorkers& m, std::span<const ResourceAssignment>, const WorldReady&) {
  to_come_ = m.workers;
  return false;
}

void LogService::handle(const wire::ToAgent& message) {
  const auto* m = std::get_if<wire::StartAdded>(&message);
  if (m == nullptr) return;
  const std::vector<wire::Worker> workers = std::exchange(to_come_, {});
  if (m->go == wire::Go::No || !writer_ || workers.empty() || workers.front().rank < m->first) return;
  std::vector<std::string> paths;
  for (const wire::Worker& worker : workers) {
    index_[worker.rank] = writer_->count() + paths.size();
    paths.push_back(worker.stdout_log);
    paths.push_back(worker.stderr_log);
  }
  writer_->add(std::move(paths));
}

void LogService::output(Rank rank, Stream stream, std::string_view bytes) {
  const auto found = index_.find(rank);
  if (writer_ && found != index_.end()) writer_->write(found->second + (stream == Stream::Stderr ? 1 : 0), bytes);
}

}  // namespace sml::agent
