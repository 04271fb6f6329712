// The options of mpirun(1) of Open MPI 4.1 and of prterun(1) of 5.0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/ranks/rank_layout.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

// The components that start daemons: "slurm", the first that is known of "slurm,ssh", or all but one with "^slurm".
// Where one is excluded, the one that is always there is left.
Result<OptionTranslation> start_component(string_view written, const std::string& value) {
  constexpr std::array<std::pair<string_view, string_view>, 7> kStarters{{{"ssh", "ssh"},
                                                                          {"rsh", "ssh"},
                                                                          {"slurm", "srun"},
                                                                          {"lsf", "lsf"},
                                                                          {"tm", "pbs"},
                                                                          {"alps", "pals"},
                                                                          {"pals", "pals"}}};
  if (value.starts_with('^')) return one("--start-by", "ssh");
  for (const string_view name : split(value, ',')) {
    const auto* found =
        std::find_if(kStarters.begin(), kStarters.end(), [&](const auto& s) { return s.first == name; });
    if (found != kStarters.end()) return one("--start-by", std::string(found->second));
  }
  if (value == "isolated") return OptionTranslation();
  return bad_value(value,
                   fmt::format("understood after {} plm; expected ssh, rsh, slurm, lsf, tm or isolated", written));
}

// True for parameters that affect mpirun itself, not the program's MPI library.
bool steers_mpirun(string_view key) {
  constexpr std::array<string_view, 20> kFrameworks{
      "plm", "orte",  "oob",    "ras",   "rmaps",  "rml",  "routed", "grpcomm", "odls",  "iof",
      "ess", "state", "errmgr", "filem", "schizo", "prte", "rtc",    "regx",    "snapc", "hwloc_base_binding"};
  return std::any_of(kFrameworks.begin(), kFrameworks.end(), [&](string_view framework) {
    return key == framework || (key.starts_with(framework) && key.substr(framework.size()).starts_with('_'));
  });
}

// ---- placement

Result<OptionTranslation> bind_to(string_view, Values values) {
  constexpr string_view kIfSupported = ":if-supported";  // which is the behaviour here
  std::string what = lower(values[0]);
  if (what.ends_with(kIfSupported)) what.resize(what.size() - kIfSupported.size());
  constexpr std::array<string_view, 7> kKnown{"none", "hwthread", "core", "l3cache", "numa", "socket", "package"};
  if (std::find(kKnown.begin(), kKnown.end(), what) != kKnown.end()) return one("--bind-to", what);
  Error bad = bad_value(values[0], "none, hwthread, core, l3cache, numa or socket");
  return asks_for_overload(what) ? std::move(bad).with_hint(std::string(kNoOverload)) : bad;
}

Result<OptionTranslation> map_by(string_view, Values values) {
  const std::string by = lower(values[0]);
  if (by == ":oversubscribe") return one("--oversubscribe", "");
  if (by == ":nooversubscribe") return one("--oversubscribe", "no");
  if (const Result<plan::MapByText> known = plan::parse_map_by(by); !known) return known.error();
  return one("--map-by", by);
}

// "2:node": processes per resource.
Result<OptionTranslation> ranks_of_part(string_view, Values values) {
  const std::string text = "ppr:" + values[0];
  return map_by("", std::span(&text, 1));
}

Result<OptionTranslation> ranks_of_socket(string_view, Values values) {
  const std::string text = fmt::format("ppr:{}:socket", values[0]);
  return map_by("", std::span(&text, 1));
}

Result<OptionTranslation> rank_by(string_view, Values values) {
  const std::string by = lower(values[0]);
  if (by == "slot" || by == "node") return one("--rank-by", by);
  return bad_value(values[0], "slot or node");
}

// "A=1;B": arguments of -x, in one parameter.
Result<OptionTranslation> variables(string_view list) {
  OptionTranslation out;
  for (const string_view variable : split(list, ';')) {
    if (!variable.empty()) out.options.push_back({"-x", std::string(variable)});
  }
  return out;
}

bool is_true(string_view value) { return value == "1" || value == "true" || value == "yes" || value == "t"; }

// Nullopt if the parameter does not affect the placement of workers.
std::optional<Result<OptionTranslation>> placement_parameter(string_view key, const std::string& value) {
  const std::span<const std::string> values(&value, 1);
  if (key == "rmaps_base_oversubscribe") return one("--oversubscribe", is_true(value) ? "" : "no");
  if (key == "rmaps_base_no_oversubscribe") return is_true(value) ? one("--oversubscribe", "no") : OptionTranslation();
  if (key == "rmaps_base_mapping_policy") return map_by("", values);
  if (key == "rmaps_base_ranking_policy") return rank_by("", values);
  if (key == "hwloc_base_binding_policy") return bind_to("", values);
  if (key == "hwloc_base_use_hwthreads_as_cpus")
    return is_true(value) ? one("--use-hwthread-cpus", "") : OptionTranslation();
  return std::nullopt;
}

Result<OptionTranslation> mca(string_view written, Values values) {
  const std::string& key = values[0];
  const std::string& value = values[1];
  const auto valid = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  if (key.empty() || !std::all_of(key.begin(), key.end(), valid)) {
    return bad_value(key, "the name of an MCA parameter, such as btl");
  }
  if (key == "plm_rsh_agent" || key == "plm_ssh_agent" || key == "orte_rsh_agent") {
    return one("--ssh-command", value.substr(0, value.find(" : ")));  // "ssh : rsh": alternatives; takes the first
  }
  if (key == "plm") return start_component(written, value);
  if (key == "plm_rsh_args" || key == "plm_ssh_args" || key == "plm_slurm_args") {
    return starter_arguments(fmt::format("{} {}", written, key), value);
  }
  if (key == "orte_abort_on_non_zero_status") {
    const bool no = value == "0" || value == "false" || value == "no";
    return one("--on-failure", no ? "continue" : "abort");
  }
  if (key == "mca_base_env_list") return variables(value);
  if (const std::optional<Result<OptionTranslation>> placed = placement_parameter(key, value)) return *placed;
  if (steers_mpirun(key)) return note_of(written, key);
  return one("-x", fmt::format("OMPI_MCA_{}={}", key, value));
}

// ---- output

constexpr string_view kTag = "[1,{rank}]<{stream}>: ";  // as in 5.0; --tag-output of 4.1 has no space

Result<OptionTranslation> output(string_view written, Values values) {
  const std::string& value = values[0];
  if (value == "tag" || value == "tag-detailed" || value == "tag-fullname") return one("--tag", std::string(kTag));
  if (value == "timestamp") return one("--tag", "[{time}]<{stream}>: ");
  if (value == "tag,timestamp" || value == "timestamp,tag") return one("--tag", fmt::format("[{{time}}]{}", kTag));
  if (value.starts_with("dir=")) return one("--output-filename", value.substr(4));
  return bad_value(value, fmt::format("understood after {}; expected tag, timestamp or dir=FOLDER", written));
}

Result<OptionTranslation> display(string_view written, Values values) {
  if (values[0] == "map" || values[0] == "map-devel") return one("--display-map", "");
  return note_of(written, values[0]);
}

Result<OptionTranslation> restarts(string_view, Values values) {
  if (values[0] == "0") return OptionTranslation();
  return bad_value(values[0],
                   "0; mpirun starts single processes anew, and sml-run the whole job: write sml-run --max-restarts");
}

constexpr string_view kNoCopies = "sml-run copies no files to other hosts; put them where every host finds them";
constexpr string_view kNoFiles = "such files are not read; give what stands in them as options";

// Options without effect here, and unsupported ones.
std::vector<Row> noted_and_refused_rows() {
  return {
      noted("display-allocation display-devel-map display-topo display-diffable-map", 0),
      noted("tcp display-devel-allocation do-not-resolve report-events", 0),
      noted("enable-instant-on-support fwd-mpirun-port novm report-child-jobs-separately show-progress use-regexp", 0),
      noted("cartofile cf hnp ompi-server max-vm-size", 1),
      noted("prefix path personality stream-buffering report-pid report-uri runtime-options keepalive pset tmpdir", 1),
      noted("system-server", 0),
      as_is("hetero-nodes no-app-prefix no-ready-msg set-sid report-state-on-timeout get-stack-traces", 0),
      as_option("spawn-timeout", "--start-timeout"),
      refused("add-host add-hostfile", 1, "the hosts of a job are fixed; name them with -H or --hostfile"),
      refused("set-env unset-env append-env prepend-env", 1, "write -x NAME=VALUE"),
      refused("singleton", 1, "sml-run starts programs, and joins none"),
      refused("tune am", 1, kNoFiles),
      refused("s preload-binary", 0, kNoCopies),
      refused("preload-files", 1, kNoCopies),
      refused("xml", 0, "sml-run writes no XML; --events FILE writes JSON"),
      refused("xml-file xterm", 1, "sml-run has no such output; --log-dir and --events write files"),
      refused("nolocal", 0, "leave this host out with --exclude HOST"),
      refused("tv debug debugger output-proctable stop-in-app stop-in-init stop-on-exec", 0,
              "sml-run starts no debugger; start it as the program"),
      refused("index-argv-by-rank set-cwd-to-session-dir terminate", 0, "sml-run has no such thing"),
      refused("launch-agent", 1, "sml-run has an agent of its own"),
      refused("dvm", 1, "sml-run keeps no daemons"),
  };
}

}  // namespace

namespace {

// "ConnectionAttempts=10", with which ssh waits for hosts that come late.
bool asks_for_retries(string_view option) {
  constexpr string_view kName = "connectionattempts";
  const std::string text = lower(option);
  if (!text.starts_with(kName)) return false;
  const string_view number = trim(string_view(text).substr(kName.size()), " =");
  return !number.empty() && number != "0" && number != "1";
}

}  // namespace

Result<OptionTranslation> starter_arguments(string_view written, string_view text) {
  const Result<std::vector<std::string>> words = shell_words(text);
  if (!words) return words.error();
  constexpr std::array<std::pair<string_view, string_view>, 3> kKnown{
      {{"-p", "--ssh-port"}, {"-i", "--ssh-identity-file"}, {"-l", "--ssh-user"}}};
  OptionTranslation out;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    const bool is_apart = word == "-o" && i + 1 < words->size();
    const string_view option =
        is_apart ? string_view((*words)[i + 1]) : string_view(word).substr(std::min<std::size_t>(2, word.size()));
    if (word.starts_with("-o") && asks_for_retries(option)) {
      out.options.push_back({"--wait-for-hosts", ""});
      i += is_apart ? 1 : 0;
      continue;
    }
    const auto* known =
        std::find_if(kKnown.begin(), kKnown.end(), [&](const auto& k) { return word.starts_with(k.first); });
    const bool apart = known != kKnown.end() && word.size() == known->first.size();
    if (word == "--external-launcher") continue;
    if (known == kKnown.end() || (apart && i + 1 == words->size())) {
      out.note = fmt::format("{} {}", written, show(text, 60));
    } else {
      out.options.push_back({std::string(known->second), apart ? (*words)[++i] : word.substr(known->first.size())});
    }
  }
  return out;
}

std::vector<Row> mpirun_rows() {
  std::vector<Row> rows{
      as_option("n c np", "--np"),
      as_per_host("N npernode"),
      as_fixed("pernode", {{"--nproc-per-node", "1"}, {"--ranks-per-host", "1"}}),
      as_fixed("bynode", {{"--map-by", "host"}}),
      as_option("H host", "--hosts"),
      as_option("hostfile machinefile default-hostfile", "--hostfile"),
      as_option("wd wdir", "--wdir"),
      computed("mca gmca omca pmixmca gpmixmca prtemca", 2, mca),
      computed("bind-to", 1, bind_to),
      computed("map-by", 1, map_by),
      computed("rank-by", 1, rank_by),
      as_option("rf rankfile", "--rankfile"),
      as_option("timeout", "--timeout"),
      as_option("cpus-per-proc cpus-per-rank", "--cpus-per-rank"),
      as_fixed("report-bindings", {{"--report-bindings", ""}}),
      as_fixed("use-hwthread-cpus", {{"--use-hwthread-cpus", ""}}),
      computed("output", 1, output),
      computed("display", 1, display),
      computed("max-restarts", 1, restarts),
      as_fixed("nooversubscribe no-oversubscribe", {{"--oversubscribe", "no"}}),
      as_fixed("tag-output", {{"--tag", "[1,{rank}]<{stream}>:"}}),
      as_fixed("display-map", {{"--display-map", ""}}),
      as_option("output-filename", "--output-filename"),
      as_fixed("timestamp-output", {{"--tag", "{time}<{stream}>:"}}),
      as_fixed("do-not-launch", {{"--dry-run", ""}}),
      as_fixed("enable-recovery continuous", {{"--on-failure", "continue"}}),
      as_fixed("V version", {{"--version", ""}}),
      as_is("allow-run-as-root noprefix bind-to-none byslot leave-session-attached", 0),
      as_is("d debug-daemons debug-daemons-file debug-devel bycore bysocket disable-recovery", 0),
      as_fixed("bind-to-core", {{"--bind-to", "core"}}),
      as_fixed("bind-to-socket", {{"--bind-to", "socket"}}),
      computed("ppr", 1, ranks_of_part),
      computed("npersocket", 1, ranks_of_socket),
      as_option("cpu-set cpu-list", "--cpu-set"),
      as_fixed("merge-stderr-to-stdout", {{"--merge-stderr", ""}}),
  };
  const std::vector<Row> others = noted_and_refused_rows();
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

}  // namespace sml::dialects
