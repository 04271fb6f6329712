#include "launcher/hosts/aliases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

// Adds the slots of `other` to `first`; the union of their numbers if slots of either were chosen by number.
void unite_slot_numbers(plan::Host& first, const plan::Host& other) {
  if (first.slot_numbers.empty() && other.slot_numbers.empty()) {
    first.slots = first.slots.value_or(0) + other.slots.value_or(0);
    return;
  }
  std::set<std::uint32_t> all;
  for (const plan::Host* host : std::array<const plan::Host*, 2>{&first, &other}) {
    all.insert(host->slot_numbers.begin(), host->slot_numbers.end());
    for (std::uint32_t i = 0; host->slot_numbers.empty() && i < host->slots.value_or(0); ++i) all.insert(i);
  }
  first.slot_numbers.assign(all.begin(), all.end());
  first.slots = static_cast<std::uint32_t>(all.size());
}

}  // namespace

Result<std::vector<std::string>> merge_aliases(std::vector<plan::Host>& hosts, std::span<const std::string> own_names) {
  std::set<std::string> own;
  for (const std::string& name : own_names) own.insert(lower(name));
  const auto is_own = [&](const plan::Host& host) {
    return host.user.empty() && !host.port && own.count(lower(host.name)) > 0;
  };
  std::vector<std::string> warnings;
  const auto first = std::find_if(hosts.begin(), hosts.end(), is_own);
  if (first == hosts.end()) return warnings;
  std::uint32_t slots = first->slots.value_or(0);
  for (auto it = first + 1; it != hosts.end();) {
    if (!is_own(*it)) {
      ++it;
      continue;
    }
    slots += it->slots.value_or(0);
    if (slots > plan::kMaxSlotsPerHost) {
      return Error(ErrorKind::Usage, fmt::format("{} and {} are this machine, and bring it to {} slots; a host has at "
                                                 "most {}",
                                                 first->name, it->name, slots, plan::kMaxSlotsPerHost));
    }
    warnings.push_back(
        fmt::format("{} is this machine, as {} is: one host with the slots of both", it->name, first->name));
    it = hosts.erase(it);
  }
  first->slots = slots;
  return warnings;
}

std::vector<MachineNames> find_machines(std::span<const SeenHost> hosts) {
  using Key = std::tuple<std::string_view, std::string_view, std::optional<std::uint16_t>>;
  std::map<Key, std::size_t> known;
  std::vector<MachineNames> machines;
  for (const SeenHost& seen : hosts) {
    if (seen.machine.empty()) continue;
    const auto [at, fresh] = known.emplace(Key(seen.machine, seen.host.user, seen.host.port), machines.size());
    if (fresh) machines.emplace_back();
    machines[at->second].push_back(seen.host.name);
  }
  std::erase_if(machines, [](const MachineNames& names) { return names.size() < 2; });
  return machines;
}

void add_machines(std::vector<MachineNames>& known, std::vector<MachineNames> found) {
  for (MachineNames& names : found) {
    for (MachineNames& earlier : known) {
      if (std::find(names.begin(), names.end(), earlier.front()) == names.end()) continue;
      names.insert(names.end(), earlier.begin() + 1, earlier.end());
      earlier.clear();
    }
    std::erase_if(known, [](const MachineNames& earlier) { return earlier.empty(); });
    known.push_back(std::move(names));
  }
}

const std::string& name_of_machine(const std::string& name, std::span<const MachineNames> machines) {
  for (const MachineNames& names : machines) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return names.front();
  }
  return name;
}

Result<std::vector<std::string>> merge_machines(std::vector<plan::Host>& hosts,
                                                std::span<const MachineNames> machines) {
  std::vector<std::string> warnings;
  if (machines.empty()) return warnings;
  std::vector<plan::Host> merged;
  std::vector<std::string> listed_as;  // by host of `merged`
  for (plan::Host& host : hosts) {
    const std::string name = name_of_machine(host.name, machines);
    const auto first =
        std::find_if(merged.begin(), merged.end(), [&](const plan::Host& known) { return known.name == name; });
    if (first == merged.end()) {
      listed_as.push_back(host.name);
      merged.push_back(std::move(host));
      merged.back().name = name;
      continue;
    }
    const std::string& known_as = listed_as[static_cast<std::size_t>(first - merged.begin())];
    unite_slot_numbers(*first, host);
    if (*first->slots > plan::kMaxSlotsPerHost) {
      return Error(ErrorKind::Usage, fmt::format("{} and {} are one machine, with {} slots; a host has at most {}",
                                                 known_as, host.name, *first->slots, plan::kMaxSlotsPerHost));
    }
    warnings.push_back(
        fmt::format("{} is the same machine as {}: one host with the slots of both", host.name, known_as));
  }
  hosts = std::move(merged);
  return warnings;
}

}  // namespace sml::hosts
