// The options of srun(1) of Slurm, for starting the tasks of an allocation.
#include <fmt/format.h>

#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

// ALL, NONE, or a list of names and NAME=VALUE, which may include ALL.
Result<OptionTranslation> exported(string_view, Values values) {
  OptionTranslation out;
  bool all = false;
  for (const string_view word : split(values[0], ',')) {
    all = all || word == "ALL";
    if (!word.empty() && word != "ALL" && word != "NONE") out.options.push_back({"-x", std::string(word)});
  }
  out.options.push_back({"--export", all ? "all" : "none"});
  return out;
}

Result<OptionTranslation> cpus_per_task(string_view, Values values) {
  OptionTranslation out = one("--cpus-per-rank", values[0]);
  out.options.push_back({"-x", "SLURM_CPUS_PER_TASK=" + values[0]});
  return out;
}

// "2", "a100:2": the type is that of the allocation.
Result<OptionTranslation> gpus_per_task(string_view, Values values) {
  return one("--gpus-per-rank", values[0].substr(values[0].rfind(':') + 1));
}

Result<OptionTranslation> kill_on_bad_exit(string_view, Values values) {
  if (values.empty() || values[0] == "1") return one("--on-failure", "abort");
  if (values[0] == "0") return one("--on-failure", "continue");
  return bad_value(values[0], "0 or 1");
}

Result<OptionTranslation> distribution(string_view, Values values) {
  if (values[0] != "block" && values[0] != "cyclic") return bad_value(values[0], "block or cyclic");
  OptionTranslation out;
  out.options = {{"--map-by", "host"}, {"--rank-by", values[0] == "block" ? "slot" : "host"}};
  return out;
}

// The plugins whose protocol sml-run supports; "pmix_v4" is one of several versions.
Result<OptionTranslation> mpi(string_view written, Values values) {
  const string_view plugin = values[0];
  if (plugin == "list") return one("--help", "--mpi");
  if (plugin == "none" || plugin == "pmi2") return one("--mpi", std::string(plugin));
  if (plugin == "pmix" || plugin.starts_with("pmix_v")) return one("--mpi", "pmix");
  if (plugin == "cray_shasta" || plugin == "openmpi") return note_of(written, plugin);
  return bad_value(plugin, "pmi2, pmix, none or list");
}

// "--gpus 4", "--gpus=a100:4", "--gres=gpu:4": GPUs of the request to Slurm, which exists. Under the plain name the
// user means as many workers, and would silently get one.
Result<OptionTranslation> gpus(string_view written, Values values) {
  OptionTranslation out = note_of(written);
  const string_view value = values[0];
  if (written.ends_with("gres") && !value.starts_with("gpu")) return out;
  const string_view number = value.substr(value.rfind(':') + 1);
  out.needs_count = fmt::format("{} is srun's, and starts no workers here; write --nproc-per-node {}", written,
                                all_digits(number) ? number : string_view("gpu"));
  return out;
}

// Without -n, srun starts as many tasks as the cores of the request make.
Result<OptionTranslation> tasks_of_core(string_view written, Values) {
  OptionTranslation out = note_of(written);
  out.needs_count =
      fmt::format("{} is srun's, and starts no workers here; write -np N, or --nproc-per-node N", written);
  return out;
}

// Options for the request to Slurm, without effect since the allocation exists.
constexpr string_view kForSlurm =
    "J job-name p partition A account q qos t time mem mem-per-cpu cpu-bind gpu-bind W "
    "wait jobid signal container-image container-mounts container-workdir container-name container accel-bind "
    "acctg-freq b begin bb bbf M clusters cluster-constraint comment C constraint S core-spec cores-per-socket "
    "cpu-freq "
    "cpus-per-gpu deadline delay-boot d dependency B extra-node-info gid gpu-freq gres-flags hint L "
    "licenses mail-type mail-user mcs-label mem-bind mem-per-gpu mincpus msg-timeout network "
    "open-mode power prefer priority profile reservation slurmd-debug sockets-per-node switches thread-spec "
    "T threads threads-per-core time-min tmp uid wckey";
constexpr string_view kForSlurmAlone =
    "nice propagate compress contiguous disable-status X exclusive H hold I immediate k no-kill Z no-allocate E "
    "preserve-env "
    "no-container-remap-root quit-on-interrupt "
    "reboot resv-ports s oversubscribe spread-job use-min-nodes";

// On the command line, the option replaces that of its variable, which then may be one that sml-run does not take.
Row over_variable(Row row) {
  const string_view group = row.names;
  return one_of(group, std::move(row));
}

constexpr string_view kFiles = "sml-run writes DIR/rank.R/stdout with --log-dir, and other names with --log-layout";

}  // namespace

std::vector<Row> srun_rows() {
  return {
      as_option("n ntasks", "--np"),
      as_per_host("ntasks-per-node"),
      as_option("w nodelist", "--hosts"),
      as_option("F nodefile", "--hostfile"),
      as_option("D chdir", "--wdir"),
      over_variable(computed("c cpus-per-task", 1, cpus_per_task)),
      over_variable(computed("gpus-per-task", 1, gpus_per_task)),
      as_option("N nodes", "--host-count"),
      over_variable(computed("export", 1, exported)),
      over_variable(computed("mpi", 1, mpi)),
      over_variable(computed("m distribution", 1, distribution)),
      optional(computed("K kill-on-bad-exit", 0, kill_on_bad_exit)),
      as_fixed("l label", {{"--tag", "{rank:0}: "}}),
      as_fixed("V version", {{"--version", ""}}),
      as_fixed("usage", {{"--help", ""}}),
      as_is("u unbuffered overlap exact", 0),
      as_fixed("O overcommit", {{"--oversubscribe", ""}}),
      as_fixed("test-only", {{"--dry-run", ""}}),
      as_fixed("Q quiet", {{"--quiet", ""}}),
      computed("G gpus", 1, gpus),
      computed("gpus-per-node", 1, gpus),
      computed("gpus-per-socket", 1, gpus),
      computed("gres", 1, gpus),
      computed("ntasks-per-core", 1, tasks_of_core),
      noted(kForSlurm, 1),
      optional(noted(kForSlurmAlone, 0)),
      refused("x exclude", 1, "write sml-run's --exclude under the name sml-run"),
      refused("o output e error i input", 1, kFiles),
      refused("r relative multi-prog het-group", 1, "sml-run has no such thing"),
      refused("bcast send-libs", 0, "sml-run copies no files to other hosts; put them where every host finds them"),
      refused("bcast-exclude", 1, "sml-run copies no files to other hosts"),
      refused("ntasks-per-gpu ntasks-per-socket", 1, "write -n for the number of workers, or --ntasks-per-node"),
      refused("prolog epilog task-prolog task-epilog", 1, "call it before or after the program, in a script"),
      refused("pty x11", 0, "sml-run gives workers no terminal and no display"),
  };
}

}  // namespace sml::dialects
