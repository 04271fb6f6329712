// Reports on the ranks of a host to the launcher: how each worker ended, with evidence of the reason, and other faults.
// Reports each of these once.
#pragma once
#include <set>
#include <string>

#include "common/wire/messages.h"
#include "launcher/agent/workers/attempt_surroundings.h"
#include "launcher/agent/workers/worker.h"

namespace sml::agent {

class RankNews {
 public:
  explicit RankNews(const AttemptSurroundings& around) : around_(around) {}

  // Sends a worker's pending report, if it has one.
  void tell(Worker& worker);
  // Returns false if another fault of that rank has been sent before, which counts instead.
  bool tell(wire::RankFault fault);
  // Reports an event that a machine ignored, for debugging.
  void tell_ignored(Rank rank, const std::string& what) const;
  void tell_ignored(const std::string& what) const;

 private:
  void tell_evidence(const Worker& worker) const;

  const AttemptSurroundings& around_;
  std::set<Rank> faults_;  // ranks whose fault has been sent
};

}  // namespace sml::agent
