// deepspeed, the launcher of DeepSpeed.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

Result<OptionTranslation> deepspeed_hosts(string_view written, Values values) {
  if (values[0] == "-1") return OptionTranslation();
  OptionTranslation out = one("--host-count", values[0]);
  if (values[0] != "1")
    out.needs_hosts = fmt::format("{} {}: name the hosts with --hostfile or -H", written, show(values[0], 40));
  return out;
}

constexpr string_view kLauncher = "launcher";
constexpr string_view kForceMulti = "force_multi";

Result<OptionTranslation> launcher(string_view written, Values values) {
  OptionTranslation out = note_of(written, values[0]);
  out.for_defaults = {std::string(kLauncher), lower(values[0])};
  return out;
}

Result<OptionTranslation> force_multi(string_view, Values) {
  OptionTranslation out;
  out.for_defaults = {std::string(kForceMulti), ""};
  return out;
}

// An option for which -1 means that it is not given.
Row as_count(string_view names, string_view option) {
  return computed(names, 1, [option](string_view, Values values) -> Result<OptionTranslation> {
    if (values[0] == "-1") return OptionTranslation();
    return one(std::string(option), values[0]);
  });
}

Result<OptionTranslation> no_ssh(string_view written, Values) {
  OptionTranslation out;
  out.rendezvous.on_each = {std::string(written), ""};
  return out;
}

// Default paths of runner.py: for the hostfile, and for variables that all nodes receive.
constexpr string_view kHostfile = "/job/hostfile";

using IsThere = std::function<bool(const std::string& path)>;

// `finds`: see DialectInput.
std::vector<std::string> environment_files(const DialectInput& input, const IsThere& finds) {
  const string_view named = plan::variable(input.environment, "DS_ENV_FILE");
  const std::string name(named.empty() ? string_view(".deepspeed_env") : named);
  std::vector<std::string> out;
  if (name.starts_with('/')) {
    if (input.exists && input.exists(name)) out.push_back(name);
    return out;
  }
  if (const string_view home = plan::variable(input.environment, "HOME"); !home.empty()) {
    out.push_back(fmt::format("{}/{}", home, name));
  }
  out.push_back(name);
  std::erase_if(out, [&](const std::string& file) { return !finds || !finds(file); });
  return out;
}

const WrittenOption* last_for_defaults(const DialectInput& input, string_view option) {
  const auto last = std::find_if(input.for_defaults.rbegin(), input.for_defaults.rend(),
                                 [option](const WrittenOption& o) { return o.written == option; });
  return last == input.for_defaults.rend() ? nullptr : &*last;
}

// True if DeepSpeed would start the job with pdsh, mpirun or srun (multi_node_exec in runner.py), and not itself on
// this host. `hostfile`: empty if none is named.
bool is_for_several(const DialectInput& input, const std::string& hostfile) {
  if (input.rendezvous.on_each) return false;
  if (last_for_defaults(input, kForceMulti) != nullptr) return true;
  if (hostfile.empty() && !is_given(input.given, {"--hosts"})) return false;
  return (input.count_hosts ? input.count_hosts(hostfile) : std::nullopt).value_or(2) > 1;
}

}  // namespace

// DeepSpeed's elastic jobs, up to 0.18 (launcher/launch.py): 100 restarts, with at least one host by default. Only its
// launch.py, which it starts with pdsh or itself, gives scripts their local rank; the MPI libraries and Slurm do not.
std::vector<SetOption> defaults_of_deepspeed(const DialectInput& input) {
  std::vector<SetOption> out{{"--no-tag", ""}};
  if (is_given(input.given, {"--max-restarts"})) out.push_back({"--min-hosts", "1"});
  std::string hostfile(last_given(input.given, "--hostfile"));
  const bool named = is_given(input.given, {"--hostfile", "--hosts"});
  if (!named && input.finds && input.finds(std::string(kHostfile))) {
    hostfile = kHostfile;
    out.push_back({"--hostfile", hostfile});
  }
  const WrittenOption* starter = last_for_defaults(input, kLauncher);
  const bool by_pdsh = starter == nullptr || starter->value == "pdsh";
  const bool matters = !by_pdsh || !environment_files(input, input.exists).empty();
  const bool several = matters && is_for_several(input, hostfile);
  if (by_pdsh || !several) out.push_back({"--local-rank-argument", ""});
  if (!several) return out;
  for (std::string& file : environment_files(input, input.finds)) out.push_back({"--env-file", std::move(file)});
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
      computed("num-nodes", 1, deepspeed_hosts),
      computed("launcher", 1, launcher),
      as_program("module", Program::Module),
      as_program("no-python", Program::Executable),
      as_fixed("q quiet", {{"--quiet", ""}}),
      as_fixed("no-local-rank", {{"--local-rank-argument", "no"}}),
      computed("force-multi", 0, force_multi),
      as_is("no-ssh-check", 0),
      noted("launcher-args log-level", 1),
      noted("save-pid", 0),
      computed("no-ssh", 0, no_ssh),
      as_rendezvous_option("node-rank", &RendezvousOptions::place),
      as_rendezvous_option("master-addr", &RendezvousOptions::address),
      as_rendezvous_option("master-port", &RendezvousOptions::port),
      as_fixed("elastic-training", {{"--max-restarts", "100"}}),
      as_count("min-elastic-nodes", "--min-hosts"),
      as_count("max-elastic-nodes", "--max-hosts"),
      as_fixed("bind-cores-to-rank", {{"--bind-to", "core"}, {"--cpus-per-rank", "share"}}),
      as_option("bind-core-list", "--cpu-set"),
      refused("venv-script autotuning", 1, "sml-run has no such thing"),
  };
}

}  // namespace sml::dialects
