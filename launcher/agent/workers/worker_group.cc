#include "launcher/agent/workers/worker_group.h"

#include <algorithm>
#include <csignal>

namespace sml::agent {

void WorkerGroup::add(boost::asio::io_context& loop, WorkerOwner& owner, wire::Worker spec) {
  workers_.push_back(std::make_unique<Worker>(loop, processes_, owner, std::move(spec)));
  by_rank_[workers_.back()->rank()] = workers_.back().get();
}

std::vector<const wire::Worker*> WorkerGroup::specs() const {
  std::vector<const wire::Worker*> out;
  for (const auto& worker : workers_) out.push_back(&worker->spec());
  return out;
}

Worker* WorkerGroup::find(Rank rank) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? nullptr : found->second;
}

void WorkerGroup::feed(Rank rank, const std::string& bytes) const {
  if (Worker* worker = find(rank)) worker->feed(bytes);
}

void WorkerGroup::feed_end(Rank rank) const {
  if (Worker* worker = find(rank)) worker->feed_end();
}

void WorkerGroup::say_for(Rank rank, Stream stream, std::string_view text) const {
  if (Worker* worker = find(rank)) worker->print(stream, text);
}

Worker* WorkerGroup::reaped(pid_t pid, const ExitStatus& status, const Usage& usage, TimePoint now) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return nullptr;
  Worker* worker = found->second;
  by_pid_.erase(found);
  worker->reaped(status, usage, now);
  return worker;
}

std::set<pid_t> WorkerGroup::pids() const {
  std::set<pid_t> out;
  for (const auto& [pid, worker] : by_pid_) out.insert(pid);
  return out;
}

bool WorkerGroup::all_reaped() const {
  return std::none_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->machine().alive(); });
}

bool WorkerGroup::all_done() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->machine().done(); });
}

std::vector<MpiWatch::Candidate> WorkerGroup::candidates() const {
  std::vector<MpiWatch::Candidate> out;
  for (const auto& worker : workers_) {
    if (worker->machine().alive()) out.push_back({worker->rank(), worker->pid()});
  }
  return out;
}

std::vector<Rank> WorkerGroup::without_connection(std::uint16_t port, Network& network) const {
  const std::set<pid_t> connected = network.groups_connected_to(port, pids());  // each worker leads a group
  std::vector<Rank> out;
  for (const auto& [pid, worker] : by_pid_) {
    if (!connected.contains(pid)) out.push_back(worker->rank());
  }
  return out;
}

void WorkerGroup::signal(Rank rank, int signo) const {
  if (Worker* worker = find(rank)) worker->signal(signo);
}

void WorkerGroup::signal(const wire::Signal& message) const {
  for (const auto& worker : workers_) {
    const auto named = std::find(message.ranks.begin(), message.ranks.end(), worker->rank());
    if (message.ranks.empty() || named != message.ranks.end()) worker->signal(message.signo, message.target);
  }
}

void WorkerGroup::ask_to_stop(int signo, SignalTarget target) const {
  for (const auto& worker : workers_) {
    worker->ask_to_stop();
    worker->signal(signo, target);
    if (signo != SIGKILL) worker->signal(SIGCONT);  // a stopped process cannot handle the signal
  }
}

void WorkerGroup::wake(const WorkerOwner& owner) {
  for (std::size_t i = 0; i < workers_.size() && owner.output_allowance() > 0; ++i) {
    next_to_wake_ = (next_to_wake_ + 1) % workers_.size();
    workers_[next_to_wake_]->wake();
  }
}

std::optional<TimePoint> WorkerGroup::drain_deadline() const {
  std::optional<TimePoint> first;
  for (const auto& worker : workers_) {
    const std::optional<TimePoint> deadline = worker->drain_deadline();
    if (deadline && (!first || *deadline < *first)) first = deadline;
  }
  return first;
}

void WorkerGroup::check_drain(TimePoint now) const {
  for (const auto& worker : workers_) worker->check_drain(now);
}

}  // namespace sml::agent
