// What the services of one attempt say to each other from host to host: fences, whose data is collected here and goes
// to all hosts, and words from one host to another. Reads nothing of it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"
#include "common/wire/messages.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

// The fences that are not over. Pure. Who says what has been judged by AgentConduct, so that of each host no more is
// kept than wire::kMaxFenceOfHost.
class FenceTable {
 public:
  // `map` outlives this.
  explicit FenceTable(const plan::JobMap& map) : map_(map) {}

  struct Complete {
    std::vector<HostIndex> hosts;  // in host order; each gets the message
    wire::Fenced message;
  };
  // Nothing: others are to come. Errors: Protocol for what the service on a host would not say; Io where all hosts
  // together bring more than wire::kMaxFence.
  Result<std::optional<Complete>> add(HostIndex from, wire::FenceData data);

 private:
  struct OfHost {
    std::string bytes;
    bool done = false;
  };
  struct Fence {
    std::vector<Rank> ranks;
    std::map<HostIndex, OfHost> hosts;  // that take part
    std::size_t to_come = 0;            // of these
    std::size_t size = 0;               // bytes of all
  };
  Fence begin(std::vector<Rank> ranks) const;

  const plan::JobMap& map_;
  std::map<std::pair<wire::WireUp, std::string>, Fence> fences_;
};

class WireUp {
 public:
  // Both outlive this.
  WireUp(fleet::Fleet& fleet, const plan::JobMap& map) : fleet_(fleet), map_(map), fences_(map) {}

  // Errors: as of FenceTable::add(), and Protocol for ranks that there are not.
  Result<void> take(const fleet::Host& host, wire::FenceData data);
  // Nothing for a rank that there is not.
  void hand_on(const wire::Relay& relay) {
    if (relay.to.value() < map_.world_size()) fleet_.tell(map_.ranks[relay.to.value()].host, relay);
  }

 private:
  fleet::Fleet& fleet_;
  const plan::JobMap& map_;
  FenceTable fences_;
};

}  // namespace sml::attempt
