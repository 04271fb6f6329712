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
  // Another attempt, in whose plan the hosts have these places, by HostId. Nobody has workers then.
  void begin_group(std::vector<HostIndex> places);
  HostIndex place_of(HostId id) const { return places_[id.value()]; }
  // One that the plan does not have, of the next id, is put behind all others. False: the plan has it.
  bool give_place(HostId id);

  // Null: it has never been here.
  Host* find(HostId id);
  Host& of(HostId id) { return *find(id); }
  // In the place of the one with that id, if there is one.
  Host& put(Host host);
  // It has workers: the next after those that have.
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
  std::size_t members_ = 0;                            // these
  std::vector<HostIndex> places_;                      // by HostId
  std::vector<std::optional<std::size_t>> positions_;  // by HostId; nothing: it has never been here
};

}  // namespace sml::fleet
