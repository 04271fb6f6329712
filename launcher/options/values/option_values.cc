#include "launcher/options/values/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <arpa/inet.h>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/plan/machine/host.h"
#include "launcher/options/values/host_source_names.h"
#include "launcher/options/values/value_reading.h"
#include "launcher/plan/env_file.h"
#include "launcher/plan/export_words.h"
#include "launcher/starters/starters.h"

namespace sml {

namespace {

using namespace std::chrono_literals;
using std::string_view;

}  // namespace

Result<void> set_np(Options& o, string_view value) {
  return store(o.np, number(value, {1, plan::kMaxWorldSize}, "; leave it out to use every slot"));
}

Result<void> set_nproc_per_node(Options& o, string_view value) {
  o.nproc_said = SetByUser::Yes;
  constexpr std::array<std::pair<string_view, SlotsRule>, 5> kRules{{{"auto", SlotsRule::Auto},
                                                                     {"gpu", SlotsRule::Gpu},
                                                                     {"cpu", SlotsRule::Cpu},
                                                                     {"gpu-or-cpu", SlotsRule::GpuOrCpu},
                                                                     {"core", SlotsRule::Core}}};
  o.nproc_per_node.reset();  // the last value wins, whichever form an earlier one had
  o.slots_rule = SlotsRule::Auto;
  for (const auto& [word, rule] : kRules) {
    if (value == word) return keep(o.slots_rule, rule);
  }
  return store(o.nproc_per_node,
               number(value, {1, plan::kMaxSlotsPerHost}, ", nor auto, gpu, cpu, gpu-or-cpu or core"));
}

Result<void> set_rank_by(Options& o, string_view value) {
  if (value == "slot") return keep(o.layout.rank_by, plan::RankBy::Slot);
  if (value == "host" || value == "node") return keep(o.layout.rank_by, plan::RankBy::Host);
  return bad_value(value, "slot or host");
}

Result<void> set_cpus_per_rank(Options& o, string_view value) {
  o.binding.share = value == "share" ? plan::CoreShare::Equal : plan::CoreShare::Counted;
  if (value == "share") return keep(o.binding.cores_per_rank, 0U);
  return store(o.binding.cores_per_rank, number(value, {1, plan::kMaxSlotsPerHost}));
}

Result<void> set_gpus_per_rank(Options& o, string_view value) {
  return store(o.gpus_per_rank, number(value, {1, 1024}, "; --visible-devices none hides them"));
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

Result<void> add_env_file(Options& o, string_view value) {
  o.env_files.emplace_back(value);
  return {};
}

Result<void> set_forward_signals(Options& o, string_view value) {
  constexpr string_view kExpected =
      "none, or a list of HUP, QUIT, USR1, USR2, ALRM, WINCH, URG and PWR; INT and TERM always stop the job";
  std::vector<int> signals;
  for (string_view rest = value == "none" ? "" : value; !rest.empty();) {
    const string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const std::optional<int> signo = signal_number(word);
    constexpr int kForwardable[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGURG, SIGPWR};
    if (!signo || std::count(std::begin(kForwardable), std::end(kForwardable), *signo) == 0) {
      return bad_value(word, kExpected);
    }
    signals.push_back(*signo);
  }
  return keep(o.forward_signals, std::move(signals));
}

Result<void> set_stdin(Options& o, string_view value) {
  if (value == "none") return keep(o.stdin_rule, StdinRule::None);
  if (value == "all") return keep(o.stdin_rule, StdinRule::All);
  const Result<std::uint32_t> rank = number(value, {0, plan::kMaxWorldSize}, ", nor none or all");
  if (!rank) return rank.error();
  o.stdin_rank = Rank(*rank);
  return keep(o.stdin_rule, StdinRule::OneRank);
}

Result<void> set_results_limit(Options& o, string_view value) {
  const std::optional<std::uint64_t> size = parse_size(value);
  if (!size || *size == 0) return bad_value(value, "a size, written as 65536, 64K, 10M or 2G");
  return keep(o.results.limit, *size);
}

Result<void> set_master_address(Options& o, string_view value) {
  const std::string text(value);
  in6_addr bytes{};
  if (::inet_pton(AF_INET, text.c_str(), &bytes) != 1 && ::inet_pton(AF_INET6, text.c_str(), &bytes) != 1) {
    return Error(ErrorKind::Usage, fmt::format("\"{}\" is not the numeric address of rank 0's host, such as 10.0.0.1; "
                                               "leave it out and sml-run finds one",
                                               show(value, 80)));
  }
  return keep(o.master_address, text);
}

Result<void> set_preset(Options& o, string_view value) {
  Result<std::set<plan::Preset>> presets = plan::parse_presets(value);
  if (!presets) return presets.error();
  o.presets.merge(*presets);
  return {};
}

Result<void> set_channel(Options& o, string_view value) {
  Result<plan::Channel> channel = plan::parse_channel(value);
  if (!channel) return channel.error();
  const std::string variable = plan::channel_variables(channel->name).back();
  const auto same = [&](const plan::Channel& other) { return plan::channel_variables(other.name).back() == variable; };
  if (std::any_of(o.channels.begin(), o.channels.end(), same)) {
    return Error(ErrorKind::Usage, fmt::format("channel {} is given twice, as both are {}", channel->name, variable));
  }
  o.channels.push_back(std::move(*channel));
  return {};
}

Result<void> set_role(Options& o, string_view value) {
  constexpr std::size_t kLongest = 64;
  if (!plan::valid_variable_name(value) || value.size() > kLongest) {
    return bad_value(value, "a name of letters, digits, _, - and . that begins with a letter");
  }
  return keep(o.role, value);
}

// If the mode is set explicitly, the ranks are meant to use MPI together, so singletons are refused.
Result<void> set_mpi(Options& o, string_view value) {
  using plan::PmiMode;
  constexpr std::pair<string_view, PmiMode> kNames[] = {{"auto", PmiMode::Auto},
                                                        {"pmi1", PmiMode::Pmi1},
                                                        {"pmi2", PmiMode::Pmi2},
                                                        {"pmix", PmiMode::Pmix},
                                                        {"none", PmiMode::None}};
  for (const auto& [name, pmi_mode] : kNames) {
    if (value != name) continue;
    o.mpi_singleton = pmi_mode == PmiMode::None ? MpiSingleton::Warned : MpiSingleton::Refused;
    return keep(o.mpi, pmi_mode);
  }
  return bad_value(value, "auto, pmi1, pmi2, pmix or none");
}

Result<void> set_pmix(Options& o, string_view value) {
  if (!value.starts_with('/')) return bad_value(value, "the path of a libpmix.so.2 from / on");
  return keep(o.pmix_library, std::string(value));
}

Result<void> set_torch_store(Options& o, string_view) {
  o.torch_store_set = SetByUser::Yes;
  return keep(o.torch_store, plan::TorchStore::OfAgent);
}
Result<void> set_no_torch_store(Options& o, string_view) {
  o.torch_store_set = SetByUser::Yes;
  return keep(o.torch_store, plan::TorchStore::OfRank0);
}

Result<void> add_timeline(Options& o, string_view value) {
  if (!value.ends_with(".html") && !value.ends_with(".json")) {
    return bad_value(value, "a file that ends in .html, for a browser, or .json, for Perfetto");
  }
  o.timeline_files.emplace_back(value);
  return {};
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

Result<void> set_log_max_size(Options& o, string_view value) {
  constexpr std::uint64_t kLeast = 1024;
  const std::optional<std::uint64_t> size = parse_size(value);
  if (!size || *size < kLeast) return bad_value(value, "a size of 1K or more, written as 65536, 64K, 10M or 2G");
  return keep(o.logs.rules.max_size, *size);
}

// ---- channels of FIFOs

namespace {

Result<void> add_fifo_channel(std::vector<plan::FifoChannel>& channels, const Result<plan::FifoChannel>& channel) {
  if (!channel) return channel.error();
  const auto same = [&](const plan::FifoChannel& other) { return other.name == channel->name; };
  if (std::any_of(channels.begin(), channels.end(), same)) {
    return Error(ErrorKind::Usage, fmt::format("the channel {} is given twice", channel->name));
  }
  channels.push_back(*channel);
  return {};
}

}  // namespace

Result<void> add_pipe_fanout(Options& o, string_view value) {
  return add_fifo_channel(o.fifos.channels, plan::parse_pipe_fanout(value));
}

Result<void> set_start_timeout(Options& o, string_view value) {
  o.start_timeout_given = true;
  return store(o.start_timeout, duration(value, 1ms));
}

Result<void> set_heartbeat_timeout(Options& o, string_view value) {
  o.heartbeat_timeout_given = true;
  return store(o.heartbeat_timeout, duration(value, 1s));
}
Result<void> set_ssh_user(Options& o, string_view value) {
  if (!plan::valid_user_name(value)) return bad_value(value, "a user name");
  return keep(o.ssh.user, value);
}

Result<void> set_ssh_command(Options& o, string_view value) {
  Result<std::vector<std::string>> words = shell_words(value);
  if (!words) return words.error();
  if (words->empty() || words->front().empty()) return bad_value(value, "a command such as 'ssh -F FILE'");
  return keep(o.ssh.command, std::move(*words));
}

// A word that is close to a name is no command.
Result<void> set_start_by(Options& o, string_view value) {
  const std::vector<string_view> names = starters::way_names();
  if (std::find(names.begin(), names.end(), value) != names.end()) return keep(o.start_by, value);
  const bool is_word = value.find_first_of(" /") == string_view::npos && value != "rsh";
  if (const string_view meant = is_word ? nearest(value, names) : string_view(); !meant.empty()) {
    return Error(ErrorKind::Usage, fmt::format("there is no starter \"{}\"; did you mean {}?", show(value), meant));
  }
  if (Result<void> command = set_ssh_command(o, value); !command) return command;
  return keep(o.start_by, starters::kSsh);
}

Result<void> set_tag(Options& o, string_view value) {
  Result<output::TagTemplate> parsed = output::TagTemplate::parse(value);
  if (!parsed) return Error(ErrorKind::Usage, fmt::format("\"{}\", {}", show(value, 80), parsed.error().message()));
  return keep(o.output.tag, std::move(*parsed));
}
Result<void> set_no_tag(Options& o, string_view) { return keep(o.output.tag, output::TagTemplate()); }

Result<void> set_show_ranks(Options& o, string_view value) {
  Result<RankSet> ranks = RankSet::parse(value, plan::kMaxWorldSize);
  if (!ranks) return ranks.error();
  return keep(o.output.shown_ranks, std::move(*ranks));
}
Result<void> set_quiet_workers(Options& o, string_view) { return keep(o.output.shown_ranks, RankSet()); }
Result<void> set_all_lines(Options& o, string_view) {
  o.output.progress_bars = ProgressBars::Pass;
  return keep(o.output.equal_lines, EqualLines::Pass);
}

Result<void> set_status_signal(Options& o, string_view value) {
  constexpr int kFree[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGURG, SIGPWR};
  const std::optional<int> signo = signal_number(value);
  if (!signo || std::count(std::begin(kFree), std::end(kFree), *signo) == 0) {
    return bad_value(value, "one of HUP, QUIT, USR1, USR2, ALRM, URG and PWR");
  }
  return keep(o.progress.status_signal, *signo);
}

Result<void> set_warn_silent(Options& o, string_view value) {
  return store(o.progress.warn_silent, duration(value, report::WatchRule::kLeast));
}

Result<void> set_watch(Options& o, string_view value) {
  Result<report::WatchRule> rule = report::WatchRule::parse(value, plan::kMaxWorldSize);
  if (!rule) return rule.error();
  return keep(o.progress.watch, std::move(*rule));
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

Result<void> set_failure_file(Options& o, string_view value) {
  o.failure.wanted = FailureFile::Wanted;
  return keep(o.failure.path, value);
}
Result<void> set_no_failure_file(Options& o, string_view) {
  o.failure.path.clear();
  return keep(o.failure.wanted, FailureFile::None);
}

}  // namespace sml
