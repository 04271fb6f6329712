#include "launcher/fleet/host_table.h"

#include <algorithm>
#include <utility>

namespace sml::fleet {

void HostTable::begin_group(std::vector<HostIndex> places) {
  places_ = std::move(places);
  hosts_.reserve(places_.size());  // so that references to the plan's hosts stay valid when more hosts come
  members_ = 0;
  for (Host& host : hosts_) host.index = place_of(host.id);
}

bool HostTable::give_place(HostId id) {
  if (id.value() < places_.size()) return false;
  places_.emplace_back(static_cast<std::uint32_t>(places_.size()));
  return true;
}

Host* HostTable::find(HostId id) {
  return id.value() < positions_.size() && positions_[id.value()] ? &hosts_[*positions_[id.value()]] : nullptr;
}

Host& HostTable::put(Host host) {
  host.index = place_of(host.id);
  if (Host* known = find(host.id)) {
    *known = std::move(host);
    return *known;
  }
  positions_.resize(std::max<std::size_t>(positions_.size(), host.id.value() + 1));
  positions_[host.id.value()] = hosts_.size();
  return hosts_.emplace_back(std::move(host));
}

void HostTable::make_member(Host& host) {
  Host& place = hosts_[members_++];
  if (&host == &place) return;
  std::swap(host, place);
  std::swap(positions_[host.id.value()], positions_[place.id.value()]);
}

void HostTable::clear() {
  hosts_.clear();
  positions_.clear();
  members_ = 0;
}

}  // namespace sml::fleet
