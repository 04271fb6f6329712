#include "launcher/agent/workers/rank_news.h"

#include <csignal>
#include <utility>

#include "common/wire/limits.h"
#include "launcher/agent/core/own_clock.h"

namespace sml::agent {

using supervise::WorkerAction;

void RankNews::tell(Worker& worker) {
  const WorkerAction action = worker.take_report();
  if (action == WorkerAction::None) return;
  if (action == WorkerAction::ReportExit || action == WorkerAction::ReportExitAndDrained) {
    tell_evidence(worker);
    const auto ended_by = worker.machine().asked_to_stop() ? wire::EndedBy::Us : wire::EndedBy::Itself;
    wire::ExitedWorker exit = wire::pack_exit(worker.rank(), worker.status(), ended_by, nanoseconds(worker.ended_at()));
    exit.usage = worker.usage();
    around_.link.send(std::move(exit));
  }
  if (action != WorkerAction::ReportExit) {
    const auto end = action == WorkerAction::AbandonOutput ? wire::DrainEnd::Quiet : wire::DrainEnd::Eof;
    around_.link.send(wire::Drained{worker.rank(), end});
  }
}

// Sent before the message that the worker failed.
void RankNews::tell_evidence(const Worker& worker) const {
  if (succeeded(worker.status())) return;
  std::string text = around_.scratch.take_error_file(worker.rank(), wire::kMaxErrorFile);
  if (!text.empty()) around_.link.send(wire::ErrorFile{.text = std::move(text), .rank = worker.rank()});
  if (worker.machine().asked_to_stop()) return;
  // The killed process may be the worker itself or one that it started, such as a data loader.
  if (auto kills = around_.oom_watch.look())
    around_.link.send(wire::OutOfMemory{.kills = kills->count, .evidence = std::move(kills->evidence)});
}

bool RankNews::tell(wire::RankFault fault) {
  if (!faults_.insert(fault.rank).second) return false;
  around_.link.send(std::move(fault));
  return true;
}

void RankNews::tell_ignored(Rank rank, const std::string& what) const {
  tell_ignored("rank " + std::to_string(rank.value()) + " " + what);
}

void RankNews::tell_ignored(const std::string& what) const {
  around_.link.send(wire::AgentLog{wire::LogLevel::Debug, what});
}

}  // namespace sml::agent
