// The options of horovodrun of Horovod 0.28.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "common/core/text.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

Result<OptionTranslation> fusion_threshold(string_view, Values values) {
  constexpr std::uint64_t kMost = 1 << 20;
  const auto megabytes = parse_number<std::uint64_t>(values[0]);
  if (!megabytes || *megabytes > kMost) return bad_value(values[0], fmt::format("a whole number from 0 to {}", kMost));
  return one("-x", fmt::format("HOROVOD_FUSION_THRESHOLD={}", *megabytes << 20));
}

Result<OptionTranslation> log_level(string_view, Values values) {
  for (string_view level : {"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"}) {
    if (values[0] == level) return one("-x", "HOROVOD_LOG_LEVEL=" + values[0]);
  }
  return bad_value(values[0], "TRACE, DEBUG, INFO, WARNING, ERROR or FATAL");
}

Result<OptionTranslation> output_filename(string_view, Values values) {
  OptionTranslation out = one("--log-dir", values[0]);
  out.options.push_back({"--log-layout", "rank.{rank:0}/{stream}"});  // as many digits as np - 1
  out.options.push_back({"--log-overwrite", ""});
  return out;
}

// Seconds, from 1 to 3600 (runner/launch.py of Horovod).
Result<OptionTranslation> cooldown_range(string_view, Values values) {
  constexpr std::uint32_t kMost = 3600;
  std::uint32_t bounds[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    bounds[i] = parse_number<std::uint32_t>(values[i]).value_or(0);
    if (bounds[i] < 1 || bounds[i] > kMost) return bad_value(values[i], "a whole number of seconds from 1 to 3600");
  }
  if (bounds[1] < bounds[0]) return bad_value(values[1], fmt::format("{} or more", bounds[0]));
  return one("--exclude-for", fmt::format("{}s:{}s", bounds[0], bounds[1]));
}

// --NAME and --no-NAME set VARIABLE to 1 and 0.
struct Switch {
  string_view yes;
  string_view no;
  string_view variable_on;
  string_view variable_off;
};
constexpr std::array kSwitches{
    Switch{"hierarchical-allreduce", "no-hierarchical-allreduce", "HOROVOD_HIERARCHICAL_ALLREDUCE=1",
           "HOROVOD_HIERARCHICAL_ALLREDUCE=0"},
    Switch{"hierarchical-allgather", "no-hierarchical-allgather", "HOROVOD_HIERARCHICAL_ALLGATHER=1",
           "HOROVOD_HIERARCHICAL_ALLGATHER=0"},
    Switch{"torus-allreduce", "no-torus-allreduce", "HOROVOD_TORUS_ALLREDUCE=1", "HOROVOD_TORUS_ALLREDUCE=0"},
    Switch{"autotune", "no-autotune", "HOROVOD_AUTOTUNE=1", "HOROVOD_AUTOTUNE=0"},
    Switch{"timeline-mark-cycles", "no-timeline-mark-cycles", "HOROVOD_TIMELINE_MARK_CYCLES=1",
           "HOROVOD_TIMELINE_MARK_CYCLES=0"},
    Switch{"no-stall-check", "stall-check", "HOROVOD_STALL_CHECK_DISABLE=1", "HOROVOD_STALL_CHECK_DISABLE=0"},
    Switch{"mpi-threads-disable", "no-mpi-threads-disable", "HOROVOD_MPI_THREADS_DISABLE=1",
           "HOROVOD_MPI_THREADS_DISABLE=0"},
    Switch{"log-without-timestamp log-hide-timestamp", "log-with-timestamp no-log-hide-timestamp",
           "HOROVOD_LOG_HIDE_TIME=1", "HOROVOD_LOG_HIDE_TIME=0"},
};

// The value's kind, as checked by Horovod (runner/common/util/config_parser.py).
enum class Kind : std::uint8_t { Whole, Decimal, UpToOne, Text };
struct Knob {
  string_view name;
  string_view variable;
  Kind kind = Kind::Whole;
};
constexpr std::array kKnobs{
    Knob{"cycle-time-ms", "HOROVOD_CYCLE_TIME", Kind::Decimal},
    Knob{"cache-capacity", "HOROVOD_CACHE_CAPACITY"},
    Knob{"autotune-log-file", "HOROVOD_AUTOTUNE_LOG", Kind::Text},
    Knob{"autotune-warmup-samples", "HOROVOD_AUTOTUNE_WARMUP_SAMPLES"},
    Knob{"autotune-steps-per-sample", "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE"},
    Knob{"autotune-bayes-opt-max-samples", "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES"},
    Knob{"autotune-gaussian-process-noise", "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", Kind::UpToOne},
    Knob{"timeline-filename", "HOROVOD_TIMELINE", Kind::Text},
    Knob{"stall-check-warning-time-seconds", "HOROVOD_STALL_CHECK_TIME_SECONDS"},
    Knob{"stall-check-shutdown-time-seconds", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"},
    Knob{"num-nccl-streams", "HOROVOD_NUM_NCCL_STREAMS"},
    Knob{"thread-affinity", "HOROVOD_THREAD_AFFINITY"},
    Knob{"gloo-timeout-seconds", "HOROVOD_GLOO_TIMEOUT_SECONDS"},
};

Result<void> check_knob(Kind kind, string_view text) {
  constexpr double kLargest = 1e18;
  if (kind == Kind::Text) return {};
  if (kind == Kind::Whole) {
    if (parse_number<std::uint64_t>(text)) return {};
    return bad_value(text, "a whole number from 0 on");
  }
  const double most = kind == Kind::UpToOne ? 1 : kLargest;
  const std::optional<double> value = parse_number<double>(text);
  if (value && *value >= 0 && *value <= most) return {};
  return bad_value(text, kind == Kind::UpToOne ? "a number from 0 to 1" : "a number from 0 on");
}

Row as_knob(const Knob& knob) {
  return computed(knob.name, 1, [knob](string_view, Values values) -> Result<OptionTranslation> {
    if (Result<void> good = check_knob(knob.kind, values[0]); !good) return good.error();
    return one("-x", fmt::format("{}={}", knob.variable, values[0]));
  });
}

// Sets the variables that gloo_run() and mpi_run() of Horovod set.
Row by_controller(string_view name) {
  return one_of("controller", as_fixed(name, {{"-x", fmt::format("HOROVOD_CONTROLLER={}", name)},
                                              {"-x", fmt::format("HOROVOD_CPU_OPERATIONS={}", name)}}));
}

Result<OptionTranslation> config_file(string_view, Values values) {
  OptionTranslation out;
  out.config_file = values[0];
  return out;
}

// Options that query Horovod: only Horovod knows its version, and how it was built.
Row as_question(string_view names, Program question) {
  return computed(names, 0, [question](string_view, Values) -> Result<OptionTranslation> {
    OptionTranslation out;
    out.program = question;
    out.options = {{"--np", "1"}, {"--no-tag", ""}, {"--quiet", ""}};
    return out;
  });
}

// Horovod's elastic jobs (runner/elastic/driver.py): as many workers as slots, but at least -np unless --min-np is
// given; unlimited restarts; a host on which a worker fails is excluded; surviving workers continue.
std::vector<SetOption> defaults_of_elastic(std::span<const SetOption> given) {
  constexpr string_view kAny = "1000000";
  std::vector<SetOption> out{{"--max-restarts", std::string(kAny)},
                             {"--max-np", std::string(kAny)},
                             {"--max-fruitless", "0"},
                             {"--exclude-after", "1"},
                             {"--elastic", "horovod"}};
  const string_view np = last_given(given, "--np");
  if (!np.empty()) out.push_back({"--min-np", std::string(np)});
  return out;
}

bool is_elastic(std::span<const SetOption> given) { return is_given(given, {"--host-discovery-script", "--min-np"}); }

}  // namespace

std::vector<SetOption> defaults_of_horovodrun(std::span<const SetOption> given) {
  std::vector<SetOption> out{{"--tag", "[{rank}]<{stream}>:"}};
  if (!is_given(given, {"--host-discovery-script"})) out.push_back({"--host-source", "local"});
  if (!is_elastic(given)) {
    // A job that does not change leaves no host out; Horovod takes the option all the same.
    if (is_given(given, {"--exclude-for"})) out.insert(out.end(), {{"--max-restarts", "0"}, {"--exclude-after", "1"}});
    return out;
  }
  for (SetOption& more : defaults_of_elastic(given)) out.push_back(std::move(more));
  return out;
}

std::vector<Row> horovodrun_rows() {
  std::vector<Row> rows{
      as_option("np num-proc", "--np"),
      one_of("hosts", as_option("H hosts", "--hosts")),
      one_of("hosts", as_option("hostfile", "--hostfile")),
      as_option("p ssh-port", "--ssh-port"),
      as_option("i ssh-identity-file", "--ssh-identity-file"),
      as_option("start-timeout", "--start-timeout"),
      as_option("slots-per-host", "--nproc-per-node"),
      as_fixed("verbose", {{"--verbose", ""}}),
      as_question("v version", Program::HorovodVersion),
      as_question("cb check-build", Program::HorovodBuild),
      computed("config-file", 1, config_file),
      as_option("network-interfaces network-interface", "--interface"),
      computed("output-filename", 1, output_filename),
      computed("fusion-threshold-mb", 1, fusion_threshold),
      computed("log-level", 1, log_level),
      as_fixed("prefix-timestamp prefix-output-with-timestamp", {{"--tag", "{time}[{rank}]<{stream}>:"}}),
      as_variable_set("tcp", "NCCL_IB_DISABLE=1"),
      as_is("disable-cache", 0),
      by_controller("gloo"),
      by_controller("mpi"),
      noted("binding-args", 1),
      one_of("controller", refused("jsrun", 0, "sml-run starts the workers itself; leave it out")),
      refused("mpi-args", 1, "there is no mpirun; give these words to sml-run itself"),
      one_of("hosts", as_option("host-discovery-script", "--host-discovery-script")),
      as_option("min-np min-num-proc", "--min-np"),
      as_option("max-np max-num-proc", "--max-np"),
      as_option("elastic-timeout", "--elastic-timeout"),
      as_option("reset-limit", "--max-restarts"),
      computed("blacklist-cooldown-range", 2, cooldown_range),
  };
  for (const Knob& knob : kKnobs) rows.push_back(as_knob(knob));
  for (const Switch& s : kSwitches) {
    rows.push_back(one_of(s.yes, as_variable_set(s.yes, s.variable_on)));
    rows.push_back(one_of(s.yes, as_variable_set(s.no, s.variable_off)));
  }
  return rows;
}

}  // namespace sml::dialects
