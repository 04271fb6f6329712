// Whether all workers of an attempt had met when it ended, as the hosts say that are asked then. Pure.
#pragma once
#include <cstdint>
#include <set>

#include "common/core/strong.h"

namespace sml::attempt {

class JoinCount {
 public:
  void ask(HostIndex host) { unanswered_.insert(host); }
  // The first host serves torch's store and counts all who have joined there; of MPI each counts its own. Ignored of
  // who has not been asked.
  void says(HostIndex host, std::uint64_t joined) {
    if (unanswered_.erase(host) == 0) return;
    joined_ += joined;
  }
  // It will not answer.
  void gone(HostIndex host) { unanswered_.erase(host); }
  void give_up() { unanswered_.clear(); }

  bool complete() const { return unanswered_.empty(); }
  bool any() const { return joined_ > 0; }
  bool all_of(std::uint32_t world_size) const { return joined_ >= world_size; }

 private:
  std::set<HostIndex> unanswered_;
  std::uint64_t joined_ = 0;
};

}  // namespace sml::attempt
