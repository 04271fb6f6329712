// Setters of option_values.h for the placement and binding of a host's workers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "launcher/dialects/dialect.h"
#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

namespace {

using plan::BindTo;
using std::string_view;

constexpr Choice<BindTo> kUnits[] = {{"none", BindTo::None},     {"hwthread", BindTo::Hwthread}, {"core", BindTo::Core},
                                     {"l3", BindTo::L3},         {"l3cache", BindTo::L3},        {"numa", BindTo::Numa},
                                     {"socket", BindTo::Socket}, {"package", BindTo::Socket}};

// "0+2,1": of each worker of a host, in turn.
Result<std::vector<std::string>> core_lists(string_view text) {
  std::vector<std::string> out;
  for (const string_view one : split(text, ',')) {
    std::string cores(one);
    std::replace(cores.begin(), cores.end(), '+', ',');
    if (!plan::parse_cpu_list(cores)) return bad_value(text, "cores of each worker after user:, such as 0+2,1+3");
    out.push_back(std::move(cores));
  }
  return out;
}

}  // namespace

// As in Open MPI, workers mapped to parts are bound to these, and workers with PE cores to their cores, unless
// --bind-to overrides that.
Result<void> set_map_by(Options& o, string_view value) {
  const Result<plan::MapByText> parsed = plan::parse_map_by(value);
  if (!parsed) return parsed.error();
  o.map_by_said = SetByUser::Yes;
  o.layout.map_by = parsed->map_by;
  o.binding.map_by = parsed->part;
  o.binding.per_part = parsed->per_part.value_or(0);
  if (parsed->per_host) o.layout.per_host = parsed->per_host;
  if (parsed->oversubscribe) o.layout.oversubscribe = *parsed->oversubscribe;
  BindTo bind_to = parsed->per_part ? BindTo::None : parsed->part;
  if (parsed->cores_per_rank) {
    o.binding.cores_per_rank = *parsed->cores_per_rank;
    bind_to = BindTo::Core;
  }
  if (o.bind_to_set == SetByUser::No) o.binding.bind_to = bind_to;
  return {};
}

Result<void> set_bind_to(Options& o, string_view value) {
  constexpr string_view kIfSupported = ":if-supported";  // Open MPI's suffix for the behaviour that is the default here
  const string_view word = value.ends_with(kIfSupported) ? value.substr(0, value.size() - kIfSupported.size()) : value;
  constexpr string_view kUser = "user:";
  if (word.starts_with(kUser)) {
    Result<std::vector<std::string>> lists = core_lists(word.substr(kUser.size()));
    if (!lists) return lists.error();
    o.bind_lists = std::move(*lists);
  } else {
    o.bind_lists.clear();
  }
  const bool rule = word == "openmpi";
  const Result<BindTo> unit = one_of<kUnits>(word);
  if (!rule && o.bind_lists.empty() && !unit) {
    Error bad = bad_value(value, "none, hwthread, core, l3, numa, socket, user:LIST or openmpi");
    return dialects::asks_for_overload(value) ? std::move(bad).with_hint(std::string(dialects::kNoOverload)) : bad;
  }
  o.bind_rule = rule ? BindRule::OpenMpi : o.bind_rule;
  o.bind_to_set = rule ? SetByUser::No : SetByUser::Yes;
  o.binding.bind_to = unit ? *unit : BindTo::None;
  return {};
}

Result<void> set_cpu_set(Options& o, string_view value) {
  std::optional<plan::CpuSet> cores = plan::parse_cpu_list(value);
  if (!cores || cores->empty()) return bad_value(value, "a list of cores such as 0-3,8");
  o.binding.cores = std::move(*cores);
  return {};
}

}  // namespace sml
