#include "launcher/agent/workers/dynamic_workers.h"

#include <utility>

#include "launcher/agent/core/preflight_error.h"

namespace sml::agent {

void DynamicWorkers::prepare(const wire::AddWorkers& m, WorkerStarter* starter) {
  forget_those();
  answer_ = wire::Added{.attempt = m.attempt, .first = m.first, .errors = {}};
  if (starter == nullptr) {
    answer_->errors.push_back(preflight_error(Error(ErrorKind::Lost, "its workers have ended")));
    return settle(m.first, {});
  }
  search_ = std::make_shared<Search>(Search{m, starter->environments()});
  search_->environments.add(m.apps, deps_.at_start.environment);
  const auto find = [search = search_] { search->missing = search->environments.find_programs(); };
  deps_.system.file_work(find, lifetime_.guard([this, starter, search = search_] {
    if (search_ != search) return;  // forgotten, or another has come
    search_.reset();
    found(*search, *starter);
    searched_();
  }));
}

void DynamicWorkers::found(Search& search, WorkerStarter& starter) {
  const wire::AddWorkers& m = search.plan;
  const auto first_app = static_cast<std::uint32_t>(starter.environments().count());
  starter.environments().take_programs(std::move(search.environments));
  for (const Error& missing : search.missing) answer_->errors.push_back(preflight_error(missing));
  first_ = m.first;
  waiting_ = m.workers;
  wire::unpack_environments(m.apps, waiting_);
  for (wire::Worker& worker : waiting_) worker.app += first_app;
  if (answer_->errors.empty()) share_out(starter);
  if (!answer_->errors.empty()) return settle(m.first, {});
  bool meet = false;
  for (const auto& service : services_) {
    const auto ready = [this, first = m.first](const std::string& why) { settle(first, why); };
    meet = service->add_world(m, shares_, ready) || meet;
  }
  if (!meet) settle(m.first, "no rank there meets others in the way that they are to");
}

void DynamicWorkers::share_out(const WorkerStarter& starter) {
  ResourceAssignments shares = starter.share_out_more(waiting_);
  for (const Error& why : shares.errors) answer_->errors.push_back(preflight_error(why));
  for (const std::string& why : shares.warnings) {
    deps_.link.send(wire::AgentLog{wire::LogLevel::Warning, "of ranks that are spawned: " + why});
  }
  shares_ = std::move(shares.workers);
}

void DynamicWorkers::forget() {
  first_expected_ = false;
  forget_those();
}

void DynamicWorkers::forget_those() {
  search_.reset();
  waiting_.clear();
  shares_.clear();
  answer_.reset();
}

// Does nothing if the addition has been forgotten since.
void DynamicWorkers::settle(Rank first, const std::string& why) {
  if (!answer_ || answer_->first != first) return;
  if (!why.empty()) answer_->errors.push_back(preflight_error(Error(ErrorKind::Config, why)));
  if (!answer_->errors.empty()) waiting_.clear();
  deps_.link.send(*std::exchange(answer_, std::nullopt));
}

void DynamicWorkers::start(const wire::StartAdded& m, WorkerStarter& starter, MpiWatch& mpi_watch) {
  if (m.first != first_ || m.go == wire::Go::No) return forget();
  if (waiting_.empty()) return;
  first_expected_ = false;
  const std::size_t first = workers_.count();
  for (wire::Worker& spec : std::exchange(waiting_, {})) workers_.add(deps_.system.loop, owner_, std::move(spec));
  starter.keep(std::exchange(shares_, {}));
  wire::Started started{.workers = starter.start(mpi_watch, first)};
  mpi_watch.begin(Clock::now());
  deps_.link.send(std::move(started));
}

}  // namespace sml::agent
