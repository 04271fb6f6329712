// The file for --config-file of horovodrun (runner/common/util/config_parser.py of Horovod 0.28).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/dialects/config_lines.h"
#include "launcher/dialects/dialect.h"

namespace sml::dialects {

namespace {

using std::string_view;

struct Key {
  string_view section;
  string_view name;
  string_view option;      // receives the value; for a switch: used if true
  string_view when_false;  // for a switch: used if false
};
constexpr std::array kKeys{
    Key{"params", "fusion_threshold_mb", "--fusion-threshold-mb", ""},
    Key{"params", "cycle_time_ms", "--cycle-time-ms", ""},
    Key{"params", "cache_capacity", "--cache-capacity", ""},
    Key{"params", "hierarchical_allreduce", "--hierarchical-allreduce", "--no-hierarchical-allreduce"},
    Key{"params", "hierarchical_allgather", "--hierarchical-allgather", "--no-hierarchical-allgather"},
    Key{"params", "torus_allreduce", "--torus-allreduce", "--no-torus-allreduce"},
    Key{"autotune", "enabled", "--autotune", "--no-autotune"},
    Key{"autotune", "log_file", "--autotune-log-file", ""},
    Key{"autotune", "warmup_samples", "--autotune-warmup-samples", ""},
    Key{"autotune", "steps_per_sample", "--autotune-steps-per-sample", ""},
    Key{"autotune", "bayes_opt_max_samples", "--autotune-bayes-opt-max-samples", ""},
    Key{"autotune", "gaussian_process_noise", "--autotune-gaussian-process-noise", ""},
    Key{"timeline", "filename", "--timeline-filename", ""},
    Key{"timeline", "mark_cycles", "--timeline-mark-cycles", "--no-timeline-mark-cycles"},
    Key{"stall_check", "enabled", "--stall-check", "--no-stall-check"},
    Key{"stall_check", "warning_time_seconds", "--stall-check-warning-time-seconds", ""},
    Key{"stall_check", "shutdown_time_seconds", "--stall-check-shutdown-time-seconds", ""},
    Key{"library_options", "mpi_threads_disable", "--mpi-threads-disable", "--no-mpi-threads-disable"},
    Key{"library_options", "num_nccl_streams", "--num-nccl-streams", ""},
    Key{"library_options", "thread_affinity", "--thread-affinity", ""},
    Key{"library_options", "gloo_timeout_seconds", "--gloo-timeout-seconds", ""},
    Key{"logging", "level", "--log-level", ""},
    Key{"logging", "with_timestamp", "--log-with-timestamp", "--log-without-timestamp"},
};

Result<std::vector<std::string>> words_of(const Key& key, string_view value) {
  if (key.when_false.empty()) return std::vector<std::string>{fmt::format("{}={}", key.option, value)};
  const std::optional<bool> yes = truth(value);
  if (!yes) return Error(ErrorKind::Config, fmt::format("{}: \"{}\" is not true or false", key.name, show(value, 60)));
  return std::vector<std::string>{std::string(*yes ? key.option : key.when_false)};
}

Result<std::vector<std::string>> words_of_controller(string_view value) {
  const std::string controller = lower(value);
  if (controller == "gloo" || controller == "mpi") return std::vector<std::string>{"--" + controller};
  return Error(ErrorKind::Config, "controller: \"" + show(value, 60) + "\" is not gloo or mpi");
}

const Key* key_of(const ConfigLine& line) {
  const auto* found = std::find_if(kKeys.begin(), kKeys.end(),
                                   [&](const Key& key) { return key.section == line.section && key.name == line.key; });
  return found == kKeys.end() ? nullptr : found;
}

}  // namespace

Result<std::vector<SourcedOption>> options_of_horovod_config(string_view text, string_view path) {
  Result<std::vector<ConfigLine>> lines = config_lines(text, path);
  if (!lines) return lines.error();
  std::vector<SourcedOption> out;
  for (ConfigLine& line : *lines) {
    const bool controls = line.section.empty() && line.key == "controller";
    const Key* known = key_of(line);
    if (!controls && known == nullptr) continue;
    Result<std::vector<std::string>> words = controls ? words_of_controller(line.value) : words_of(*known, line.value);
    if (!words) return Error(words.error()).in(line.where);
    out.push_back({std::move(line.where), std::move(*words)});
  }
  return out;
}

}  // namespace sml::dialects
