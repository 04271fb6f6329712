// The options of mpiexec.hydra of MPICH 4, which is also Intel's mpirun.
#include <algorithm>
#include <array>
#include <utility>

#include "common/core/text.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

Result<OptionTranslation> variable(string_view, Values values) {
  return one("-x", values.size() == 1 ? values[0] : values[0] + "=" + values[1]);
}

Result<OptionTranslation> variables(string_view, Values values) {
  OptionTranslation out;
  for (const string_view name : split(values[0], ',')) {
    if (!name.empty()) out.options.push_back({"-x", std::string(name)});
  }
  return out;
}

// Hydra's "fork" starts all on this host, which is what happens where no other is named.
Result<OptionTranslation> hydra_launcher(string_view, Values values) {
  constexpr std::array<std::pair<string_view, string_view>, 6> kStarters{
      {{"ssh", "ssh"}, {"rsh", "rsh"}, {"slurm", "srun"}, {"sge", "qrsh"}, {"lsf", "lsf"}, {"pbs", "pbs"}}};
  if (values[0] == "fork") return OptionTranslation();
  const auto* found =
      std::find_if(kStarters.begin(), kStarters.end(), [&](const auto& s) { return s.first == values[0]; });
  if (found == kStarters.end()) return bad_value(values[0], "ssh, rsh, slurm, sge, lsf, pbs or fork");
  return one("--start-by", std::string(found->second));
}

Result<OptionTranslation> hydra_launcher_arguments(string_view written, Values values) {
  return starter_arguments(written, values[0]);
}

Result<OptionTranslation> hydra_bind_to(string_view, Values values) {
  const std::string& what = values[0];
  if (what == "l3" || what == "l3cache") return one("--bind-to", "l3");
  if (what.starts_with("user:")) return one("--bind-to", what);
  for (const string_view part : {"core", "hwthread"}) {
    if (!what.starts_with(part) || what.substr(part.size(), 1) != ":") continue;
    OptionTranslation out = one("--bind-to", std::string(part));
    out.options.push_back({"--cpus-per-rank", what.substr(part.size() + 1)});
    return out;
  }
  if (what == "none" || what == "hwthread" || what == "core" || what == "numa" || what == "socket")
    return one("--bind-to", what);
  return bad_value(what, "none, hwthread, hwthread:N, core, core:N, l3, numa, socket or user:LIST");
}

Result<OptionTranslation> hydra_map_by(string_view, Values values) {
  if (values[0] == "rr") return one("--map-by", "slot");
  return one("--map-by", values[0]);
}

constexpr string_view kTools = "sml-run starts no such tool; start it as the program";
constexpr string_view kPatterns = "write the pattern for --tag, with {rank} and {host}";
constexpr string_view kFilePatterns = "write DIR/rank.R/stdout with --log-dir, or other names with --log-layout";

}  // namespace

std::vector<Row> hydra_rows() {
  return {
      as_option("n np", "--np"),
      as_option("f hostfile machinefile", "--hostfile"),
      as_option("host hosts", "--hosts"),
      as_option("ppn perhost", "--nproc-per-node"),
      as_option("wdir", "--wdir"),
      as_option("iface", "--interface"),
      as_option("gpus-per-proc", "--gpus-per-rank"),
      as_option("launcher-exec bootstrap-exec", "--ssh-command"),
      {"env genv", 2, variable, OptionalValue::InFirst},
      computed("envlist genvlist", 1, variables),
      computed("launcher bootstrap", 1, hydra_launcher),
      computed("launcher-extra-args bootstrap-exec-args", 1, hydra_launcher_arguments),
      computed("bind-to", 1, hydra_bind_to),
      computed("map-by", 1, hydra_map_by),
      as_fixed("l prepend-rank", {{"--tag", "[{rank}] "}}),
      as_fixed("rr", {{"--map-by", "host"}}),
      as_fixed("genvnone envnone", {{"--export", "none"}}),
      as_fixed("genvall envall", {{"--export", "all"}}),
      as_fixed("disable-auto-cleanup", {{"--on-failure", "continue"}}),
      as_fixed("V version", {{"--version", ""}}),
      as_fixed("verbose", {{"--verbose", ""}}),
      as_is("enable-auto-cleanup disable-x silent-abort", 0),
      as_fixed("print-rank-map", {{"--display-map", ""}}),
      as_fixed("prepend-timestamp", {{"--tag", "{time} : "}}),
      as_option("s", "--stdin"),
      noted("rmk localhost topolib membind usize nameserver demux memory-alloc-kinds", 1),
      noted("disable-hostname-propagation print-all-exitcodes profile info pmi-port enable-x prot", 0),
      refused("prepend-pattern", 1, kPatterns),
      refused("outfile-pattern errfile-pattern", 1, kFilePatterns),
      refused("order-nodes", 1, "it sorts by cores; give the hosts in the order that is wanted"),
      refused("skip-launch-node", 0, "leave this host out with --exclude HOST"),
      refused("hosts-group hybrid-hosts", 1, "name the hosts with -hosts"),
      refused("cpu-bind", 1, "write -bind-to, or --cpu-set for the processors of each host"),
      refused("aps mps gdb", 0, kTools),
      refused("gdb-args gtool gtoolfile", 1, kTools),
      refused("rankmap", 1, "name the hosts of ranks in a file for --rankfile"),
  };
}

}  // namespace sml::dialects
