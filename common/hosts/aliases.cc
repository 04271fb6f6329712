#include "common/hosts/aliases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/hosts/fields.h"

namespace sml::hosts {

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

}  // namespace sml::hosts
