// The file of horovodrun's --config-file (runner/common/util/config_parser.py of Horovod 0.28): of YAML what such files
// need, which is sections of "key: value".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/dialects/dialect.h"

namespace sml::dialects {

namespace {

using std::string_view;

struct Key {
  string_view section;
  string_view name;
  string_view option;      // takes the value; of a switch: for true
  string_view when_false;  // of a switch
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

// Without a comment, which begins the line or follows a space, and is no part of a quoted value.
string_view without_comment(string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

struct Entry {
  bool indented = false;
  string_view key;
  string_view value;  // without quotes
};

// Nothing for what is no "key: value" of plain values: lists, aliases, values of several lines.
std::optional<Entry> entry_of(string_view line) {
  const bool indented = line.front() == ' ';
  const string_view text = trim(line);
  const std::size_t colon = text.find(':');
  if (line.front() == '\t' || colon == string_view::npos) return std::nullopt;
  if (colon + 1 < text.size() && text[colon + 1] != ' ') return std::nullopt;
  string_view value = trim(text.substr(colon + 1));
  constexpr string_view kOtherYaml = "[{&*|>!%@`-";
  const bool negative = value.size() > 1 && value[0] == '-' && value[1] >= '0' && value[1] <= '9';
  if (!value.empty() && !negative && kOtherYaml.find(value.front()) != string_view::npos) return std::nullopt;
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'');
  if (quoted && (value.back() != value.front() || value.find('\\') != string_view::npos)) return std::nullopt;
  if (quoted) value = value.substr(1, value.size() - 2);
  return Entry{indented, trim(text.substr(0, colon)), value};
}

// YAML 1.1, as Horovod reads it.
std::optional<bool> truth(string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

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

const Key* key_of(string_view section, const Entry& entry) {
  if (!entry.indented) return nullptr;
  const auto* found = std::find_if(kKeys.begin(), kKeys.end(),
                                   [&](const Key& key) { return key.section == section && key.name == entry.key; });
  return found == kKeys.end() ? nullptr : found;
}

bool says_nothing(string_view value) { return value.empty() || value == "~" || lower(value) == "null"; }

}  // namespace

Result<std::vector<OfVariable>> options_of_horovod_config(string_view text, string_view path) {
  std::vector<OfVariable> out;
  string_view section;
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const string_view line = without_comment(text.substr(at, end - at));
    at = end + 1;
    std::string where = fmt::format("{}:{}", show(path), ++number);
    if (trim(line).empty() || trim(line) == "---") continue;
    const std::optional<Entry> entry = entry_of(line);
    if (!entry) {
      return Error(ErrorKind::Config, where + ": is no line of the form \"key: value\", one value each, that is known");
    }
    if (!entry->indented) section = entry->key;
    const bool controls = section == "controller" && !entry->indented;
    const Key* known = key_of(section, *entry);
    if ((!controls && known == nullptr) || says_nothing(entry->value)) continue;
    Result<std::vector<std::string>> words =
        controls ? words_of_controller(entry->value) : words_of(*known, entry->value);
    if (!words) return Error(words.error()).in(where);
    out.push_back({std::move(where), std::move(*words)});
  }
  return out;
}

}  // namespace sml::dialects
