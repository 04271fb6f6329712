// Each batch system from what it documents that its jobs find: environment and files.
#include "launcher/hosts/batch/batch_systems.h"

#include <map>

#include "launcher/hosts/batch/flux.h"
#include "launcher/hosts/batch/slurm.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

namespace {
using Map = std::map<std::string, std::string>;

struct Else {
  std::string host_name{"job-0"};
  JobSecret secret = JobSecret::None;
};
const Else kWithSecret{"job-0", JobSecret::Given};

SourceContext source_context(const Map& variables, const Map& files, const std::string& tool_says = "",
                             const Else& other = {}) {
  return {[variables](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          },
          [files](const std::string& path, std::size_t) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return Error(ErrorKind::Config, "no such file or directory");
            return found->second;
          },
          [tool_says](const std::vector<std::string>&) { return tool_says; },
          other.host_name,
          other.secret,
          [variables](std::string_view prefix) {
            std::vector<std::string> out;
            for (const auto& [name, value] : variables) {
              if (name.starts_with(prefix)) out.push_back(name);
            }
            return out;
          }};
}

// "source: name/slots ...", "?" for slots that are not named, "none" where there is no job, or "error: ...".
std::string found_in(FoundHosts (*find)(const SourceContext&), const Map& variables, const Map& files = {},
                     const std::string& tool_says = "") {
  const FoundHosts found = find(source_context(variables, files, tool_says));
  if (!found) return "error: " + found.error().message();
  if (!*found) return "none";
  std::string out = (*found)->source + ":";
  for (const plan::Host& h : (*found)->hosts) out += " " + h.name + "/" + (h.slots ? std::to_string(*h.slots) : "?");
  return out;
}

// The host that this one is, and those whose first it calls; "-" where nobody calls.
std::string calling_in(FoundHosts (*find)(const SourceContext&), const Map& variables, const Else& other = {},
                       const Map& files = {}) {
  const FoundHosts found = find(source_context(variables, files, "", other));
  if (!found) return "error: " + found.error().message();
  if (!*found || !(*found)->calls) return "-";
  const plan::CallingHosts& calls = *(*found)->calls;
  std::string out = calls.own_name + " of";
  for (const plan::Host& h : (*found)->hosts) out += " " + h.name;
  if (calls.names == plan::CallingHosts::Names::MadeUp) out += ", made up";
  return out + (calls.head.empty() ? "" : ", head " + calls.head);
}

std::string names_in(std::string_view list) {
  const auto names = expand_slurm_hostlist(list);
  if (!names) return "error: " + names.error().message();
  std::string out;
  for (const std::string& name : *names) out += (out.empty() ? "" : " ") + name;
  return out;
}
}  // namespace

TEST_CASE("Slurm's lists of hosts expand as scontrol show hostnames does") {
  struct Row {
    const char* list;
    const char* names;
  };
  const Row rows[] = {
      {"n[001-003,7]-ib[0-1]", "n001-ib0 n001-ib1 n002-ib0 n002-ib1 n003-ib0 n003-ib1 n7-ib0 n7-ib1"},
      {"n[1-2]-[3-4]-x[5-6]", "n1-3-x5 n1-3-x6 n2-3-x5 n2-3-x6 n1-4-x5 n1-4-x6 n2-4-x5 n2-4-x6"},
      {"x[1-2][3-4]", "x13 x14 x23 x24"},
      {"n[09-11]", "n09 n10 n11"},
      {"n[9-11]", "n9 n10 n11"},
      {"n[099-101]", "n099 n100 n101"},
      {"n[01-2]", "n01 n02"},
      {"n[1-02]", "n1 n2"},
      {"n[1,3,5-6],m[2],q", "n1 n3 n5 n6 m2 q"},
      {"n[1-3,2]", "n1 n2 n3 n2"},
      {"a,a,b", "a a b"},
      {"[1-3]", "1 2 3"},
      {"10.0.0.[1-3]", "10.0.0.1 10.0.0.2 10.0.0.3"},
      {"node-1-[1-2]", "node-1-1 node-1-2"},
      {"a, b", "a b"},
      {"a b", "a b"},
      {",n1", "n1"},
      {"n[1-2],,m1", "n1 n2 m1"},
      {"n[1-2].dom.ain", "n1.dom.ain n2.dom.ain"},
      {"", ""},
      {"n[3-1]", "error: \"n[3-1]\" has a range that runs backwards; write [1-3]"},
      {"a,n[]", "error: \"n[]\" has the bad range \"\"; expected numbers such as [1-4,7]"},
      {"n[a-c]", "error: \"n[a-c]\" has the bad range \"a-c\"; expected numbers such as [1-4,7]"},
      {"n[1--2]", "error: \"n[1--2]\" has the bad range \"1--2\"; expected numbers such as [1-4,7]"},
      {"n[0x10-0x12]", "error: \"n[0x10-0x12]\" has the bad range \"0x10-0x12\"; expected numbers such as [1-4,7]"},
      {"n[1-2", "error: \"n[1-2\" has brackets that do not match; expected a range such as algo-[1-4]"},
      {"n1-2]", "error: \"n1-2]\" has brackets that do not match; expected a range such as algo-[1-4]"},
      {"n[1-1000000]", "error: \"n[1-1000000]\" names 1000000 hosts; a job has at most 100000"},
      {"n[1-1000][1-1000]", "error: \"n[1-1000][1-1000]\" names too many hosts; a job has at most 100000"},
      {"-x", "error: \"-x\" is no host name"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.list);
    CHECK(names_in(row.list) == row.names);
  }
}

TEST_CASE("Slurm's counts expand to one for each host") {
  CHECK(*expand_slurm_counts("8(x2),4", 3) == std::vector<std::uint32_t>{8, 8, 4});
  CHECK(*expand_slurm_counts("1", 1) == std::vector<std::uint32_t>{1});
  CHECK(*expand_slurm_counts("0(x2),1(x1)", 3) == std::vector<std::uint32_t>{0, 0, 1});
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"8(x2)", "\"8(x2)\" counts for 2 of the 3 hosts of the job"},
      {"8(x4)", "\"8(x4)\" counts for more than the 3 hosts of the job"},
      {"8(x99999999999)", "\"8(x99999999999)\" counts for more than the 3 hosts of the job"},
      {"", "\"\" counts for 0 of the 3 hosts of the job"},
      {"8(x2),", "\"8(x2),\" counts for 2 of the 3 hosts of the job"},
      {"x", "\"x\" is no list of counts; expected one such as 8(x2),4"},
      {"8(x", "\"8(x\" is no list of counts; expected one such as 8(x2),4"},
      {"8(2),4", "\"8(2),4\" is no list of counts; expected one such as 8(x2),4"},
      {"8,,4", "\"8,,4\" is no list of counts; expected one such as 8(x2),4"},
      {"65537(x3)", "\"65537(x3)\" is no list of counts; expected one such as 8(x2),4"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(expand_slurm_counts(row.text, 3).error().message() == row.message);
  }
}

TEST_CASE("a job of Slurm has the tasks that were asked for") {
  Map job{{"SLURM_JOB_ID", "2"},  {"SLURM_JOB_NODELIST", "algo-[1-3]"},  {"SLURM_NODELIST", "algo-[1-3]"},
          {"SLURM_NTASKS", "20"}, {"SLURM_TASKS_PER_NODE", "8(x2),4"},   {"SLURM_JOB_NUM_NODES", "3"},
          {"SLURM_NPROCS", "20"}, {"SLURM_JOB_CPUS_PER_NODE", "8(x2),4"}};
  CHECK(found_in(slurm_hosts, {}) == "none");
  CHECK(found_in(slurm_hosts, job) == "SLURM_JOB_NODELIST: algo-1/8 algo-2/8 algo-3/4");

  Map step = job;  // srun -n1 within it: tasks are the step's
  step.insert({{"SLURM_PROCID", "0"},
               {"SLURM_STEP_ID", "0"},
               {"SLURM_STEP_NUM_TASKS", "1"},
               {"SLURM_STEP_TASKS_PER_NODE", "1"}});
  step["SLURM_TASKS_PER_NODE"] = step["SLURM_NTASKS"] = "1";
  CHECK(found_in(slurm_hosts, step) == "SLURM_JOB_NODELIST: algo-1/8 algo-2/8 algo-3/4");
  step["SLURM_STEP_ID"] = "4294967290";  // the shell that salloc starts keeps the job's
  step["SLURM_TASKS_PER_NODE"] = "5(x3)";
  CHECK(found_in(slurm_hosts, step) == "SLURM_JOB_NODELIST: algo-1/5 algo-2/5 algo-3/5");
  step["SLURM_STEP_NUM_TASKS"] = "3";
  CHECK(found_in(slurm_hosts, step) ==
        "error: srun has started sml-run 3 times; start it once, from salloc or sbatch without srun");
}

TEST_CASE("a job of Slurm without a number of tasks has GPUs, else CPUs") {
  Map job{{"SLURM_NODELIST", "a,b"},
          {"SLURM_TASKS_PER_NODE", "1(x2)"},
          {"SLURM_JOB_CPUS_PER_NODE", "16,9"},
          {"SLURM_CPUS_PER_TASK", "4"}};
  CHECK(found_in(slurm_hosts, job) == "SLURM_NODELIST: a/4 b/2");
  job["SLURM_GPUS_PER_NODE"] = "a100:8";
  CHECK(found_in(slurm_hosts, job) == "SLURM_NODELIST: a/8 b/8");
  job["SLURM_NTASKS_PER_NODE"] = "1";
  CHECK(found_in(slurm_hosts, job) == "SLURM_NODELIST: a/1 b/1");
  CHECK(found_in(slurm_hosts, {{"SLURM_JOB_NODELIST", "a"}}) == "SLURM_JOB_NODELIST: a/?");
  job["SLURM_TASKS_PER_NODE"] = "1(x3)";
  CHECK(found_in(slurm_hosts, job) ==
        "error: SLURM_TASKS_PER_NODE: \"1(x3)\" counts for more than the 2 hosts of the job");
  CHECK(found_in(slurm_hosts, {{"SLURM_JOB_NODELIST", ","}}) == "error: SLURM_JOB_NODELIST: names no host");
}

TEST_CASE("node files have a slot on each line") {
  const Map files{{"/f", "n1\nn1\nn2\n"}, {"/once", "n1\nn2\n"}, {"/bad", "n1\n-x\n"}, {"/empty", ""}};
  CHECK(found_in(pbs_hosts, {{"PBS_JOBID", "1.s"}, {"PBS_NODEFILE", "/f"}}, files) == "PBS_NODEFILE /f: n1/2 n2/1");
  CHECK(found_in(pbs_hosts, {{"PBS_ENVIRONMENT", "PBS_BATCH"}, {"PBS_NODEFILE", "/once"}}, files) ==
        "PBS_NODEFILE /once: n1/1 n2/1");
  CHECK(found_in(pbs_hosts, {{"PBS_NODEFILE", "/f"}}, files) == "none");  // left over from somewhere
  CHECK(found_in(pbs_hosts, {{"PBS_JOBID", "1"}, {"PBS_NODEFILE", "/gone"}}, files) ==
        "error: PBS_NODEFILE /gone: no such file or directory");
  CHECK(found_in(pbs_hosts, {{"PBS_JOBID", "1"}, {"PBS_NODEFILE", "/bad"}}, files) ==
        "error: PBS_NODEFILE: /bad:2:1: \"-x\" is no host name; expected letters, digits, \".\", \"_\" and \"-\", not "
        "first \"-\" or \".\"");
  CHECK(found_in(pbs_hosts, {{"PBS_JOBID", "1"}, {"PBS_NODEFILE", "/empty"}}, files) ==
        "error: PBS_NODEFILE: /empty: names no host; expected one host a line, as in \"algo-1 slots=8\"");
  CHECK(found_in(oar_hosts, {{"OAR_JOB_ID", "1"}, {"OAR_NODEFILE", "/f"}}, files) == "OAR_NODEFILE /f: n1/2 n2/1");
  CHECK(found_in(oar_hosts, {{"OAR_JOB_ID", "1"}, {"OAR_FILE_NODES", "/once"}}, files) ==
        "OAR_FILE_NODES /once: n1/1 n2/1");
  CHECK(found_in(oar_hosts, {{"OAR_NODEFILE", "/f"}}, files) == "none");
}

TEST_CASE("LSF's hosts come from its file, else from its variables") {
  const Map files{{"/f", "hostA\nhostA\nhostB\n"}};
  Map job{{"LSB_HOSTS", "hostA hostA hostB"}};
  CHECK(found_in(lsf_hosts, job) == "none");
  job["LSB_JOBID"] = "7";
  CHECK(found_in(lsf_hosts, job) == "LSB_HOSTS: hostA/2 hostB/1");
  job["LSB_MCPU_HOSTS"] = "hostA 4 hostB 4 ";
  CHECK(found_in(lsf_hosts, job) == "LSB_MCPU_HOSTS: hostA/4 hostB/4");
  job["LSB_DJOB_HOSTFILE"] = "/f";
  CHECK(found_in(lsf_hosts, job, files) == "LSB_DJOB_HOSTFILE /f: hostA/2 hostB/1");
  const std::string slots = "; expected a whole number of slots from 0 to 65536";
  CHECK(found_in(lsf_hosts, {{"LSB_JOBID", "7"}, {"LSB_MCPU_HOSTS", "hostA 4 hostB"}}) ==
        "error: LSB_MCPU_HOSTS: has no number after \"hostB\"" + slots);
  CHECK(found_in(lsf_hosts, {{"LSB_JOBID", "7"}, {"LSB_MCPU_HOSTS", "hostA x"}}) ==
        "error: LSB_MCPU_HOSTS: has \"x\" after \"hostA\"" + slots);
  CHECK(found_in(lsf_hosts, {{"LSB_JOBID", "7"}, {"LSB_HOSTS", "host;A"}}) ==
        "error: LSB_HOSTS: \"host;A\" is no host name");
  CHECK(found_in(lsf_hosts, {{"LSB_JOBID", "7"}, {"LSB_HOSTS", " "}}) == "error: LSB_HOSTS: names no host");
}

TEST_CASE("SGE's file counts the slots of each host and queue") {
  const Map files{{"/pe", "n1 8 all.q@n1 UNDEFINED\nn2 4 all.q@n2 0,0\nn1 2 big.q@n1 <NULL>\n"},
                  {"/bad", "n1 8 q\nn2\n"},
                  {"/name", "n1;x 8 q\n"}};
  const auto job = [](const char* file) { return Map{{"JOB_ID", "3"}, {"PE_HOSTFILE", file}}; };
  CHECK(found_in(sge_hosts, job("/pe"), files) == "PE_HOSTFILE /pe: n1/10 n2/4");
  CHECK(found_in(sge_hosts, {{"PE_HOSTFILE", "/pe"}}, files) == "none");
  CHECK(found_in(sge_hosts, job("/bad"), files) ==
        "error: PE_HOSTFILE /bad:2: has no number after \"n2\"; expected a whole number of slots from 0 to 65536; "
        "expected \"host slots queue processors\"");
  CHECK(found_in(sge_hosts, job("/name"), files) ==
        "error: PE_HOSTFILE /name:1: \"n1;x\" is no host name; expected \"host slots queue processors\"");
}

TEST_CASE("Flux's resources give GPUs, else cores") {
  const Map job{{"FLUX_URI", "local:///run/flux"}};
  const char* cores = R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}},
      {"rank":"2","children":{"core":"0,2"}}],"nodelist":["n[1-2],m"],"starttime":1,"expiration":2}})";
  CHECK(found_in(flux_hosts, job, {}, cores) == "flux resource R: n1/4 n2/4 m/2");
  const char* gpus = R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-63","gpu":"0-7"}}],
      "nodelist":["n[1-2]"]}})";
  CHECK(found_in(flux_hosts, job, {}, gpus) == "flux resource R: n1/8 n2/8");
  CHECK(found_in(flux_hosts, {}, {}, cores) == "none");
  CHECK(found_in(flux_hosts, job) == "error: flux resource R: printed nothing; name the hosts with --hosts");
  CHECK(found_in(flux_hosts, job, {}, "x") == "error: flux resource R: is not JSON (line 1, column 1)");
  for (const char* other : {"[]", "1", "{}", R"({"execution":1})", R"({"execution":{"nodelist":[1]}})"}) {
    CAPTURE(other);
    CHECK(found_in(flux_hosts, job, {}, other) ==
          "error: flux resource R: has no execution.nodelist; expected Flux's resource set R");
  }
  CHECK(found_in(flux_hosts, {{"FLUX_URI", "x"}, {"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "4"}}, {}, cores) ==
        "error: flux run has started sml-run 4 times; start it once, from flux batch or flux alloc");
}

TEST_CASE("the nodes of AWS Batch call the main one, which comes first") {
  CHECK(found_in(aws_batch_hosts, {}) == "none");
  CHECK(found_in(aws_batch_hosts, {{"AWS_BATCH_JOB_NUM_NODES", "1"}}) == "AWS_BATCH_JOB_NUM_NODES: localhost/?");
  Map node{{"AWS_BATCH_JOB_NUM_NODES", "3"}, {"AWS_BATCH_JOB_NODE_INDEX", "0"}};
  CHECK(calling_in(aws_batch_hosts, node) == "host-0 of host-0 host-1 host-2, made up");
  node["AWS_BATCH_JOB_MAIN_NODE_INDEX"] = "1";
  node["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = "10.0.0.1";
  CHECK(calling_in(aws_batch_hosts, node) == "host-0 of host-1 host-0 host-2, made up, head 10.0.0.1");
  node["AWS_BATCH_JOB_NODE_INDEX"] = "3";
  CHECK(found_in(aws_batch_hosts, node) ==
        "error: AWS_BATCH_JOB_NODE_INDEX: \"3\" is not what AWS Batch sets; expected 0 to 2");
  node["AWS_BATCH_JOB_NUM_NODES"] = "many";
  CHECK(found_in(aws_batch_hosts, node) ==
        "error: AWS_BATCH_JOB_NUM_NODES: \"many\" is not what AWS Batch sets; expected 1 to 100000");
}

TEST_CASE("the pods of an Indexed Job are named after ours") {
  const Map files{{"/etc/hosts",
                   "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
                   "10.0.0.3\tjob-0.svc.ns.svc.cluster.local\tjob-0\n"}};
  Map pod{{"JOB_COMPLETION_INDEX", "0"}};
  CHECK(found_in(kubernetes_hosts, pod, files) == "none");
  pod["SML_NUM_HOSTS"] = "3";
  CHECK(found_in(kubernetes_hosts, pod, files) ==
        "JOB_COMPLETION_INDEX: job-0.svc.ns.svc.cluster.local/? job-1.svc.ns.svc.cluster.local/? "
        "job-2.svc.ns.svc.cluster.local/?");
  CHECK(found_in(kubernetes_hosts, pod) == "JOB_COMPLETION_INDEX: job-0/? job-1/? job-2/?");
  pod["JOB_COMPLETION_INDEX"] = "2";
  CHECK(found_in(kubernetes_hosts, pod, files) ==
        "error: this is pod 2 of the job, and there is no secret: with the same SML_JOB_SECRET in every pod they call "
        "pod 0, without one start sml-run in pod 0 alone");
  CHECK(calling_in(kubernetes_hosts, pod, {"job-2", JobSecret::Given},
                   {{"/etc/hosts", "10.0.0.3 job-2.svc job-2\n"}}) == "job-2.svc of job-0.svc job-1.svc job-2.svc");
  CHECK(
      calling_in(kubernetes_hosts, pod, {"job-7", JobSecret::Given}) ==
      "error: JOB_COMPLETION_INDEX: it is 2, but the host name job-7 does not end in -2; name the hosts with --hosts");
  CHECK(calling_in(kubernetes_hosts, {{"JOB_COMPLETION_INDEX", "2"}}, kWithSecret) ==
        "error: JOB_COMPLETION_INDEX and a secret: the number of pods that have to call each other is missing; set it "
        "with "
        "SML_NUM_HOSTS");
  pod["JOB_COMPLETION_INDEX"] = "3";
  CHECK(calling_in(kubernetes_hosts, pod, {"job-3", JobSecret::Given}) ==
        "error: JOB_COMPLETION_INDEX: \"3\" is no pod of the 3 that SML_NUM_HOSTS counts");
  pod["SML_NUM_HOSTS"] = "many";
  CHECK(found_in(kubernetes_hosts, pod, files) ==
        "error: SML_NUM_HOSTS: \"many\" is no number of hosts; expected 1 to 100000");
}

TEST_CASE("the pods of a PyTorchJob are its master and workers") {
  Map pod{{"PET_NNODES", "3"}, {"MASTER_ADDR", "bert-master-0"}, {"PET_NODE_RANK", "0"}};
  CHECK(found_in(pytorchjob_hosts, pod) == "PET_NNODES: bert-master-0/? bert-worker-0/? bert-worker-1/?");
  pod["PET_NPROC_PER_NODE"] = "8";
  CHECK(found_in(pytorchjob_hosts, pod) == "PET_NNODES: bert-master-0/8 bert-worker-0/8 bert-worker-1/8");
  pod["PET_NPROC_PER_NODE"] = "auto";
  pod["PET_NNODES"] = "1:2";
  pod["MASTER_ADDR"] = "bert-worker-0";
  CHECK(found_in(pytorchjob_hosts, pod) == "PET_NNODES: bert-worker-0/? bert-worker-1/?");
  pod["PET_NODE_RANK"] = "1";
  CHECK(found_in(pytorchjob_hosts, pod) ==
        "error: this is host 1 of a PyTorchJob, and there is no secret: with the same SML_JOB_SECRET in every pod they "
        "call bert-worker-0, without one start sml-run in bert-worker-0 alone");
  CHECK(found_in(pytorchjob_hosts, {{"MASTER_ADDR", "10.0.0.1"}}) == "none");
  CHECK(found_in(pytorchjob_hosts, {{"PET_NNODES", "2"}, {"MASTER_ADDR", "10.0.0.1"}}) ==
        "error: PET_NNODES: it counts 2 hosts, and from 10.0.0.1 the others' names do not follow; name them with "
        "--hosts, or start sml-run on each with the same SML_JOB_SECRET, and they call that one");
  CHECK(
      found_in(pytorchjob_hosts, {{"PET_NNODES", "2"}}) ==
      "error: PET_NNODES: it counts 2 hosts, and nothing names them; name them with --hosts, or start sml-run on each "
      "with the same SML_JOB_SECRET, and they call the one of --head");
  CHECK(found_in(pytorchjob_hosts, {{"PET_NNODES", "1"}, {"PET_NPROC_PER_NODE", "4"}}) == "PET_NNODES: localhost/4");
  CHECK(found_in(pytorchjob_hosts, {{"PET_NNODES", "1"}, {"PET_NPROC_PER_NODE", "many"}}) ==
        "error: PET_NPROC_PER_NODE: \"many\" is no number of workers; expected 1 to 65536, auto, gpu or cpu");
}

TEST_CASE("the pods of a TrainJob are those of its JobSet") {
  Map pod{{"PET_NNODES", "3"}, {"PET_MASTER_ADDR", "bert-node-0-0.bert"}, {"PET_NPROC_PER_NODE", "2"}};
  CHECK(found_in(pytorchjob_hosts, pod) ==
        "PET_NNODES: bert-node-0-0.bert/2 bert-node-0-1.bert/2 bert-node-0-2.bert/2");
  pod["JOB_COMPLETION_INDEX"] = "2";
  CHECK(found_in(pytorchjob_hosts, pod) ==
        "error: this is host 2 of a PyTorchJob, and there is no secret: with the same SML_JOB_SECRET in every pod they "
        "call bert-node-0-0.bert, without one start sml-run in bert-node-0-0.bert alone");
  CHECK(calling_in(pytorchjob_hosts, pod, kWithSecret) ==
        "bert-node-0-2.bert of bert-node-0-0.bert bert-node-0-1.bert bert-node-0-2.bert, head bert-node-0-0.bert");
}

TEST_CASE("the pods of a PyTorchJob that have a secret call the first") {
  const std::string all = " of bert-master-0 bert-worker-0, head bert-master-0";
  Map pod{{"PET_NNODES", "2"}, {"MASTER_ADDR", "bert-master-0"}, {"PET_NODE_RANK", "1"}};
  CHECK(calling_in(pytorchjob_hosts, pod) != "-");
  CHECK(calling_in(pytorchjob_hosts, pod, kWithSecret) == "bert-worker-0" + all);
  pod["PET_NODE_RANK"] = "0";
  CHECK(calling_in(pytorchjob_hosts, pod) == "-");
  CHECK(calling_in(pytorchjob_hosts, pod, kWithSecret) == "bert-master-0" + all);
  pod["MASTER_ADDR"] = "localhost";
  CHECK(calling_in(pytorchjob_hosts, pod, {"bert-master-0", JobSecret::Given}) == "bert-master-0" + all);
  CHECK(calling_in(pytorchjob_hosts, {{"PET_NNODES", "2"}, {"MASTER_ADDR", "10.0.0.1"}, {"PET_NODE_RANK", "1"}},
                   kWithSecret) == "host-1 of host-0 host-1, made up, head 10.0.0.1");
  CHECK(calling_in(pytorchjob_hosts, {{"PET_NNODES", "1:2"}, {"PET_RDZV_ENDPOINT", "bert-worker-0:29400"}},
                   {"bert-worker-1", JobSecret::Given}) ==
        "bert-worker-1 of bert-worker-0 bert-worker-1, head bert-worker-0");
  CHECK(calling_in(pytorchjob_hosts, {{"PET_NNODES", "1"}}, kWithSecret) == "-");
}

TEST_CASE("the hosts of SkyPilot and dstack are listed by address, with the GPUs of each") {
  Map sky{{"SKYPILOT_NODE_IPS", "10.0.0.1\n10.0.0.2\n"},
          {"SKYPILOT_NODE_RANK", "0"},
          {"SKYPILOT_NUM_NODES", "2"},
          {"SKYPILOT_NUM_GPUS_PER_NODE", "8"}};
  CHECK(found_in(skypilot_hosts, sky) == "SKYPILOT_NODE_IPS: 10.0.0.1/8 10.0.0.2/8");
  CHECK(calling_in(skypilot_hosts, sky) == "-");
  CHECK(calling_in(skypilot_hosts, sky, kWithSecret) == "10.0.0.1 of 10.0.0.1 10.0.0.2");
  sky["SKYPILOT_NODE_RANK"] = "1";
  CHECK(calling_in(skypilot_hosts, sky, kWithSecret) == "10.0.0.2 of 10.0.0.1 10.0.0.2");
  CHECK(
      found_in(skypilot_hosts, sky) ==
      "error: this is host 1 (SKYPILOT_NODE_RANK), and there is no secret: with the same SML_JOB_SECRET on every host "
      "they call the first, without one start sml-run on host 0 alone");
  sky["SKYPILOT_NODE_RANK"] = "2";
  CHECK(found_in(skypilot_hosts, sky) ==
        "error: SKYPILOT_NODE_RANK: 2 is no place among the 2 hosts of SKYPILOT_NODE_IPS");
  sky["SKYPILOT_NODE_RANK"] = "x";
  CHECK(found_in(skypilot_hosts, sky) == "error: SKYPILOT_NODE_RANK: \"x\" is no number");
  CHECK(found_in(skypilot_hosts, {{"SKYPILOT_NODE_IPS", "10.0.0.1"}, {"SKYPILOT_NODE_RANK", "0"}}) ==
        "SKYPILOT_NODE_IPS: 10.0.0.1/?");
  CHECK(found_in(skypilot_hosts, {{"SKYPILOT_NODE_IPS", "-oProxyCommand=x"}, {"SKYPILOT_NODE_RANK", "0"}}) ==
        "error: SKYPILOT_NODE_IPS: \"-oProxyCommand=x\" is no host");
  CHECK(found_in(skypilot_hosts, {{"SKYPILOT_NODE_IPS", "10.0.0.1"}}) == "none");
  CHECK(found_in(dstack_hosts, {{"DSTACK_NODES_IPS", "10.0.0.1\n10.0.0.2"},
                                {"DSTACK_NODE_RANK", "0"},
                                {"DSTACK_GPUS_PER_NODE", "0"}}) == "DSTACK_NODES_IPS: 10.0.0.1/? 10.0.0.2/?");
}

TEST_CASE("the pods of a LeaderWorkerSet are named after its leader") {
  Map pod{{"LWS_LEADER_ADDRESS", "v-0.v.ns"}, {"LWS_GROUP_SIZE", "3"}, {"LWS_WORKER_INDEX", "0"}};
  CHECK(found_in(lws_hosts, pod) == "LWS_LEADER_ADDRESS: v-0.v.ns/? v-0-1.v.ns/? v-0-2.v.ns/?");
  pod["LWS_WORKER_INDEX"] = "2";
  CHECK(calling_in(lws_hosts, pod, kWithSecret) == "v-0-2.v.ns of v-0.v.ns v-0-1.v.ns v-0-2.v.ns");
  CHECK(found_in(lws_hosts, pod).starts_with("error: this is host 2 (LWS_WORKER_INDEX), and there is no secret"));
  pod["LWS_GROUP_SIZE"] = "0";
  CHECK(found_in(lws_hosts, pod) == "error: LWS_GROUP_SIZE: \"0\" is no number of hosts");
}

TEST_CASE(
    "the pods of Volcano are those of all tasks, the one that leads first, or those that its plugin for MPI names") {
  Map pod{
      {"VC_WORKER_HOSTS", "j-worker-0.j,j-worker-1.j"}, {"VC_MASTER_HOSTS", "j-master-0.j"}, {"VC_WORKER_NUM", "2"}};
  CHECK(found_in(volcano_hosts, pod) == "VC_*_HOSTS: j-master-0.j/? j-worker-0.j/? j-worker-1.j/?");
  CHECK(calling_in(volcano_hosts, pod, {"j-worker-1", JobSecret::Given}) ==
        "j-worker-1.j of j-master-0.j j-worker-0.j j-worker-1.j");
  CHECK(calling_in(volcano_hosts, pod, {"j-worker-1", JobSecret::None})
            .starts_with("error: this is host 2 (by its name)"));
  CHECK(calling_in(volcano_hosts, pod, {"j-master-0", JobSecret::None}) == "-");
  pod["MPI_HOST"] = "j-worker-0.j,j-worker-1.j";
  CHECK(found_in(volcano_hosts, pod) == "MPI_HOST: j-worker-0.j/? j-worker-1.j/?");
  CHECK(found_in(volcano_hosts, {{"MPI_HOST", "a"}}) == "none");
}

TEST_CASE("host files that MPI launchers would find") {
  const Map files{{"/etc/mpi/hostfile", "pi-worker-0.pi.default.svc slots=2\npi-worker-1.pi.default.svc slots=2\n"},
                  {"/hydra", "pi-worker-0.pi:2\n"}};
  CHECK(found_in(mpi_hosts, {{"OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile"}}, files) ==
        "OMPI_MCA_orte_default_hostfile /etc/mpi/hostfile: pi-worker-0.pi.default.svc/2 pi-worker-1.pi.default.svc/2");
  CHECK(found_in(mpi_hosts, {{"I_MPI_HYDRA_HOST_FILE", "/hydra"}}, files) ==
        "I_MPI_HYDRA_HOST_FILE /hydra: pi-worker-0.pi/2");
  CHECK(found_in(mpi_hosts, {{"OMPI_MCA_orte_default_hostfile", "none"}}, files) == "none");
  CHECK(found_in(mpi_hosts, {}, files) == "none");
}

TEST_CASE("a heterogeneous job of Slurm says which hosts are not used") {
  const FoundHosts found = slurm_hosts(source_context({{"SLURM_JOB_NODELIST", "a"},
                                                       {"SLURM_HET_SIZE", "2"},
                                                       {"SLURM_JOB_NODELIST_HET_GROUP_0", "a"},
                                                       {"SLURM_JOB_NODELIST_HET_GROUP_1", "b[1-2]"}},
                                                      {}));
  REQUIRE(found.has_value());
  CHECK(
      (*found)->remark ==
      "this job of Slurm has 2 components, and only the hosts of the first are used, from SLURM_JOB_NODELIST; --hosts "
      "takes those of the others too: b[1-2]");
}
