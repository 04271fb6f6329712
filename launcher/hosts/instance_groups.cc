#include "launcher/hosts/instance_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_expression.h"
#include "launcher/hosts/json_text.h"

namespace sml::hosts {

namespace {

using Json = nlohmann::json;

// The array at this key; nullptr for anything else.
const Json* array_of(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || !found->is_array() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

Result<InstanceGroup> read_group(const Json& item, std::size_t index, std::string_view path) {
  const std::string what = fmt::format("\"instance_groups\"[{}]", index);
  InstanceGroup group{text_of(item, "instance_group_name"), {}};
  if (group.name.empty()) return file_error(path, what + " has no \"instance_group_name\"; expected a name");
  const Json* hosts = array_of(item, "hosts");
  if (hosts == nullptr) return file_error(path, what + " has no \"hosts\"; expected an array of host names");
  for (const Json& host : *hosts) {
    if (!host.is_string()) return file_error(path, what + " has a host that is no string");
    group.hosts.push_back(host.get<std::string>());
  }
  return group;
}

Error unknown_group(std::string_view name, const std::vector<InstanceGroup>& groups) {
  std::vector<std::string> names;
  for (const InstanceGroup& group : groups) names.push_back(group.name);
  return Error(ErrorKind::Usage, names.empty()
                                     ? fmt::format("\"{}\": the file has no instance groups", show(name, 80))
                                     : fmt::format("\"{}\" is no instance group; the file has {}", show(name, 80),
                                                   show(fmt::format("{}", fmt::join(names, ", ")))));
}

using SlotsOfHosts = std::unordered_map<std::string_view, std::optional<std::uint32_t>>;

Result<void> add_group(std::string_view word, const std::vector<InstanceGroup>& groups, SlotsOfHosts& chosen) {
  const std::size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  if (name.empty()) return Error(ErrorKind::Usage, "an instance group has no name; expected NAME[:SLOTS],...");
  std::optional<std::uint32_t> slots;
  if (colon != std::string_view::npos) {
    const Result<std::uint32_t> parsed = parse_slots(word.substr(colon + 1), ":");
    if (!parsed) return Error(ErrorKind::Usage, fmt::format("\"{}\" {}", show(word, 80), parsed.error().message()));
    slots = *parsed;
  }
  const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.name == name; });
  if (group == groups.end()) return unknown_group(name, groups);
  for (const std::string& host : group->hosts) chosen.emplace(host, slots);
  return {};
}

}  // namespace

Result<std::vector<InstanceGroup>> parse_instance_groups(std::string_view text, std::string_view path) {
  const Result<Json> root = parse_json(text, path);
  if (!root) return root.error();
  std::vector<InstanceGroup> groups;
  const Json* list = array_of(*root, "instance_groups");
  if (list == nullptr) return groups;
  for (const Json& item : *list) {
    Result<InstanceGroup> group = read_group(item, groups.size(), path);
    if (!group) return group.error();
    groups.push_back(std::move(*group));
  }
  return groups;
}

Result<std::vector<plan::Host>> hosts_of_groups(const std::vector<plan::Host>& hosts,
                                                const std::vector<InstanceGroup>& groups, std::string_view wanted) {
  SlotsOfHosts chosen;
  for (const std::string_view word : split(wanted, ',')) {
    if (Result<void> added = add_group(trim(word), groups, chosen); !added) return added.error();
  }
  std::vector<plan::Host> out;
  for (const plan::Host& host : hosts) {
    const auto found = chosen.find(host.name);
    if (found == chosen.end()) continue;
    out.push_back(host);
    if (found->second) out.back().slots = found->second;
  }
  if (out.empty()) return Error(ErrorKind::Usage, "the instance groups that are named have no host of the job");
  return out;
}

void keep_domains_together(std::vector<plan::Host>& hosts, std::string_view text, std::string_view path) {
  const Result<Json> root = parse_json(text, path);
  const Json* topology = root ? array_of(*root, "topology") : nullptr;
  if (topology == nullptr) return;
  std::unordered_map<std::string, std::string> domains;  // by host
  for (const Json& item : *topology) domains.emplace(text_of(item, "hostName"), text_of(item, "capacityUnitId"));
  std::unordered_map<std::string, std::size_t> places;  // of domains: the index of their first host
  std::vector<std::pair<std::size_t, plan::Host>> placed;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto domain = domains.find(hosts[i].name);
    const bool alone = domain == domains.end() || domain->second.empty();
    const std::size_t place = alone ? i : places.emplace(domain->second, i).first->second;
    placed.emplace_back(place, std::move(hosts[i]));
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i] = std::move(placed[i].second);
}

}  // namespace sml::hosts
