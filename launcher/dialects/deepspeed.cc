// deepspeed, the launcher of DeepSpeed.
#include <fmt/format.h>

#include "common/core/text.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

Result<Meaning> hosts_count(string_view written, Values values) {
  if (values[0] == "-1") return Meaning();
  Meaning out = one("--host-count", values[0]);
  if (values[0] != "1")
    out.needs_hosts = fmt::format("{} {}: name the hosts with --hostfile or -H", written, show(values[0], 40));
  return out;
}

Result<Meaning> launcher(string_view written, Values values) { return note_of(written, values[0]); }

// -1: as if it were not there.
Row as_count(string_view names, string_view option) {
  return computed(names, 1, [option](string_view, Values values) -> Result<Meaning> {
    if (values[0] == "-1") return Meaning();
    return one(std::string(option), values[0]);
  });
}

}  // namespace

// Its elastic jobs, up to 0.18 (launcher/launch.py): 100 restarts, with one host at least unless it is told otherwise.
std::vector<Given> defaults_of_deepspeed(std::span<const Given> given) {
  std::vector<Given> out{{"--no-tag", ""}};
  if (is_given(given, {"--max-restarts"})) out.push_back({"--min-hosts", "1"});
  return out;
}

std::vector<Row> deepspeed_rows() {
  return {
      as_option("H hostfile", "--hostfile"),
      as_option("i include", "--include"),
      as_option("e exclude", "--exclude"),
      as_option("num-gpus num-accelerators", "--nproc-per-node"),
      as_option("ssh-port", "--ssh-port"),
      as_option("enable-each-rank-log", "--log-dir"),
      computed("num-nodes", 1, hosts_count),
      computed("launcher", 1, launcher),
      as_program("module", Program::Module),
      as_program("no-python", Program::Executable),
      as_fixed("q quiet", {{"--quiet", ""}}),
      as_is("no-local-rank force-multi no-ssh-check", 0),
      noted("master-addr master-port launcher-args log-level", 1),
      noted("save-pid", 0),
      refused("no-ssh", 0, "sml-run is called once, on one host, and starts the workers of all"),
      refused("node-rank", 1, "sml-run is called once, on one host, and starts the workers of all"),
      as_fixed("elastic-training", {{"--max-restarts", "100"}}),
      as_count("min-elastic-nodes", "--min-hosts"),
      as_count("max-elastic-nodes", "--max-hosts"),
      refused("bind-cores-to-rank", 0, "write --bind-to core, and --cpus-per-rank N for the cores of each"),
      refused("bind-core-list venv-script autotuning", 1, "sml-run has no such thing"),
  };
}

}  // namespace sml::dialects
