// Counts, from the replies of the hosts, how many workers had joined the others when an attempt ended. Pure.
#pragma once
#include <cstdint>
#include <set>

#include "common/core/strong.h"

namespace sml::attempt {

class JoinCount {
 public:
  // Call when the host has been asked how many of its ranks have joined.
  void ask(HostId host) { unanswered_.insert(host); }
  // The host's reply: `joined` ranks. The first host serves torch's store and counts all ranks that joined there; for
  // MPI each host counts its own. Ignores a host that was not asked.
  void add_reply(HostId host, std::uint64_t joined) {
    if (unanswered_.erase(host) == 0) return;
    joined_ += joined;
  }
  // The host will not reply.
  void gone(HostId host) { unanswered_.erase(host); }
  // Waits for no more replies.
  void give_up() { unanswered_.clear(); }

  // Whether no reply is missing.
  bool complete() const { return unanswered_.empty(); }
  bool any() const { return joined_ > 0; }
  bool all_of(std::uint32_t world_size) const { return joined_ >= world_size; }

 private:
  std::set<HostId> unanswered_;
  std::uint64_t joined_ = 0;
};

}  // namespace sml::attempt
