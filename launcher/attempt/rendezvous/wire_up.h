// Carries the data of one attempt's PMI and PMIx services between hosts: collects fence data and sends it to all hosts,
// and relays messages from one host to another. It does not interpret the contents.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"
#include "common/wire/messages.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

// The fences that some hosts have not completed. Pure. AgentProtocolValidator has checked the messages, so that this
// keeps at most wire::kMaxFenceOfHost bytes per host.
class FenceTable {
 public:
  // `map` outlives this.
  explicit FenceTable(const plan::JobMap& map) : map_(map) {}

  struct Complete {
    std::vector<HostIndex> hosts;  // in host order; each gets the message
    wire::Fenced message;
  };
  // Adds a piece of a host's data; a fence begins with its first piece. Returns nullopt while data of this or another
  // host is missing. Errors: Protocol for data that the service on a host would not send; Io if all hosts together send
  // more than wire::kMaxFence.
  Result<std::optional<Complete>> add(HostIndex from, wire::FenceData data);

 private:
  struct OfHost {
    std::string bytes;
    bool done = false;  // its last piece has come
  };
  struct Fence {
    std::vector<Rank> ranks;
    std::map<HostIndex, OfHost> hosts;  // that take part
    std::size_t to_come = 0;            // number of these hosts that have not completed
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

  // Returns true once for each host: when `data` is the last piece that it sends to its first fence of all members.
  // Records that, so call it once for each message.
  bool is_first_fence(const fleet::Host& host, const wire::FenceData& data) {
    return data.piece == wire::Piece::Last && data.ranks.empty() && have_come_.insert(host.id).second;
  }
  // Adds the data to its fence, and sends all hosts of the fence the result if it is complete. Errors: those of
  // FenceTable::add().
  Result<void> take(const fleet::Host& host, wire::FenceData data);
  // Sends the message to the agent of the rank that it is for. Ignores a message to a nonexistent rank.
  void hand_on(const wire::Relay& relay) {
    if (relay.to.value() < map_.world_size()) fleet_.send(map_.ranks[relay.to.value()].host, relay);
  }

 private:
  fleet::Fleet& fleet_;
  const plan::JobMap& map_;
  FenceTable fences_;
  std::set<HostId> have_come_;  // to a fence of all members
};

}  // namespace sml::attempt
