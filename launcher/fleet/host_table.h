// The hosts of a fleet in their order: first the members, which have workers in this attempt, rank 0's host first of
// all; then the others. A reference to a host is one to its position: after make_member() it may refer to another host,
// and put() invalidates it once the table has more hosts than begin_group() had places.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/core/strong.h"
#include "launcher/fleet/host.h"

namespace sml::fleet {

class HostTable {
 public:
  // Begins another attempt. `places`: each host's index in its plan, by HostId. No host is a member then.
  void begin_group(std::vector<HostIndex> places);
  HostIndex place_of(HostId id) const { return places_[id.value()]; }
  // Gives a host that is not in the plan, and has the next id, an index behind all others. Returns false, and does
  // nothing, if the host is in the plan.
  bool give_place(HostId id);

  // Returns null if the host has never been in the table.
  Host* find(HostId id);
  // The host must be in the table.
  Host& of(HostId id) { return *find(id); }
  // Adds the host, not as a member; or replaces the host with the same id, at its position.
  Host& put(Host host);
  // Makes the host the last member: swaps it with the host at that position. Call for a host that is no member.
  void make_member(Host& host);
  bool is_member(const Host& host) const { return *positions_[host.id.value()] < members_; }

  std::span<Host> all() { return hosts_; }
  std::span<const Host> all() const { return hosts_; }
  std::span<Host> members() { return std::span(hosts_).first(members_); }
  std::span<const Host> members() const { return std::span(hosts_).first(members_); }
  std::span<Host> others() { return std::span(hosts_).subspan(members_); }
  // Removes all hosts; keeps the places.
  void clear();

 private:
  std::vector<Host> hosts_;                            // members first
  std::size_t members_ = 0;                            // number of members
  std::vector<HostIndex> places_;                      // by HostId
  std::vector<std::optional<std::size_t>> positions_;  // in hosts_, by HostId; nullopt: never in the table
};

}  // namespace sml::fleet
