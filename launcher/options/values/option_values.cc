#include "launcher/options/values/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <arpa/inet.h>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/plan/machine/host.h"
#include "launcher/options/values/host_source_names.h"
#include "launcher/options/values/value_reading.h"
#include "launcher/output/log_layout.h"
#include "launcher/plan/export_words.h"
#include "launcher/starters/starters.h"

namespace sml {

namespace {

using plan::PmiMode;
using std::string_view;

constexpr Choice<SlotsRule> kSlotsRules[] = {{"auto", SlotsRule::Auto},
                                             {"gpu", SlotsRule::Gpu},
                                             {"cpu", SlotsRule::Cpu},
                                             {"gpu-or-cpu", SlotsRule::GpuOrCpu},
                                             {"core", SlotsRule::Core}};
constexpr Choice<PmiMode> kPmiModes[] = {{"auto", PmiMode::Auto},
                                         {"pmi1", PmiMode::Pmi1},
                                         {"pmi2", PmiMode::Pmi2},
                                         {"pmix", PmiMode::Pmix},
                                         {"none", PmiMode::None}};

}  // namespace

Result<void> set_nproc_per_node(Options& o, string_view value) {
  o.nproc_said = SetByUser::Yes;
  o.nproc_per_node.reset();  // the last value wins, whichever form an earlier one had
  o.slots_rule = SlotsRule::Auto;
  if (const Result<SlotsRule> rule = one_of<kSlotsRules>(value); rule) return keep(o.slots_rule, *rule);
  return store(o.nproc_per_node,
               number(value, {1, plan::kMaxSlotsPerHost}, ", nor auto, gpu, cpu, gpu-or-cpu or core"));
}

Result<void> set_cpus_per_rank(Options& o, string_view value) {
  o.binding.share = value == "share" ? plan::CoreShare::Equal : plan::CoreShare::Counted;
  if (value == "share") return keep(o.binding.cores_per_rank, 0U);
  return store(o.binding.cores_per_rank, number(value, {1, plan::kMaxSlotsPerHost}));
}

Result<void> set_nnodes(Options& o, string_view value) {
  constexpr Bounds kHosts{1, static_cast<std::uint32_t>(plan::kMaxHosts)};
  const std::size_t colon = value.find(':');
  const Result<std::uint32_t> most = number(colon == value.npos ? value : value.substr(colon + 1), kHosts);
  if (!most) return most.error();
  o.dial_in.hosts = *most;
  o.dial_in.least.reset();
  if (colon == value.npos) return {};
  const Result<std::uint32_t> least = number(value.substr(0, colon), kHosts);
  if (!least) return least.error();
  if (*least > *most) return bad_value(value, "N, or MIN:MAX with MIN not above MAX");
  if (*least == *most) return {};
  o.dial_in.least = *least;
  o.restart.least.hosts = *least;
  return {};
}

Result<void> set_host_source(Options& o, string_view value) {
  const std::vector<string_view> names = host_source_names();
  if (std::find(names.begin(), names.end(), value) != names.end()) return keep(o.host_source, value);
  return bad_value(value, fmt::format("one of {}", fmt::join(names, ", ")));
}

Result<void> add_export_word(Options& o, string_view value) {
  if (Result<void> checked = plan::check_export_word(value); !checked) return checked;
  o.export_variables.emplace_back(value);
  return {};
}

Result<void> set_forward_signals(Options& o, string_view value) {
  constexpr int kForwardable[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGURG, SIGPWR};
  std::vector<int> signals;
  for (string_view rest = value == "none" ? "" : value; !rest.empty();) {
    const string_view word = take_until(rest, ',');
    const Result<int> signo = one_signal(word, kForwardable);
    if (!signo) {
      return bad_value(
          word, fmt::format("none, or a list of {}; INT and TERM always stop the job", signal_names(kForwardable)));
    }
    signals.push_back(*signo);
  }
  return keep(o.forward_signals, std::move(signals));
}

Result<void> set_checkpoint_signal(Options& o, string_view value) {
  constexpr Duration kLeastTime = std::chrono::milliseconds(100);
  string_view rest = value;
  const Result<int> signo = one_signal(take_until(rest, ','), kSignalsForWorkers);
  const Result<Duration> time = parse_duration(rest);
  if (!signo || !time || *time < kLeastTime) {
    return bad_value(value, "a signal and a time of 100 ms or more, such as USR1,120s; the signal is one of " +
                                signal_names(kSignalsForWorkers));
  }
  o.stop.checkpoint = CheckpointTime{*signo, *time};
  return {};
}

Result<void> set_stdin(Options& o, string_view value) {
  if (value == "none") return keep(o.stdin_rule, StdinRule::None);
  if (value == "all") return keep(o.stdin_rule, StdinRule::All);
  const Result<std::uint32_t> rank = number(value, {0, plan::kMaxWorldSize}, ", nor none or all");
  if (!rank) return rank.error();
  o.stdin_rank = Rank(*rank);
  return keep(o.stdin_rule, StdinRule::OneRank);
}

// The variable of a channel is the same for my-data and my_data.
Result<void> check_is_new(const std::string& name, const auto& channels) {
  const std::string variable = plan::channel_variables(name).back();
  const auto same = [&](const auto& other) { return plan::channel_variables(other.name).back() == variable; };
  if (std::none_of(channels.begin(), channels.end(), same)) return {};
  return Error(ErrorKind::Usage, fmt::format("channel {} is given twice, as both are {}", name, variable));
}

Result<void> set_channel(Options& o, string_view value) {
  Result<plan::Channel> channel = plan::parse_channel(value);
  if (!channel) return channel.error();
  if (Result<void> checked = check_is_new(channel->name, o.channels); !checked) return checked;
  o.channels.push_back(std::move(*channel));
  return {};
}

// If the mode is set explicitly, the ranks are meant to use MPI together, so singletons are refused.
Result<void> set_mpi(Options& o, string_view value) {
  const Result<PmiMode> mode = one_of<kPmiModes>(value);
  if (!mode) return mode.error();
  o.mpi_singleton = *mode == PmiMode::None ? MpiSingleton::Warned : MpiSingleton::Refused;
  return keep(o.mpi, *mode);
}

Result<void> set_output_filename(Options& o, string_view value) {
  constexpr string_view kNoCopy = ":nocopy";
  const bool no_copy = value.ends_with(kNoCopy);
  if (no_copy) value.remove_suffix(kNoCopy.size());
  if (value.empty()) return bad_value(kNoCopy, "the name of a folder, as in logs:nocopy");
  o.logs.directory = value;
  o.logs.layout = output::LogLayout::kOpenMpi;
  o.logs.rules.overwrite = os::Overwrite::Yes;
  return keep(o.logs.copy, no_copy ? CopyToOutput::No : CopyToOutput::Yes);
}

Result<void> add_pipe_fanout(Options& o, string_view value) {
  const Result<plan::FifoChannel> channel = plan::parse_pipe_fanout(value);
  if (!channel) return channel.error();
  if (Result<void> checked = check_is_new(channel->name, o.fifos.channels); !checked) return checked;
  o.fifos.channels.push_back(*channel);
  return {};
}

Result<std::string> log_layout(string_view value) {
  const Result<output::LogLayout> layout = output::LogLayout::parse(value);
  if (!layout) return Error(ErrorKind::Usage, fmt::format("{} {}", show(value), layout.error().message()));
  return std::string(value);
}

// An empty word is in every line.
Result<std::vector<std::string>> words_between_commas(string_view value) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool doubled = value.substr(at).starts_with(",,");
    if (value[at] == ',' && !doubled) {
      words.emplace_back();
    } else {
      words.back() += value[at];
    }
    if (doubled) ++at;
  }
  return words;
}

Result<output::TagTemplate> tag_template(string_view value) {
  Result<output::TagTemplate> parsed = output::TagTemplate::parse(value);
  if (!parsed) return Error(ErrorKind::Usage, fmt::format("\"{}\", {}", show(value, 80), parsed.error().message()));
  return parsed;
}

bool is_numeric_address(string_view text) {
  const std::string address(text);
  in6_addr bytes{};
  return ::inet_pton(AF_INET, address.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, address.c_str(), &bytes) == 1;
}

Result<std::vector<std::string>> command_words(string_view value) {
  Result<std::vector<std::string>> words = shell_words(value);
  if (words && (words->empty() || words->front().empty())) return bad_value(value, "a command such as 'ssh -F FILE'");
  return words;
}

// A word that is close to a name is no command.
Result<void> set_start_by(Options& o, string_view value) {
  const std::vector<string_view> names = starters::way_names();
  if (std::find(names.begin(), names.end(), value) != names.end()) return keep(o.start_by, value);
  const bool is_word = value.find_first_of(" /") == string_view::npos && value != "rsh";
  if (const string_view meant = is_word ? nearest(value, names) : string_view(); !meant.empty()) {
    return Error(ErrorKind::Usage, fmt::format("there is no starter \"{}\"; did you mean {}?", show(value), meant));
  }
  if (Result<void> command = store(o.ssh.command, command_words(value)); !command) return command;
  return keep(o.start_by, starters::kSsh);
}

// Without limits, matching lines only count as progress.
Result<void> settle_watch(const Options& o) {
  const std::optional<report::WatchRule>& watch = o.progress.watch;
  if (!watch || watch->has_limit() || o.restart.max > 0) return {};
  return Error(
      ErrorKind::Usage,
      fmt::format("--watch: \"{}\" has no time limit; write 'REGEX;first=D;every=D', or one of the two, or use "
                  "--max-restarts, where lines that match are progress",
                  show(watch->pattern.text(), 80)));
}

// A signal that prints the status is not forwarded. If the same signal is requested for both, the intention is unclear.
Result<void> settle_status_signal(Options& o, ForwardSignals given) {
  if (!o.progress.status_signal) return {};
  const auto same = std::find(o.forward_signals.begin(), o.forward_signals.end(), *o.progress.status_signal);
  if (same == o.forward_signals.end()) return {};
  if (given == ForwardSignals::Given) {
    const std::string name = signal_name(*same);
    return Error(ErrorKind::Usage, fmt::format("--status-signal: {0} is one of --forward-signals too; a signal prints "
                                               "the status or is passed on, not both",
                                               name));
  }
  o.forward_signals.erase(same);
  return {};
}

}  // namespace sml
