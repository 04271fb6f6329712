// Hosts of a Flux instance (flux batch, flux alloc). The environment has no list of hosts; the output of "flux resource
// R" has one.
#include "launcher/hosts/batch/flux.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/batch/slurm.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/json_text.h"

namespace sml::hosts {

namespace {

using Json = nlohmann::json;

// Parses "0-3,7" into numbers below `limit`; empty if the text is no such set.
std::vector<std::size_t> parse_idset(std::string_view text, std::size_t limit) {
  std::vector<std::size_t> out;
  while (!text.empty()) {
    const std::string_view range = take_until(text, ',');
    const std::size_t dash = range.find('-');
    const auto first = whole_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= limit || out.size() + (*last - *first) >= limit) return {};
    for (std::uint64_t n = *first; n <= *last; ++n) out.push_back(static_cast<std::size_t>(n));
  }
  return out;
}

// The text at a path of keys; empty if there is none.
std::string text_at(const Json& object, const char* outer, const char* inner) {
  if (!object.is_object()) return {};
  const auto found = object.find(outer);
  if (found == object.end()) return {};
  if (inner != nullptr) return text_at(*found, inner, nullptr);
  return found->is_string() ? found->get<std::string>() : std::string();
}

std::size_t slots_of(const Json& group) {
  const std::size_t gpus = parse_idset(text_at(group, "children", "gpu"), plan::kMaxSlotsPerHost).size();
  return gpus > 0 ? gpus : parse_idset(text_at(group, "children", "core"), plan::kMaxSlotsPerHost).size();
}

// The value at /execution/KEY; null if it is no array.
Json execution(const Json& root, const char* key) {
  const auto found = root.is_object() ? root.find("execution") : root.end();
  if (found == root.end() || !found->is_object()) return {};
  const auto value = found->find(key);
  return value == found->end() || !value->is_array() ? Json() : *value;
}

}  // namespace

Result<plan::HostList> parse_flux_resources(std::string_view text, std::string_view source) {
  const Result<Json> root = parse_json(text, source);
  if (!root) return root.error();
  plan::HostList list{{}, std::string(source), plan::SlotsAre::Capacity};
  for (const Json& item : execution(*root, "nodelist")) {
    const Result<std::vector<std::string>> names =
        expand_slurm_hostlist(item.is_string() ? item.get<std::string>() : "");
    if (!names) return Error(names.error()).in(source);
    if (list.hosts.size() + names->size() > plan::kMaxHosts) return file_error(source, "names too many hosts");
    for (const std::string& name : *names) list.hosts.push_back({name, {}, 0});
  }
  if (list.hosts.empty()) return file_error(source, "has no execution.nodelist; expected Flux's resource set R");
  for (const Json& group : execution(*root, "R_lite")) {
    const auto slots = static_cast<std::uint32_t>(slots_of(group));
    for (const std::size_t rank : parse_idset(text_at(group, "rank", nullptr), list.hosts.size())) {
      list.hosts[rank].slots = slots;
    }
  }
  return list;
}

FoundHosts flux_hosts(const SourceContext& s) {
  if (!s.variable("FLUX_URI")) return std::optional<plan::HostList>();
  const auto tasks = s.variable("FLUX_JOB_SIZE");
  if (s.variable("FLUX_TASK_RANK") && tasks && *tasks != "1") {
    return Error(ErrorKind::Usage,
                 fmt::format("flux run has started sml-run {} times; start it once, from flux batch or flux alloc",
                             show(*tasks, 20)))
        .with_hint("--host-source local runs a job of its own in each task");
  }
  const std::string text = s.output_of({"flux", "resource", "R"});
  if (text.empty()) return Error(ErrorKind::Config, "flux resource R: printed nothing; name the hosts with --hosts");
  Result<plan::HostList> hosts = parse_flux_resources(text, "flux resource R");
  if (!hosts) return hosts.error();
  return std::optional(std::move(*hosts));
}

}  // namespace sml::hosts
