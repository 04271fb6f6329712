#include "launcher/agent/workers/rank_news.h"

#include <csignal>
#include <utility>

#include "common/wire/limits.h"
#include "launcher/agent/core/own_clock.h"

namespace sml::agent {

void RankNews::report(Worker& worker) {
  const WorkerAction action = worker.take_report();
  if (action == WorkerAction::None) return;
  if (action == WorkerAction::ReportExit || action == WorkerAction::ReportExitAndDrained) {
    send_evidence(worker);
    const auto ended_by = worker.machine().asked_to_stop() ? wire::EndedBy::Us : wire::EndedBy::Itself;
    wire::ExitedWorker exit = wire::pack_exit(worker.rank(), worker.status(), ended_by, nanoseconds(worker.ended_at()));
    exit.usage = worker.usage();
    deps_.link.send(std::move(exit));
  }
  if (action != WorkerAction::ReportExit) {
    const auto end = action == WorkerAction::AbandonOutput ? wire::DrainEnd::Quiet : wire::DrainEnd::Eof;
    deps_.link.send(wire::Drained{worker.rank(), end});
  }
}

// Sent before the message that the worker failed.
void RankNews::send_evidence(const Worker& worker) const {
  if (succeeded(worker.status())) return;
  std::string text = deps_.system.scratch.take_error_file(worker.rank(), wire::kMaxErrorFile);
  if (!text.empty()) deps_.link.send(wire::ErrorFile{.text = std::move(text), .rank = worker.rank()});
  if (worker.machine().asked_to_stop()) return;
  // The killed process may be the worker itself or one that it started, such as a data loader.
  if (auto kills = deps_.oom_watch.look())
    deps_.link.send(wire::OutOfMemory{.kills = kills->count, .evidence = std::move(kills->evidence)});
}

void RankNews::report_memory_kills() const {
  const auto kills = deps_.oom_watch.look();
  if (!kills) return;
  deps_.link.send(wire::AgentLog{wire::LogLevel::Warning,
                                 "the kernel killed processes for lack of memory while the workers ran (" +
                                     kills->evidence +
                                     "); if a data loader has gone, give the job fewer of them or more memory"});
}

bool RankNews::report(wire::RankFault fault) {
  if (!faults_.insert(fault.rank).second) return false;
  deps_.link.send(std::move(fault));
  return true;
}

void RankNews::report_ignored(Rank rank, const std::string& what) const {
  report_ignored("rank " + std::to_string(rank.value()) + " " + what);
}

void RankNews::report_ignored(const std::string& what) const {
  deps_.link.send(wire::AgentLog{wire::LogLevel::Debug, what});
}

}  // namespace sml::agent
