#include "launcher/agent/additions.h"

#include <utility>

#include "launcher/agent/obstacle.h"
#include "launcher/agent/own_clock.h"

namespace sml::agent {

void Additions::prepare(const wire::AddWorkers& m, WorkerStarter* starter) {
  wire::Added answer{.attempt = m.attempt, .first = m.first, .obstacles = {}};
  forget();
  if (starter == nullptr) {
    answer.obstacles.push_back(obstacle(Error(ErrorKind::Lost, "its workers have ended")));
  } else {
    const auto first_app = static_cast<std::uint32_t>(starter->environments().count());
    answer.obstacles = find_obstacles(m, *starter);
    first_ = m.first;
    if (answer.obstacles.empty()) waiting_ = m.workers;
    for (wire::Worker& worker : waiting_) worker.app += first_app;
  }
  around_.link.send(std::move(answer));
}

std::vector<wire::Obstacle> Additions::find_obstacles(const wire::AddWorkers& m, WorkerStarter& starter) const {
  std::vector<wire::Obstacle> out;
  for (const Error& missing : starter.add_programs(m.apps)) out.push_back(obstacle(missing));
  bool meet = false;
  for (const auto& service : services_) meet = service->add_world(m) || meet;
  if (!meet) {
    out.push_back(obstacle(Error(ErrorKind::Config, "no rank there meets others in the way that they are to")));
  }
  return out;
}

void Additions::start(const wire::StartAdded& m, WorkerStarter& starter, MpiWatch& mpi_watch) {
  if (m.first != first_ || m.go == wire::Go::No) return forget();
  if (!wait()) return;
  const std::size_t first = workers_.count();
  for (wire::Worker& spec : std::exchange(waiting_, {})) workers_.add(around_.loop, owner_, std::move(spec));
  wire::Started started{.workers = starter.start(mpi_watch, first)};
  started.at_ns = nanoseconds(Clock::now());
  around_.link.send(std::move(started));
}

}  // namespace sml::agent
