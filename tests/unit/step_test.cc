// One sml-run on each host of a step: which variables say so, and what the hosts tell and show each other then.
#include "launcher/hosts/step.h"

#include <map>

#include "launcher/dialin/munge.h"
#include "launcher/dialin/step_space.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

namespace {

using Map = std::map<std::string, std::string>;

SourceContext context_of(const Map& variables, const std::string& host_name = "n1", const Map& files = {}) {
  return {[variables](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          },
          [files](const std::string& path, std::size_t) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return Error(ErrorKind::Config, "no such file or directory");
            return found->second;
          },
          [](const std::vector<std::string>&) { return std::string(); }, host_name, JobSecret::None};
}

// "RANK of HOST/SLOTS ...: ID", with the number of hosts where they have no names, "none", or "error: ...".
std::string step_in(const Map& variables, const std::string& host_name = "n1", const Map& files = {}) {
  const auto step = find_step(context_of(variables, host_name, files));
  if (!step) return "error: " + step.error().message();
  if (!*step) return "none";
  std::string out = std::to_string((*step)->rank) + " of";
  for (const plan::Host& h : (*step)->named) out += " " + h.name + "/" + (h.slots ? std::to_string(*h.slots) : "?");
  if ((*step)->named.empty()) out += " " + std::to_string((*step)->hosts);
  return out + ": " + (*step)->id;
}

const Map kSlurm{{"SLURM_JOB_ID", "7"},
                 {"SLURM_STEP_ID", "2"},
                 {"SLURM_PROCID", "1"},
                 {"SLURM_STEP_NUM_TASKS", "2"},
                 {"SLURM_STEP_NUM_NODES", "2"},
                 {"SLURM_STEP_NODELIST", "n[2-3]"},
                 {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                 {"SLURM_TASKS_PER_NODE", "1(x2)"},
                 {"SLURM_NTASKS", "2"},
                 {"SLURM_JOB_NODELIST", "n[1-3]"},
                 {"SLURM_JOB_CPUS_PER_NODE", "8(x2),4"}};

Map with(Map map, const Map& more) {
  for (const auto& [name, value] : more) map[name] = value;
  return map;
}

}  // namespace

TEST_CASE("a step of Slurm with one task on each host is known by its hosts, with the slots of the job") {
  CHECK(step_in(kSlurm) == "1 of n2/8 n3/4: slurm 7.2");
  CHECK(step_in(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "1"}})) == "none");
  CHECK(step_in({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_NODELIST", "n[1-3]"}}) == "none");
  CHECK(step_in(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "4"}})) ==
        "error: srun has started sml-run 4 times, more than once on a host; start it once on each host "
        "(--ntasks-per-node=1), or once in all");
  CHECK(step_in(with(kSlurm, {{"SLURM_PROCID", "2"}})) ==
        "error: SLURM_STEP_NUM_TASKS counts 2 tasks, and this is number 2");
  CHECK(step_in(with(kSlurm, {{"SML_RANK", "0"}, {"SML_JOB_ID", "sml-1"}})) == "none");  // a worker of ours
}

TEST_CASE("steps of other launchers are known by what they count") {
  const Map flux{{"FLUX_JOB_ID", "f1"}, {"FLUX_TASK_RANK", "3"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "4"}};
  CHECK(step_in(flux) == "3 of 4: flux f1");
  CHECK(step_in(with(flux, {{"FLUX_JOB_NNODES", "2"}})).starts_with("error: flux run has started sml-run 4 times"));
  CHECK(step_in({{"FLUX_URI", "local:///x"}}) == "none");

  const Map hydra{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "1"}};
  CHECK(step_in(hydra) == "0 of 2: mpiexec ");
  CHECK(step_in(with(hydra, {{"MPI_LOCALNRANKS", "2"}})) ==
        "error: mpiexec has started sml-run 2 times, more than once on a host; start it once on each host (-ppn 1), or "
        "once in all");
  CHECK(step_in({{"PMI_ID", "1"}, {"PMI_PORT", "n1:7"}, {"MPI_LOCALNRANKS", "1"}}) == "1 of 0: mpiexec ");
  CHECK(step_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}) == "none");  // who knows how many there are on a host

  const Map mpirun{{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                   {"PMIX_NAMESPACE", "x@1"}};
  CHECK(step_in(mpirun) == "1 of 2: mpirun x@1");
  CHECK(step_in({{"PALS_RANKID", "1"}, {"PMI_SIZE", "2"}, {"PALS_LOCAL_SIZE", "1"}, {"PALS_APID", "a"}}) ==
        "1 of 2: mpiexec of PALS a");
}

TEST_CASE("the helpers of mpirun are a step of the batch system, and its own tasks are what counts") {
  const Map both =
      with(kSlurm, {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  CHECK(step_in(both).starts_with("error: mpirun has started sml-run 4 times"));
  // its hosts are those of the batch job, if this one has the place of its task
  const Map one = with(both, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                              {"OMPI_COMM_WORLD_SIZE", "3"},
                              {"OMPI_COMM_WORLD_RANK", "2"},
                              {"SLURM_JOB_CPUS_PER_NODE", "8(x3)"}});
  CHECK(step_in(one, "N3.cluster") == "2 of n1/8 n2/8 n3/8: mpirun ");
  CHECK(step_in(one, "n2") == "2 of 3: mpirun ");
}

TEST_CASE("tasks of PBS know their host's number, and where the node file is, the hosts") {
  const Map pbs{{"PBS_JOBID", "5.s"}, {"PBS_NODENUM", "1"}, {"PBS_TASKNUM", "3"}, {"PBS_NODEFILE", "/nodes"}};
  CHECK(step_in(pbs) == "1 of 0: pbs 5.s");
  CHECK(step_in(pbs, "b", {{"/nodes", "a\na\nb\n"}}) == "1 of a/2 b/1: pbs 5.s");
  CHECK(step_in(pbs, "a", {{"/nodes", "a\na\n"}}) == "none");
  CHECK(step_in(with(pbs, {{"PBS_NODENUM", "0"}, {"PBS_TASKNUM", "1"}}), "a", {{"/nodes", "a\nb\n"}}) ==
        "none");  // the script
}

TEST_CASE("the hosts of a step call the first") {
  const FoundHosts found = hosts_of_step(context_of(kSlurm));
  REQUIRE(found.has_value());
  REQUIRE(found->has_value());
  REQUIRE((*found)->calls);
  CHECK((*found)->calls->own_name == "n3");
  CHECK((*found)->calls->names == plan::CallingHosts::Names::Real);
  CHECK((*found)->source == "SLURM_STEP_NODELIST");

  const FoundHosts numbered =
      hosts_of_step(context_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "1"}}));
  REQUIRE(numbered.has_value());
  CHECK((*numbered)->hosts.size() == 2);
  CHECK((*numbered)->calls->own_name == "host-1");
  CHECK((*numbered)->calls->names == plan::CallingHosts::Names::MadeUp);

  const FoundHosts uncounted =
      hosts_of_step(context_of({{"PBS_JOBID", "5.s"}, {"PBS_NODENUM", "1"}, {"PBS_TASKNUM", "3"}}));
  REQUIRE(uncounted.has_error());
  CHECK(
      uncounted.error().message() ==
      "pbsdsh has started sml-run on several hosts, and does not give their number: set it with --nnodes N and --head "
      "ADDR, the address of the first");
  CHECK_FALSE(hosts_of_step(context_of({}))->has_value());
}

// ---- the key space

TEST_CASE("step: the entry of the coordinator comes over, and nothing else is one") {
  using namespace sml::dialin;
  SpaceWord word{.key = {}, .port = 4711, .addresses = {"n1", "10.0.0.1", "fd00::1"}};
  word.key.fill(0xa5);
  CHECK(parse_word(to_value(word)) == word);
  CHECK(to_value(word).size() < 256);  // the shortest value that a server may allow
  word = {.key = word.key, .port = 0, .addresses = {}};
  CHECK(parse_word(to_value(word)) == word);
  const std::string good = to_value(word);
  for (const std::string& bad : {std::string(), good.substr(1), good + "/", "2" + good.substr(1), good + "-x",
                                 good.substr(0, 60) + "/0/", good + "a b"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_word(bad));
  }
}

TEST_CASE("step: a space is where its variables lead") {
  using dialin::find_space;
  CHECK_FALSE(find_space({}));
  CHECK_FALSE(find_space({"PMI_FD=987"}));  // another process's
  CHECK_FALSE(find_space({"PMI_FD=x"}));
  CHECK_FALSE(find_space({"PMI_PORT=n1:7"}));
  CHECK_FALSE(find_space({"PMI_PORT=n1:7", "PMI_ID=1 cmd=abort"}));
  const auto found = find_space({"PMI_FD=987", "PMI_PORT=n1:7", "PMI_ID=1"});
  REQUIRE(found);
  CHECK(found->server == "n1:7");
  CHECK(found->id == "1");
}

// ---- credentials of MUNGE

TEST_CASE("step: a credential proves this user, on a host of the job, for this connection, once") {
  using dialin::check_unmunged;
  const auto said = [](const std::string& status, const std::string& host, const std::string& user,
                       const std::string& payload, const std::vector<std::string>& hosts = {"n1.cluster", "n2"}) {
    const std::string text = "STATUS:           " + status + "\nENCODE_HOST:      " + host +
                             "\nTTL:              300\nUID:              " + user +
                             "\nGID:              root (0)\nLENGTH:           5\n\n" + payload;
    const auto checked = check_unmunged(text, "claim", {.user = 1000, .hosts = hosts});
    return checked ? std::string() : checked.error().message();
  };
  const std::string good = "Success (0)";
  CHECK(said(good, "N1 (10.0.0.1)", "me (1000)", "claim").empty());
  CHECK(said(good, "n2.cluster (10.0.0.2)", "1000", "claim\n").empty());
  CHECK(said(good, "elsewhere (10.0.0.9)", "me (1000)", "claim", {}).empty());
  CHECK(said(good, "x (10.0.0.9)", "me (1000)", "claim", {"10.0.0.9"}).empty());
  CHECK(said(good, "n3 (10.0.0.3)", "me (1000)", "claim") == "comes from a host that is not of the job, n3 (10.0.0.3)");
  CHECK(said(good, "n1 (10.0.0.1)", "you (1001)", "claim") == "is of another user, you (1001)");
  CHECK(said(good, "n1 (10.0.0.1)", "1000 (1001)", "claim") == "is of another user, 1000 (1001)");
  CHECK(said(good, "n1 (10.0.0.1)", "me (1000)", "other") == "is for another connection");
  CHECK(said("Replayed credential (17)", "n1 (10.0.0.1)", "me (1000)", "claim") ==
        "is refused by munge: Replayed credential (17)");
  CHECK(said("Success", "n1 (10.0.0.1)", "me (1000)", "claim") == "is refused by munge: Success");
  for (const char* nothing : {"", "STATUS: \n\nclaim", "\n\nclaim"}) {
    const auto checked = check_unmunged(nothing, "claim", {.user = 1000, .hosts = {}});
    REQUIRE(checked.has_error());
    CHECK(checked.error().message() == "cannot be decoded here: unmunge printed no status");
  }
}
