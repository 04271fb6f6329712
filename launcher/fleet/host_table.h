// The hosts of a fleet in their order: those that have workers in this attempt, rank 0's first, then the others.
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
  // Begins another attempt, in whose plan the hosts have these places, by HostId. No host has workers then.
  void begin_group(std::vector<HostIndex> places);
  HostIndex place_of(HostId id) const { return places_[id.value()]; }
  // Gives a host that the plan does not have, with the next id, a place behind all others. Returns false if the plan
  // has it.
  bool give_place(HostId id);

  // Returns null if the host has never been in the table.
  Host* find(HostId id);
  Host& of(HostId id) { return *find(id); }
  // Replaces the host with the same id, if there is one.
  Host& put(Host host);
  // Moves the host behind the last one with workers: it has workers, too.
  void make_member(Host& host);
  bool is_member(const Host& host) const { return host.position < members_; }

  std::span<Host> all() { return hosts_; }
  std::span<const Host> all() const { return hosts_; }
  std::span<Host> members() { return std::span(hosts_).first(members_); }
  std::span<const Host> members() const { return std::span(hosts_).first(members_); }
  std::span<Host> others() { return std::span(hosts_).subspan(members_); }
  void clear();

 private:
  std::vector<Host> hosts_;                            // those with workers first
  std::size_t members_ = 0;                            // number of hosts with workers
  std::vector<HostIndex> places_;                      // by HostId
  std::vector<std::optional<std::size_t>> positions_;  // by HostId; nullopt: never in the table
};

}  // namespace sml::fleet
