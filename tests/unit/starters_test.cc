#include "launcher/starters/starters.h"

#include <set>

#include "launcher/inputs/inputs.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/bootstrap_script.h"
#include "tests/support/catch.h"

using namespace sml;
using starters::find_starter;

namespace {

using Words = std::vector<std::string>;

Words words_for(std::string_view name, const std::string& host, const Words& environment, const std::string& answer) {
  const auto words = find_starter(name)->arguments({host, "SCRIPT", environment, answer});
  if (!words) return {"error: " + words.error().message()};
  return *words;
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const Words kSlurmJob{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2(x2)", "SLURM_NTASKS=4"};

struct FakeJob {
  Words environment = kSlurmJob;
  std::set<std::string_view> tools{"srun", "qrsh", "blaunch", "flux", "oarsh", "kubectl"};
  Options options;

  FakeJob() { options.command = {"prog"}; }
  Result<plan::LaunchPlan> plan() const {
    ThisHost here;
    here.files.read = [](const std::string& path, std::size_t) -> Result<std::string> {
      if (path == "/pe") return std::string("n1 2 all.q UNDEFINED\nn2 2 all.q UNDEFINED\n");
      return Error(ErrorKind::Config, "no such file");
    };
    here.files.exists = [](const std::string&) { return false; };
    here.hardware.count_gpus = here.hardware.count_neuron_cores = [] { return 0U; };
    here.hardware.count_cpus = [] { return 1U; };
    here.programs.output_of = [](const Words&) { return std::string(); };
    here.programs.has_tool = [this](const starters::Starter& starter) { return tools.contains(starter.tool); };
    here.names.own = "n1";
    here.process.working_directory = "/";
    here.process.environment = environment;
    return make_plan(options, here);
  }
  std::string start() const {
    const auto made = plan();
    if (!made) return made.error().message();
    return made->start.by + ": " + made->start.because;
  }
};

}  // namespace

TEST_CASE("srun starts a step that takes nothing, as the version has it", "[starters]") {
  const Words now = words_for("srun", "n2", kSlurmJob, "slurm 24.11.5\n");
  CHECK(has(now, "--external-launcher"));
  CHECK_FALSE(has(now, "--overlap"));
  CHECK(has(words_for("srun", "n2", kSlurmJob, "slurm 23.11.0"), "--external-launcher"));
  CHECK(has(words_for("srun", "n2", kSlurmJob, "slurm-wlm 24.11.5"), "--external-launcher"));
  for (const char* old : {"slurm 22.05.8\n", "slurm 23.02.7", "", "srun: fatal"}) {
    const Words words = words_for("srun", "n2", kSlurmJob, old);
    CHECK(has(words, "--overlap"));
    CHECK(has(words, "--cpu-bind=none"));
    CHECK_FALSE(has(words, "--external-launcher"));
  }
  for (const char* word : {"--jobid=7", "--nodelist=n2", "--ntasks=1", "--mpi=none", "--kill-on-bad-exit=0"}) {
    CHECK(has(now, word));
  }
  CHECK(Words(now.end() - 3, now.end()) == Words{"/bin/sh", "-c", "SCRIPT"});
  CHECK(has(words_for("srun", "n2", {"SLURM_JOBID=8"}, ""), "--jobid=8"));
}

TEST_CASE("tools that start programs without a shell get words, the others a line", "[starters]") {
  CHECK(words_for("qrsh", "n2", {}, "") == Words{"-inherit", "n2", "SCRIPT"});
  CHECK(words_for("lsf", "n2", {}, "") == Words{"n2", "SCRIPT"});
  CHECK(words_for("oar", "n2", {}, "") == Words{"n2", "SCRIPT"});
  CHECK(words_for("kubectl", "p-0", {}, "") == Words{"exec", "-i", "p-0", "--", "/bin/sh", "-c", "SCRIPT"});
  CHECK(words_for("flux", "n2", {}, "n[1-2]\n") == Words{"exec", "-r", "1", "-d", "/", "/bin/sh", "-c", "SCRIPT"});
  CHECK(words_for("flux", "n9", {}, "n[1-2]") == Words{"error: the host has no broker of this instance of Flux"});
  CHECK(words_for("flux", "n2", {}, "").front().starts_with("error: flux getattr hostlist does not name"));
}

TEST_CASE("one call of srun starts agents that call, from 16 hosts on", "[starters]") {
  CHECK_FALSE(agents_call(starters::srun(), 15));
  CHECK(agents_call(starters::srun(), 16));
  const Words hosts{"n1", "n2"};
  const auto words =
      starters::srun().step.arguments({hosts, {"/bin/prog", "word"}, kSlurmJob, "slurm 22.05.8", "srun"});
  REQUIRE(words.has_value());
  for (const char* word : {"--overlap", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--nodelist=n1,n2",
                           "--input=none", "--no-kill", "--kill-on-bad-exit=0"}) {
    CHECK(has(*words, word));
  }
  CHECK(Words(words->end() - 2, words->end()) == Words{"/bin/prog", "word"});
}

TEST_CASE("starters without a pipe start a program on each host", "[starters]") {
  const Words hosts{"n2"};
  const Words two{"n2", "n3"};
  const auto of = [](const starters::Starter& starter, const Words& names, const std::string& tool) {
    return *starter.step.arguments({names, {"/bin/prog", "-c"}, {}, "", tool});
  };
  CHECK(of(starters::pbs(), hosts, "/usr/bin/pbs_tmrsh") == Words{"n2", "/bin/prog", "-c"});
  CHECK(of(starters::pbs(), hosts, "/usr/bin/pbsdsh") == Words{"-h", "n2", "--", "/bin/prog", "-c"});
  CHECK(of(starters::pals(), two, "/usr/bin/mpiexec") ==
        Words{"-n", "2", "--ppn", "1", "--hosts", "n2,n3", "--cpu-bind", "none", "/bin/prog", "-c"});
  CHECK(of(starters::pals(), two, "/usr/bin/aprun") ==
        Words{"-n", "2", "-N", "1", "-L", "n2,n3", "--cc", "none", "/bin/prog", "-c"});
}

TEST_CASE("srun's input variables do not reach it, and what finds Slurm does", "[starters]") {
  const Words environment{
      "PATH=/bin",      "SLURM_JOB_ID=7",   "SLURM_CONF=/c",         "SLURM_CLUSTERS=c",      "SLURM_CPUS_PER_TASK=2",
      "SLURM_NTASKS=4", "SLURM_CPU_BIND=x", "SLURM_CPU_BIND_TYPE=x", "SLURM_KILL_BAD_EXIT=1", "SLURM_JOB_NUM_NODES=2",
      "PMI_RANK=1",     "SLURM_STEP_ID=1"};
  CHECK(environment_of_tool(starters::srun(), environment) ==
        Words{"PATH=/bin", "SLURM_JOB_ID=7", "SLURM_CONF=/c", "SLURM_CLUSTERS=c"});
}

TEST_CASE("a command that is the tool of a starter is known by its file name", "[starters]") {
  CHECK(starters::starter_of_tool("srun") == &starters::srun());
  CHECK(starters::starter_of_tool("/opt/sge/bin/qrsh") == &starters::qrsh());
  CHECK(starters::starter_of_tool("pbsdsh") == &starters::pbs());
  CHECK(starters::starter_of_tool("/opt/cray/bin/aprun") == &starters::pals());
  for (const char* other : {"ssh", "srun.sh", "/opt/srun/ssh", "", "/"}) {
    CHECK(starters::starter_of_tool(other) == nullptr);
  }
}

TEST_CASE("the script removes what a step adds, in words for any login shell", "[starters]") {
  const std::string plain = transport::bootstrap_script(transport::AgentImage::embedded(), "mark");
  const std::string line = transport::without_variables(plain, starters::srun().not_for_workers);
  CHECK(line.starts_with("exec /bin/sh -c 'unset SLURM_DISTRIBUTION "));
  CHECK(line.find("case $sml_at in SLURM_CPU_BIND* | ") != std::string::npos);
  const std::string inner = line.substr(std::string("exec /bin/sh -c '").size(), line.size() - plain.size());
  for (const char c : {'\'', '\\', '\n', '!'}) CHECK(inner.find(c) == std::string::npos);
  CHECK(transport::without_variables(plain, {}) == plain);
  CHECK(transport::without_bootstrap_script("srun: bad: " + line) == "srun: bad: (the script that starts the agent)");
}

TEST_CASE("what a tool says becomes a clause that is the same for all hosts", "[starters]") {
  const auto said = [](std::string_view name, std::string_view errors) {
    return account_of(*find_starter(name), errors);
  };
  CHECK(said("srun", "srun: error: n2: task 0: Exited with exit code 9\n").empty());
  CHECK(said("srun", "srun: cluster configuration lacks support for cpu binding\n").empty());
  CHECK(said("srun", "srun: error: Unable to create step for job 7: Requested nodes are busy\n") ==
        "srun printed: Unable to create step for job 7: Requested nodes are busy");
  CHECK(
      said("srun", "slurmstepd: error: *** STEP 7.1 ON n2 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n") ==
      "Slurm ended its step: the time limit of the job has passed");
  CHECK(said("srun", "slurmstepd: error: *** STEP 7.1 ON n2 CANCELLED AT 2026-01-01T00:00:00 ***\n") ==
        "Slurm cancelled its step");
  CHECK(said("qrsh", "error: something else\n\n") == "error: something else");
  CHECK(said("oar", "a\nb\n") == "b");
}

TEST_CASE("a batch job starts by its system's own starter", "[starters]") {
  FakeJob job;
  CHECK(job.start() == "srun: this is a job of Slurm");
  job.environment = {"JOB_ID=3", "PE_HOSTFILE=/pe"};
  CHECK(job.start() == "qrsh: this is a job of Grid Engine");
  job.environment = {"LSB_JOBID=3", "LSB_MCPU_HOSTS=n1 2 n2 2"};
  CHECK(job.start() == "lsf: this is a job of LSF");
  job.environment = {"PBS_JOBID=3", "PBS_NODEFILE=/pbs"};
  CHECK(job.start() == "PBS_NODEFILE /pbs: no such file");
  job.environment = {};
  job.options.hosts = "n1,n2";
  CHECK(job.start() == "ssh: this is no job of a batch system that has a starter");
}

TEST_CASE("a log-in that is described, and hosts of others, are reached by SSH", "[starters]") {
  FakeJob job;
  job.options.hosts = "n1,n2,n9";
  CHECK(job.start() == "ssh: n9 is not in the job of Slurm");
  job.options.hosts = "n1,N2.cluster.org";
  CHECK(job.start() == "srun: this is a job of Slurm");
  job.options.hosts = "n1,me@n2";
  CHECK(job.start() == "ssh: a user is given for n2");
  job.options.hosts.clear();
  job.options.ssh.command = {"my-ssh"};
  CHECK(job.start() == "ssh: --ssh-command is given");
  job.options.ssh.command.clear();
  job.options.ssh.port = 2222;
  CHECK(job.start() == "ssh: options for SSH are given");
}

TEST_CASE("where the tool is missing SSH is tried, and a line says so", "[starters]") {
  FakeJob job;
  job.tools.clear();
  const auto plan = job.plan();
  REQUIRE(plan.has_value());
  CHECK(plan->start.by == "ssh");
  REQUIRE(plan->warnings.size() == 1);
  CHECK(plan->warnings.front().starts_with("this is a job of Slurm, but there is no srun in PATH"));
}

TEST_CASE("a named starter that can start nothing here is refused", "[starters]") {
  FakeJob job;
  job.options.start_by = "ssh";
  CHECK(job.start() == "ssh: --start-by asks for it");
  job.options.start_by = "qrsh";
  CHECK(job.start() == "--start-by qrsh: sml-run does not run in a job of Grid Engine, as PE_HOSTFILE is not set");
  job.options.start_by = "kubectl";
  CHECK(job.start() == "kubectl: --start-by asks for it");
  job.options.start_by = "pbs";
  CHECK(job.start() == "--start-by pbs: sml-run does not run in a job of PBS, as PBS_JOBCOOKIE is not set");
  job.options.start_by = "srun";
  job.options.ssh.user = "me";
  CHECK(job.start() ==
        "--start-by srun: options for SSH are given, of which srun has no use; leave one of the two out");
  job.options.start_by = "lsf";
  CHECK(job.start() ==
        "--start-by lsf: options for SSH are given, of which blaunch has no use; leave one of the two out");
}

TEST_CASE("each way has a name of its own, and messages name it by words", "[starters]") {
  std::set<std::string_view> names;
  for (const std::string_view name : starters::way_names()) CHECK(names.insert(name).second);
  CHECK(names.size() == 1 + starters::kWays.size() + starters::all_starters().size());
  CHECK(starters::way_in_words("ssh") == "SSH");
  CHECK(starters::way_in_words("lsf") == "blaunch");
}

TEST_CASE("each starter knows its job and how it starts", "[starters]") {
  for (const starters::Starter* starter : starters::all_starters()) {
    CHECK((starter->arguments != nullptr || agents_call(*starter, 1)));
    CHECK((starter->host_source.empty() == starter->job_variable.empty()));
  }
}
