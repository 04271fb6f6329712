#include "launcher/run/restarts/host_pool.h"

#include <algorithm>
#include <utility>

namespace sml::run {

namespace {

std::uint32_t slots_of_first(const plan::JobMap& map) { return map.hosts.empty() ? 1 : map.hosts.front().slots; }

}  // namespace

HostPool::HostPool(const plan::JobMap& map, std::optional<std::uint32_t> slots, TimePoint now)
    : known_(map.hosts.size()), slots_(slots.value_or(slots_of_first(map))), changed_(now) {
  for (const plan::MappedHost& host : map.hosts) {
    Known& known = known_[host.id.value()];
    known.host = host;
    known.host.ranks.clear();
  }
}

HostPool::Known* HostPool::find(const std::string& name) {
  const auto has_it = [&name](const Known& known) { return known.host.host.name == name; };
  const auto known = std::find_if(known_.begin(), known_.end(), has_it);
  return known == known_.end() ? nullptr : &*known;
}

// A host that was lost while it was not listed is connected to immediately.
void HostPool::note_listed(Known& known, const plan::Host& host, News& news, TimePoint now) {
  if (!std::exchange(known.is_listed, true)) {
    news.back.push_back(host.name);
    if (known.again) known.again = now;
    known.pause = kAgain;
  }
  const std::uint32_t slots = host.slots.value_or(known.host.slots);
  if (slots == known.host.slots || slots == std::exchange(known.slots_said, slots)) return;
  news.resized.push_back(host.name + " is listed with " + std::to_string(slots) + (slots == 1 ? " slot" : " slots") +
                         " now; it keeps the " + std::to_string(known.host.slots) + " that it had");
}

plan::MappedHost HostPool::add(const plan::Host& host) {
  plan::MappedHost fresh{.host = host, .slots = host.slots.value_or(slots_), .ranks = {}};
  fresh.host.slots = fresh.slots;
  fresh.id = HostId(static_cast<std::uint32_t>(known_.size()));
  fresh.duty = plan::HostDuty::Spare;
  known_.push_back({.host = fresh});
  newcomers_.push_back(fresh);
  return fresh;
}

HostPool::News HostPool::listed(const std::vector<plan::Host>& hosts, const std::vector<HostId>& lost, MayConnect may,
                                TimePoint now) {
  News news;
  for (Known& known : known_) {
    const bool is_lost = std::find(lost.begin(), lost.end(), known.host.id) != lost.end();
    if (!is_lost) known.again.reset();
    if (is_lost && !known.again) known.again = now + known.pause;
  }
  for (const plan::Host& host : hosts) {
    if (Known* known = find(host.name)) {
      note_listed(*known, host, news, now);
    } else if (may == MayConnect::All && host.slots.value_or(slots_) > 0) {
      news.added.push_back(add(host));
      news.come.push_back(host.name);
    }
  }
  for (Known& known : known_) {
    const auto is_it = [&known](const plan::Host& host) { return host.name == known.host.host.name; };
    const bool is_listed = std::any_of(hosts.begin(), hosts.end(), is_it);
    if (!is_listed && std::exchange(known.is_listed, false)) news.withdrawn.push_back(known.host.host.name);
    if (!is_listed || may == MayConnect::Nobody || !known.again || *known.again > now) continue;
    news.added.push_back(known.host);
    known.again.reset();
    known.pause = std::min(known.pause * 2, kLongest);
  }
  if (!news.come.empty() || !news.back.empty() || !news.withdrawn.empty()) changed_ = now;
  return news;
}

bool HostPool::lists_only(const std::vector<HostId>& hosts) const {
  return std::all_of(known_.begin(), known_.end(), [&](const Known& known) {
    return !known.is_listed || std::find(hosts.begin(), hosts.end(), known.host.id) != hosts.end();
  });
}

std::vector<HostId> HostPool::withdrawn() const {
  std::vector<HostId> out;
  for (const Known& known : known_) {
    if (!known.is_listed) out.push_back(known.host.id);
  }
  return out;
}

}  // namespace sml::run
