// Hosts of a Slurm job, from its environment alone. Source: the sections ENVIRONMENT of salloc(1), sbatch(1), srun(1).
#include "launcher/hosts/batch/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_collector.h"
#include "launcher/hosts/name_pattern.h"

namespace sml::hosts {

namespace {

// "8" or "8(x2)".
struct RepeatedCount {
  std::uint32_t count;
  std::size_t times;
};
std::optional<RepeatedCount> parse_count(std::string_view item) {
  const std::size_t bracket = std::min(item.find('('), item.size());
  const std::optional<std::uint64_t> count = whole_number(item.substr(0, bracket));
  std::string_view repeat = item.substr(bracket);
  if (!count || *count > plan::kMaxSlotsPerHost) return std::nullopt;
  if (repeat.empty()) return RepeatedCount{static_cast<std::uint32_t>(*count), 1};
  if (!repeat.starts_with("(x") || !repeat.ends_with(')')) return std::nullopt;
  const std::optional<std::uint64_t> times = whole_number(repeat.substr(2, repeat.size() - 3));
  if (!times) return std::nullopt;
  return RepeatedCount{static_cast<std::uint32_t>(*count), static_cast<std::size_t>(*times)};
}

// True if srun started sml-run once for each of several tasks: each of them would start a whole job.
bool one_of_many_tasks(const SourceContext& s) {
  const auto tasks = s.variable("SLURM_STEP_NUM_TASKS");
  return s.variable("SLURM_PROCID") && tasks && whole_number(*tasks).value_or(1) > 1;
}

// In a step created by srun, SLURM_TASKS_PER_NODE and SLURM_NTASKS describe the step, not the job. The interactive step
// that salloc creates is an exception.
bool tasks_are_of_a_step(const SourceContext& s) {
  constexpr std::string_view kInteractiveStep = "4294967290";
  const auto step_tasks = s.variable("SLURM_STEP_TASKS_PER_NODE");
  return step_tasks && s.variable("SLURM_STEP_ID") != kInteractiveStep &&
         s.variable("SLURM_TASKS_PER_NODE") == step_tasks;
}

// Returns a remark if the job is heterogeneous: only the hosts of the first component are used, as srun does. Otherwise
// empty.
std::string other_components(const SourceContext& s, const std::string& list) {
  const std::uint64_t components = whole_number(s.variable("SLURM_HET_SIZE").value_or("")).value_or(1);
  std::string others;
  for (std::uint64_t i = 1; i < std::min<std::uint64_t>(components, 100); ++i) {
    const auto names = s.variable(fmt::format("SLURM_JOB_NODELIST_HET_GROUP_{}", i));
    if (names) others += (others.empty() ? "" : ",") + *names;
  }
  if (others.empty()) return {};
  return fmt::format(
      "this job of Slurm has {} components, and only the hosts of the first are used, from {}; --hosts "
      "takes those of the others too: {}",
      components, list, show(others));
}

// The number of GPUs per node: "4" or "a100:4" → 4.
std::optional<std::uint32_t> gpus_per_node(const SourceContext& s) {
  constexpr std::array<std::string_view, 2> kNames{"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"};
  const auto variable = first_set(s, kNames);
  if (!variable) return std::nullopt;
  const std::string_view text = variable->value;
  const std::size_t colon = text.rfind(':');
  const std::optional<std::uint64_t> gpus =
      whole_number(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!gpus || *gpus == 0 || *gpus > plan::kMaxSlotsPerHost) return std::nullopt;
  return static_cast<std::uint32_t>(*gpus);
}

struct Slots {
  std::vector<std::uint32_t> counts;  // of each node; empty: unknown
  plan::SlotsAre are = plan::SlotsAre::Asked;
};

Result<Slots> counts_of(const NamedValue& variable, std::size_t nodes, plan::SlotsAre are) {
  Result<std::vector<std::uint32_t>> counts = expand_slurm_counts(variable.value, nodes);
  if (!counts) return Error(counts.error()).in(variable.name);
  return Slots{std::move(*counts), are};
}

// The slots that the job asked for: its tasks, else its GPUs, else the CPUs of each node divided by those of a task.
Result<Slots> slots_of(const SourceContext& s, std::size_t nodes) {
  constexpr std::array<std::string_view, 2> kAsked{"SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"};
  const auto tasks = s.variable("SLURM_TASKS_PER_NODE");
  if (tasks && first_set(s, kAsked) && !tasks_are_of_a_step(s)) {
    return counts_of({"SLURM_TASKS_PER_NODE", *tasks}, nodes, plan::SlotsAre::Asked);
  }
  if (const auto gpus = gpus_per_node(s)) return Slots{std::vector(nodes, *gpus), plan::SlotsAre::Capacity};
  const auto cpus = s.variable("SLURM_JOB_CPUS_PER_NODE");
  if (!cpus) return Slots{};
  Result<Slots> slots = counts_of({"SLURM_JOB_CPUS_PER_NODE", *cpus}, nodes, plan::SlotsAre::Capacity);
  if (!slots) return slots;
  const auto of_task = whole_number(s.variable("SLURM_CPUS_PER_TASK").value_or("1")).value_or(1);
  const auto each = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(of_task, 1, plan::kMaxSlotsPerHost));
  for (std::uint32_t& count : slots->counts) count = std::max(1U, count / each);
  return slots;
}

Result<plan::HostList> collect(const std::vector<std::string>& names, const Slots& slots, const std::string& source) {
  HostCollector collector;
  for (std::size_t i = 0; i < names.size(); ++i) {
    plan::Host host{names[i], {}, std::nullopt};
    if (!slots.counts.empty()) host.slots = slots.counts[i];
    const Result<void> added = collector.add(std::move(host));
    if (!added) return config_error("{}: {}", source, added.error().message());
  }
  return plan::HostList{std::move(collector).take(), source, slots.are};
}

}  // namespace

Result<std::vector<std::string>> expand_slurm_hostlist(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = end_of_item(text, ", \t\r\n");
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (item.empty()) continue;
    Result<std::vector<std::string>> more =
        expand_name_pattern(item, PatternOrder::Slurm, plan::kMaxHosts - names.size());
    if (!more) return config_error("\"{}\" {}", show(item, 100), more.error().message());
    if (!std::all_of(more->begin(), more->end(), plan::valid_host_name)) {
      return config_error("\"{}\" is no host name", show(item, 100));
    }
    std::move(more->begin(), more->end(), std::back_inserter(names));
  }
  return names;
}

Result<std::vector<std::uint32_t>> expand_slurm_counts(std::string_view text, std::size_t hosts) {
  std::vector<std::uint32_t> counts;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::optional<RepeatedCount> item = parse_count(take_until(rest, ','));
    if (!item) return config_error("\"{}\" is no list of counts; expected one such as 8(x2),4", show(text, 100));
    if (item->times > hosts - counts.size()) {
      return config_error("\"{}\" counts for more than the {} hosts of the job", show(text, 100), hosts);
    }
    counts.insert(counts.end(), item->times, item->count);
  }
  if (counts.size() == hosts) return counts;
  return config_error("\"{}\" counts for {} of the {} hosts of the job", show(text, 100), counts.size(), hosts);
}

FoundHosts slurm_job_hosts(const SourceContext& s) {
  constexpr std::array<std::string_view, 2> kLists{"SLURM_JOB_NODELIST", "SLURM_NODELIST"};
  const auto list = first_set(s, kLists);
  if (!list) return std::optional<plan::HostList>();
  const Result<std::vector<std::string>> names = expand_slurm_hostlist(list->value);
  if (!names) return Error(names.error()).in(list->name);
  if (names->empty()) return config_error(list->name + ": names no host");
  const Result<Slots> slots = slots_of(s, names->size());
  if (!slots) return slots.error();
  Result<plan::HostList> hosts = collect(*names, *slots, list->name);
  if (!hosts) return hosts.error();
  hosts->remark = other_components(s, list->name);
  return std::optional(std::move(*hosts));
}

FoundHosts slurm_hosts(const SourceContext& s) {
  if (!one_of_many_tasks(s)) return slurm_job_hosts(s);
  return usage_error("srun has started sml-run {} times; start it once, from salloc or sbatch without srun",
                     s.variable("SLURM_STEP_NUM_TASKS").value_or(""))
      .with_hint("--host-source local runs a job of its own in each task");
}

}  // namespace sml::hosts
