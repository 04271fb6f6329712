// What the launcher is told of the ranks of a host: how each worker ended, with what may say why, and what else was
// wrong with it. Each thing once.
#pragma once
#include <set>
#include <string>

#include "common/wire/messages.h"
#include "launcher/agent/attempt_surroundings.h"
#include "launcher/agent/worker.h"

namespace sml::agent {

class RankNews {
 public:
  explicit RankNews(const AttemptSurroundings& around) : around_(around) {}

  // What a worker has to report, if anything.
  void tell(Worker& worker);
  // False: another fault of that rank has been told before, and counts.
  bool tell(wire::RankFault fault);
  // What a machine did not expect; for those who debug.
  void tell_ignored(Rank rank, const std::string& what) const;
  void tell_ignored(const std::string& what) const;

 private:
  void tell_evidence(const Worker& worker) const;

  const AttemptSurroundings& around_;
  std::set<Rank> faults_;  // told
};

}  // namespace sml::agent
