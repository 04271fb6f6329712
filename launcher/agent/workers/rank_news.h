// Reports on the ranks of a host to the launcher: how each worker ended, with evidence of the reason (an error file,
// the kernel's count of processes that it killed for memory), and other faults.
#pragma once
#include <set>
#include <string>

#include "common/wire/messages.h"
#include "launcher/agent/workers/attempt_deps.h"
#include "launcher/agent/workers/worker.h"

namespace sml::agent {

class RankNews {
 public:
  // `deps` outlives this.
  explicit RankNews(const AttemptDeps& deps) : deps_(deps) {}

  // Sends a worker's pending report, if it has one.
  void report(Worker& worker);
  // To be called when all have ended: warns of processes that the kernel has killed for lack of memory, if no rank's
  // failure came with that evidence.
  void report_memory_kills() const;
  // Sends the fault, unless one of that rank was sent before: the first counts. Returns whether it was sent.
  bool report(wire::RankFault fault);
  // Reports an event that a state machine ignored, for debugging.
  void report_ignored(Rank rank, const std::string& what) const;
  void report_ignored(const std::string& what) const;

 private:
  void send_evidence(const Worker& worker) const;

  const AttemptDeps& deps_;
  std::set<Rank> faults_;  // ranks whose fault has been sent
};

}  // namespace sml::agent
