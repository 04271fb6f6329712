#include "launcher/inputs/inputs.h"

#include <cerrno>
#include <map>

#include "launcher/hosts/host_list.h"
#include "launcher/inputs/device_listings.h"
#include "launcher/options/values/host_source_names.h"
#include "tests/support/catch.h"

using namespace sml;

namespace {
constexpr const char* kTwoHosts = R"({"current_host":"algo-1","hosts":["algo-1","algo-2"]})";
constexpr const char* kOneHost = R"({"current_host":"algo-9","hosts":["algo-9"]})";

// A machine made of values, which counts how often its devices were asked for.
struct FakeHost {
  std::map<std::string, std::string> files;
  std::uint32_t gpus = 0;
  std::uint32_t neuron_cores = 0;
  std::uint32_t cpus = 1;
  int device_counts = 0;
  plan::Environment environment;
  std::string working_directory = "/home/me";
  std::optional<bool> has_ssh_server;  // nothing: not known

  ThisHost here() {
    ThisHost m;
    m.files.read = [this](const std::string& path, std::size_t) -> Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return Error(ErrorKind::Config, errno_text(ENOENT));
      return found->second;
    };
    m.files.exists = [this](const std::string& path) { return files.count(path) > 0; };
    m.hardware.count_gpus = [this] { return ++device_counts, gpus; };
    m.hardware.count_neuron_cores = [this] { return ++device_counts, neuron_cores; };
    m.hardware.count_cpus = [this] { return cpus; };
    m.programs.output_of = [](const std::vector<std::string>&) { return std::string(); };
    m.names.own = "head";
    m.process.working_directory = working_directory;
    m.process.environment = environment;
    m.job.id = "sml-1";
    if (has_ssh_server) m.programs.listens = [this](std::uint16_t port) { return *has_ssh_server && port == 22; };
    return m;
  }
};

Options options() {
  Options o;
  o.command = {"prog"};
  return o;
}

plan::LaunchPlan plan_of(const Options& o, FakeHost& fake) {
  const auto plan = make_plan(o, fake.here());
  if (plan.has_error()) FAIL(plan.error().message());
  return *plan;
}

// "name:slots name:slots".
std::string hosts_of(const plan::LaunchPlan& plan) {
  std::string out;
  for (const plan::MappedHost& h : plan.map.hosts) {
    out += (out.empty() ? "" : " ") + h.host.name + ":" + std::to_string(h.slots);
  }
  return out;
}

std::string error_of(const Options& o, FakeHost& fake) {
  const auto plan = make_plan(o, fake.here());
  if (plan.has_value()) return "(accepted)";
  CHECK(exit_code_of(plan.error().kind()) == 2);
  return plan.error().message();
}
}  // namespace

TEST_CASE("the host source with the most say wins, and the plan tells which") {
  FakeHost fake;
  fake.files = {{"/opt/ml/input/config/resourceconfig.json", kTwoHosts},
                {"/opt/ml/config/resourceconfig.json", kOneHost},
                {"mine.json", R"({"current_host":"m","hosts":["m"]})"},
                {"nodes.txt", "n1 slots=2\nn2:3\n"}};
  Options o = options();

  o.hosts = "a:2,b:1";
  o.hostfile = "nodes.txt";
  o.resource_config = "mine.json";
  CHECK(plan_of(o, fake).host_source == "-H");
  CHECK(hosts_of(plan_of(o, fake)) == "a:2 b:1");

  o.hosts.clear();
  CHECK(plan_of(o, fake).host_source == "--hostfile nodes.txt");
  CHECK(hosts_of(plan_of(o, fake)) == "n1:2 n2:3");

  o.hostfile.clear();
  CHECK(plan_of(o, fake).host_source == "--resource-config mine.json");
  CHECK(hosts_of(plan_of(o, fake)) == "m:1");

  o.resource_config.clear();
  CHECK(plan_of(o, fake).host_source == "/opt/ml/input/config/resourceconfig.json");
  CHECK(hosts_of(plan_of(o, fake)) == "algo-1:1 algo-2:1");

  fake.files.erase("/opt/ml/input/config/resourceconfig.json");
  CHECK(plan_of(o, fake).host_source == "/opt/ml/config/resourceconfig.json");
  CHECK(hosts_of(plan_of(o, fake)) == "algo-9:1");

  fake.files.clear();
  CHECK(plan_of(o, fake).host_source == "this machine");
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:1");
}

TEST_CASE("a rankfile says where each rank is, and names the hosts where nothing else does") {
  FakeHost fake;
  fake.files = {{"r.txt", "rank 0=b slot=0:0\nrank 1=a\nrank 2=b\n"}, {"bad.txt", "rank 0=a\nrank 1\n"}};
  Options o = options();
  o.rankfile = "r.txt";
  CHECK(plan_of(o, fake).host_source == "--rankfile r.txt");
  CHECK(hosts_of(plan_of(o, fake)) == "b:2 a:1");
  CHECK(plan_of(o, fake).map.ranks[2].local_rank == LocalRank(1));
  o.hosts = "a:4,b:4";
  CHECK(plan_of(o, fake).host_source == "-H");
  CHECK(hosts_of(plan_of(o, fake)) == "b:4 a:4");
  CHECK(plan_of(o, fake).map.cores == std::vector<std::string>{"0:0", "", ""});
  o.hosts = "a,b";
  CHECK(hosts_of(plan_of(o, fake)) == "b:2 a:1");
  o.hosts = "a";
  CHECK(error_of(o, fake) == "r.txt:1: b is none of the job's hosts");
  o.rankfile = "bad.txt";
  CHECK(error_of(o, fake) == "bad.txt:2: \"rank 1\" is no line of a rankfile; expected rank N=HOST slot=CORES");
  o.rankfile = "none.txt";
  CHECK(error_of(o, fake) == "--rankfile none.txt: no such file or directory");
  o.layout.per_host = 2;
  CHECK(error_of(o, fake) ==
        "--rankfile gives the place of each rank; --map-by, --rank-by and --ranks-per-host cannot be given with it");
}

TEST_CASE("so many workers on each host are as good as slots that nobody names") {
  FakeHost fake;
  Options o = options();
  o.layout.per_host = 3;
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:3");
  o.hosts = "a,b:4";
  CHECK(hosts_of(plan_of(o, fake)) == "a:3 b:4");
  CHECK(plan_of(o, fake).map.world_size() == 6);
}

TEST_CASE("slots are the GPUs by those of a worker, and each worker sees its own") {
  FakeHost fake;
  fake.gpus = 8;
  Options o = options();
  CHECK(plan_of(o, fake).devices == plan::DeviceRequest{plan::VisibleDevices::All, 1});
  o.gpus_per_rank = 2;
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:4");
  CHECK(plan_of(o, fake).devices == plan::DeviceRequest{plan::VisibleDevices::PerRank, 2});
  o.visible_devices = plan::VisibleDevices::All;
  CHECK(plan_of(o, fake).devices.visible == plan::VisibleDevices::All);
  o.gpus_per_rank = 16;
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:1");
}

TEST_CASE("instance groups are those of the resource config") {
  FakeHost fake;
  fake.files = {{"/opt/ml/input/config/resourceconfig.json",
                 R"({"current_host":"a","hosts":["a","b","c"],"topology":[{"hostName":"a","capacityUnitId":"u"},
                     {"hostName":"c","capacityUnitId":"u"}],"instance_groups":[
                     {"instance_group_name":"gpu","hosts":["c","a"]},{"instance_group_name":"cpu","hosts":["b"]}]})"}};
  Options o = options();
  CHECK(hosts_of(plan_of(o, fake)) == "a:1 c:1 b:1");
  o.groups = "cpu:2,gpu";
  CHECK(hosts_of(plan_of(o, fake)) == "a:1 c:1 b:2");
  o.groups = "gpu:8";
  CHECK(hosts_of(plan_of(o, fake)) == "a:8 c:8");
  o.groups = "big";
  CHECK(error_of(o, fake) == "--group: \"big\" is no instance group; the file has gpu, cpu");
  o.hosts = "a";
  CHECK(error_of(o, fake) == "--group: only resourceconfig.json has instance groups, and the hosts come from -H");
}

TEST_CASE("batch systems come after SageMaker's files, and before host files of MPI launchers") {
  FakeHost fake;
  fake.files = {{"/opt/ml/input/config/resourceconfig.json", kTwoHosts}, {"mpi.txt", "w:2\n"}, {"pbs.txt", "p\np\n"}};
  fake.environment = {"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=8(x2),4", "SLURM_NTASKS=20", "PBS_JOBID=1",
                      "PBS_NODEFILE=pbs.txt",      "HYDRA_HOST_FILE=mpi.txt"};
  CHECK(plan_of(options(), fake).host_source == "/opt/ml/input/config/resourceconfig.json");
  fake.files.erase("/opt/ml/input/config/resourceconfig.json");
  CHECK(plan_of(options(), fake).host_source == "SLURM_JOB_NODELIST");
  CHECK(plan_of(options(), fake).presets == std::set{plan::Preset::OpenMpi});  // as under srun, JAX finds itself
  CHECK(hosts_of(plan_of(options(), fake)) == "n1:8 n2:8 n3:4");
  fake.environment.erase(fake.environment.begin());
  CHECK(plan_of(options(), fake).host_source == "PBS_NODEFILE pbs.txt");
  CHECK(hosts_of(plan_of(options(), fake)) == "p:2");
  fake.environment.erase(fake.environment.begin(), fake.environment.end() - 1);
  CHECK(plan_of(options(), fake).host_source == "HYDRA_HOST_FILE mpi.txt");
  fake.environment.back() = "HYDRA_HOST_FILE=";
  CHECK(plan_of(options(), fake).host_source == "this machine");
}

TEST_CASE("each source of hosts is asked once, and again where other options ask") {
  FakeHost fake;
  fake.files = {{"/opt/ml/input/config/resourceconfig.json", kTwoHosts}};
  int reads = 0;
  ThisHost here = fake.here();
  here.files.read = [&reads, read = here.files.read](const std::string& path, std::size_t limit) {
    return ++reads, read(path, limit);
  };
  HostFinder finder(here);
  Options o = options();
  for (int times = 0; times < 3; ++times) CHECK(finder.find(o)->hosts.size() == 2);
  CHECK(reads == 1);
  o.groups = "g";
  CHECK(finder.find(o).has_error());  // the file has no groups
  CHECK(reads == 2);
  o.groups.clear();
  o.hosts = "a,b,c";
  CHECK(finder.find(o)->hosts.size() == 3);
  o.hosts = "a";
  CHECK(finder.find(o)->hosts.size() == 1);
  CHECK(reads == 2);
}

TEST_CASE("each name that --host-source takes is that of a source") {
  for (const std::string_view name : host_source_names()) {
    INFO(name);
    FakeHost fake;
    Options o = options();
    o.host_source = name;
    const std::string error = error_of(o, fake);
    if (name == "local") CHECK(error == "(accepted)");
    if (name != "local") CHECK(error.starts_with("--host-source " + o.host_source + ": not there; it needs "));
  }
}

TEST_CASE("--host-source takes one source and no other") {
  FakeHost fake;
  fake.environment = {"SLURM_JOB_NODELIST=n[1-3", "PBS_JOBID=1", "PBS_NODEFILE=pbs.txt"};
  fake.files = {{"pbs.txt", "p\np\n"}};
  Options o = options();
  CHECK(error_of(o, fake) ==
        "SLURM_JOB_NODELIST: \"n[1-3\" has brackets that do not match; expected a range such as algo-[1-4]");
  o.host_source = "pbs";
  CHECK(hosts_of(plan_of(o, fake)) == "p:2");
  o.hosts = "a:1";
  CHECK(hosts_of(plan_of(o, fake)) == "p:2");
  o.host_source = "local";
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:1");
  o.host_source = "lsf";
  CHECK(error_of(o, fake) ==
        "--host-source lsf: not there; it needs LSB_JOBID, and LSB_DJOB_HOSTFILE, LSB_MCPU_HOSTS or LSB_HOSTS");
  o.host_source = "hostfile";
  CHECK(error_of(o, fake) == "--host-source hostfile: not there; it needs --hostfile");
}

TEST_CASE("hosts are filtered and ordered") {
  FakeHost fake;
  Options o = options();
  o.hosts = "n10:4,n2:4,n1:4";
  o.include_hosts = "n1@n10:0,2";
  CHECK(hosts_of(plan_of(o, fake)) == "n10:2 n1:4");
  o.host_order = HostOrder::Natural;
  CHECK(hosts_of(plan_of(o, fake)) == "n1:4 n10:2");
  o.include_hosts.clear();
  o.exclude_hosts = "n1";
  CHECK(hosts_of(plan_of(o, fake)) == "n2:4 n10:4");
  o.include_hosts = "n1";
  CHECK(error_of(o, fake) == "--include and --exclude cannot both be given; name the hosts in one of them");
  o.include_hosts.clear();
  o.exclude_hosts = "n3";
  CHECK(error_of(o, fake) == "--exclude: no host n3 in this job; its hosts are n[1-2,10]");
}

TEST_CASE("the names of this machine are one host") {
  FakeHost fake;
  Options o = options();
  o.hosts = "a:1,localhost:2,b:1,HEAD:3";
  const plan::LaunchPlan plan = plan_of(o, fake);
  CHECK(hosts_of(plan) == "a:1 localhost:5 b:1");
  CHECK(plan.warnings ==
        std::vector<std::string>{"HEAD is this machine, as localhost is: one host with the slots of both"});
  o.hosts = "localhost:2,joe@head:3,127.0.0.1:2222/1";
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:2 head:3 127.0.0.1:1");
  o.hosts = "localhost:40000,head:40000";
  CHECK(error_of(o, fake) ==
        "localhost and head are this machine, and bring it to 80000 slots; a host has at most 65536");
}

TEST_CASE("--nproc-per-node wins over what the machines have, not over what was asked for") {
  FakeHost fake;
  fake.environment = {"SLURM_JOB_NODELIST=n[1-2]", "SLURM_JOB_CPUS_PER_NODE=16(x2)"};
  Options o = options();
  CHECK(hosts_of(plan_of(o, fake)) == "n1:16 n2:16");
  o.nproc_per_node = 2;
  CHECK(hosts_of(plan_of(o, fake)) == "n1:2 n2:2");
  fake.environment.insert(fake.environment.end(), {"SLURM_NTASKS=6", "SLURM_TASKS_PER_NODE=3(x2)"});
  CHECK(hosts_of(plan_of(o, fake)) == "n1:3 n2:3");
}

TEST_CASE("hosts of a SageMaker training job call each other where there is no SSH server, unless SSH is asked for") {
  FakeHost fake;
  fake.files = {{"/opt/ml/input/config/resourceconfig.json", kTwoHosts}};
  fake.has_ssh_server = true;
  CHECK_FALSE(plan_of(options(), fake).calls);
  fake.has_ssh_server = false;
  const plan::LaunchPlan plan = plan_of(options(), fake);
  REQUIRE(plan.calls);
  CHECK(plan.calls->own_name == "algo-1");
  CHECK(hosts_of(plan) == "algo-1:1 algo-2:1");
  Options o = options();
  o.ssh.command = {"ssh"};
  CHECK_FALSE(plan_of(o, fake).calls);
  o = options();
  o.ssh.port = 2222;
  CHECK_FALSE(plan_of(o, fake).calls);
  o = options();
  o.hosts = "algo-1,algo-2";
  CHECK_FALSE(plan_of(o, fake).calls);
}

TEST_CASE("SAGEMAKER_BASE_DIR moves SageMaker's files") {
  struct Row {
    const char* base;
    const char* file;
    const char* source;
  };
  const Row rows[] = {
      {"/tmp/x", "/tmp/x/opt/ml/input/config/resourceconfig.json", "/tmp/x/opt/ml/input/config/resourceconfig.json"},
      {"/tmp/x/", "/tmp/x/opt/ml/config/resourceconfig.json", "/tmp/x/opt/ml/config/resourceconfig.json"},
      {"/tmp/x/opt/ml", "/tmp/x/opt/ml/input/config/resourceconfig.json",
       "/tmp/x/opt/ml/input/config/resourceconfig.json"},
      {"/opt/ml", "/opt/ml/config/resourceconfig.json", "/opt/ml/config/resourceconfig.json"},
      {"/", "/opt/ml/config/resourceconfig.json", "/opt/ml/config/resourceconfig.json"},
      {"", "/opt/ml/config/resourceconfig.json", "/opt/ml/config/resourceconfig.json"},
      {"/tmp/x", "/opt/ml/input/config/resourceconfig.json", "this machine"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.base, row.file);
    FakeHost fake;
    fake.environment = {"SAGEMAKER_BASE_DIR=" + std::string(row.base)};
    fake.files = {{row.file, kTwoHosts}};
    CHECK(plan_of(options(), fake).host_source == row.source);
  }
}

TEST_CASE("files of SageMaker that SAGEMAKER_BASE_DIR has moved are believed where nobody else can change them") {
  for (const std::string base : {"", "/tmp/x"}) {
    CAPTURE(base);
    const std::string file = base + "/opt/ml/config/resourceconfig.json";
    FakeHost fake;
    fake.environment = {"SAGEMAKER_BASE_DIR=" + base};
    fake.files = {{file, kTwoHosts}};
    ThisHost here = fake.here();
    here.files.check_trust = [](const std::string&) { return Result<void>(Error(ErrorKind::Config, "it is open")); };
    const auto plan = make_plan(options(), here);
    const std::string refusal = file + ": is not obeyed, as it is open";
    CHECK((plan ? "" : plan.error().message()) == (base.empty() ? "" : refusal));
  }
}

TEST_CASE("slots that are not named are counted on this machine") {
  struct Row {
    const char* what;
    std::uint32_t gpus;
    std::uint32_t neuron_cores;
    SlotsRule rule;
    std::optional<std::uint32_t> nproc_per_node;
    const char* expected;
  };
  const Row rows[] = {
      {"nothing there", 0, 0, SlotsRule::Auto, {}, "a:1 b:3"},  {"GPUs", 8, 2, SlotsRule::Auto, {}, "a:8 b:3"},
      {"Neuron cores", 0, 32, SlotsRule::Auto, {}, "a:32 b:3"}, {"an option", 8, 0, SlotsRule::Auto, 2, "a:2 b:3"},
      {"only GPUs", 4, 0, SlotsRule::Gpu, {}, "a:4 b:3"},       {"CPUs", 4, 0, SlotsRule::Cpu, {}, "a:6 b:3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    FakeHost fake;
    fake.gpus = row.gpus;
    fake.neuron_cores = row.neuron_cores;
    fake.cpus = 6;
    Options o = options();
    o.hosts = "a,b:3";
    o.slots_rule = row.rule;
    o.nproc_per_node = row.nproc_per_node;
    CHECK(hosts_of(plan_of(o, fake)) == row.expected);
  }
}

TEST_CASE("devices are not looked for when nobody needs their number") {
  FakeHost fake;
  fake.gpus = 8;
  Options o = options();
  o.hosts = "a:1,b:2";
  plan_of(o, fake);
  o.hosts = "a";
  o.nproc_per_node = 2;
  plan_of(o, fake);
  o = options();
  o.np = 3;
  plan_of(o, fake);
  CHECK(fake.device_counts == 0);
}

TEST_CASE("on this machine --np alone is as good as slots") {
  FakeHost fake;
  fake.gpus = 2;
  Options o = options();
  o.np = 5;
  CHECK(hosts_of(plan_of(o, fake)) == "localhost:5");
  CHECK(plan_of(o, fake).map.world_size() == 5);
  o.nproc_per_node = 2;
  CHECK(error_of(o, fake) ==
        "-np 5 is more than the 2 slots of 1 host; lower -np, name more slots or hosts, or give --oversubscribe");
  o.nproc_per_node.reset();
  o.slots_rule = SlotsRule::Gpu;
  CHECK(error_of(o, fake) ==
        "-np 5 is more than the 2 slots of 1 host; lower -np, name more slots or hosts, or give --oversubscribe");
  o.slots_rule = SlotsRule::Auto;
  o.hosts = "localhost";
  CHECK(error_of(o, fake) ==
        "-np 5 is more than the 2 slots of 1 host; lower -np, name more slots or hosts, or give --oversubscribe");
  o.layout.oversubscribe = plan::Oversubscribe::Yes;
  CHECK(plan_of(o, fake).map.world_size() == 5);
}

TEST_CASE("bad input is refused with one sentence that names it") {
  FakeHost fake;
  fake.files = {{"bad.json", "{"}, {"bad.env", "A=1\noops"}, {"bad.txt", "a slots=1\nb slots=x\n"}};
  Options o = options();
  o.hosts = "a:1,h:";
  CHECK(error_of(o, fake) == "-H: \"h:\" has no number after \":\"; expected a whole number of slots from 0 to 65536");
  o.hosts = "a:1,b:2";
  o.np = 4;
  CHECK(error_of(o, fake) ==
        "-np 4 is more than the 3 slots of 2 hosts; lower -np, name more slots or hosts, or give --oversubscribe");
  o = options();
  o.hostfile = "missing.txt";
  CHECK(error_of(o, fake) == "--hostfile missing.txt: no such file or directory");
  o.hostfile = "bad.txt";
  CHECK(error_of(o, fake) ==
        "bad.txt:2:3: \"slots=x\" has \"x\" after \"slots=\"; expected a whole number of slots from 0 to 65536");
  o = options();
  o.resource_config = "missing.json";
  CHECK(error_of(o, fake) == "--resource-config missing.json: no such file or directory");
  o.resource_config = "bad.json";
  CHECK(error_of(o, fake) == "--resource-config bad.json: is not JSON (line 1, column 2)");
  o = options();
  o.env_files = {"bad.env"};
  CHECK(error_of(o, fake) == "bad.env:2: no \"=\" in the line; expected NAME=VALUE");
  o.env_files = {"missing.env"};
  CHECK(error_of(o, fake) == "--env-file missing.env: no such file or directory");
  o.env_files = {"/dev/null"};
  ThisHost here = fake.here();
  here.files.check_trust = [](const std::string&) -> Result<void> {
    return Error(ErrorKind::Config, "/dev belongs to user 7");
  };
  const auto plan = make_plan(o, here);
  REQUIRE(plan.has_error());
  CHECK(plan.error().message() == "--env-file /dev/null: is not obeyed, as /dev belongs to user 7");
  o = options();
  o.slots_rule = SlotsRule::Gpu;
  CHECK(error_of(o, fake) == "--nproc-per-node gpu: no GPU is found on this machine; give a number of slots");
}

TEST_CASE("a SageMaker file that is there but bad is an error, not passed over") {
  FakeHost fake;
  fake.files = {{"/opt/ml/input/config/resourceconfig.json", "{}"}, {"/opt/ml/config/resourceconfig.json", kOneHost}};
  CHECK(error_of(options(), fake) ==
        "/opt/ml/input/config/resourceconfig.json: has no \"hosts\"; expected an array of host names");
}

TEST_CASE("the working directory is absolute") {
  struct Row {
    const char* current;
    const char* wanted;
    const char* expected;
  };
  const Row rows[] = {{"/home/me", "", "/home/me"},
                      {"/home/me", "/data", "/data"},
                      {"/home/me", "sub/dir", "/home/me/sub/dir"},
                      {"/home/me", ".", "/home/me"},
                      {"/", "x", "/x"},
                      {"", "/data", "/data"}};
  for (const Row& row : rows) {
    CAPTURE(row.current, row.wanted);
    FakeHost fake;
    fake.working_directory = row.current;
    Options o = options();
    o.working_directory = row.wanted;
    CHECK(plan_of(o, fake).working_directory == row.expected);
  }
  FakeHost gone;
  gone.working_directory = "";
  CHECK(error_of(options(), gone) == "the working directory does not exist any more; name one with --wdir");
}

TEST_CASE("the user's variables come from the files first, then from -x") {
  FakeHost fake;
  fake.environment = {"PASSED=1", "PRE_A=2"};
  fake.files = {{"one", "A=one\nB=one\n"}, {"two", "B=two\n"}};
  Options o = options();
  o.env_files = {"one", "two"};
  o.export_variables = {"A=x", "PASSED", "PRE_*", "UNSET"};
  const plan::LaunchPlan plan = plan_of(o, fake);
  CHECK(plan.user_environment == plan::Environment{"A=one", "B=one", "B=two", "A=x", "PASSED=1", "PRE_A=2"});
  CHECK(plan.warnings == std::vector<std::string>{"-x UNSET: not set in the launcher's environment, so not passed"});
  CHECK(plan.launcher_environment == fake.environment);
}

TEST_CASE("the rest of the plan is what was asked for") {
  FakeHost fake;
  Options o = options();
  o.command = {"prog", "", "a b"};
  o.export_policy = plan::ExportPolicy::None;
  const plan::LaunchPlan plan = plan_of(o, fake);
  CHECK(plan.command == o.command);
  CHECK(plan.export_policy == plan::ExportPolicy::None);
  CHECK(plan.job.job_id == "sml-1");
}

TEST_CASE("device tools' listings are counted") {
  CHECK(gpus_in_listing("") == 0);
  CHECK(gpus_in_listing("GPU 0: NVIDIA H100 (UUID: GPU-1)\nGPU 1: NVIDIA H100 (UUID: GPU-2)\n") == 2);
  CHECK(gpus_in_listing("GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\n") == 1);
  CHECK(gpus_in_listing("No devices found.\n") == 0);
  CHECK(neuron_cores_in_listing("") == 0);
  CHECK(neuron_cores_in_listing(R"([{"neuron_device":0,"nc_count":2,"x":1},{"nc_count" : 4}])") == 6);
  CHECK(neuron_cores_in_listing("\"nc_count\"") == 0);
  CHECK(neuron_cores_in_listing("\"nc_count\":x \"nc_count\":99999999999") == 0);
}

TEST_CASE("CUDA_VISIBLE_DEVICES leaves as many GPUs as CUDA would see") {
  CHECK(visible_gpus(8, std::nullopt) == 8);
  CHECK(visible_gpus(8, "") == 0);
  CHECK(visible_gpus(8, "-1") == 0);
  CHECK(visible_gpus(8, "0,1, 3") == 3);
  CHECK(visible_gpus(8, "0,8,1") == 1);
  CHECK(visible_gpus(8, "0,-1,1") == 1);
  CHECK(visible_gpus(8, "GPU-12ab,GPU-34cd") == 2);
  CHECK(visible_gpus(0, "0") == 0);
}

TEST_CASE("this machine answers without any device tool") {
  const char* environment[] = {"PATH=/nonexistent", "A=1", nullptr};
  const ThisHost here = this_host(environment);
  CHECK(here.process.environment == plan::Environment{"PATH=/nonexistent", "A=1"});
  CHECK(here.hardware.count_cpus() >= 1);
  CHECK(here.process.working_directory.front() == '/');
  CHECK(here.job.id.size() == 20);
  CHECK(here.job.id != this_host(environment).job.id);
  CHECK(here.files.exists("/"));
  CHECK_FALSE(here.files.exists("/nonexistent/file"));
  CHECK(here.files.read("/nonexistent", 10).error().message() == "no such file or directory");
  CHECK(here.files.read("/", 10).error().message() == "is a directory");
  CHECK(here.files.read("/proc/self/status", 10).error().message() == "is larger than 10 bytes");
  CHECK(here.files.read("/dev/null", 10).has_value());
}

TEST_CASE("the job that we run in outranks SageMaker's file in the image, and that is said") {
  const std::string file = "/opt/ml/input/config/resourceconfig.json";
  FakeHost fake;
  fake.files[file] = kTwoHosts;
  fake.environment = {"SLURM_JOB_NODELIST=head,n2", "SLURM_JOB_CPUS_PER_NODE=2(x2)"};
  Options o = options();
  CHECK(hosts_of(plan_of(o, fake)) == "head:2 n2:2");
  CHECK(plan_of(o, fake).warnings == std::vector<std::string>{"SLURM_JOB_NODELIST and " + file +
                                                              " name different hosts; those of SLURM_JOB_NODELIST "
                                                              "are used (--host-source sagemaker takes the others)"});
  o.host_source = "sagemaker";
  CHECK(hosts_of(plan_of(o, fake)) == "algo-1:1 algo-2:1");
  CHECK(plan_of(o, fake).warnings.empty());
  o.host_source = "";
  o.hosts = "a:1";
  CHECK(plan_of(o, fake).warnings.empty());
  o.hosts = "";

  fake.environment[0] = "SLURM_JOB_NODELIST=n[1-2]";  // another's job, whose variables came with us
  CHECK(hosts_of(plan_of(o, fake)) == "algo-1:1 algo-2:1");
  REQUIRE(plan_of(o, fake).warnings.size() == 1);
  CHECK(
      plan_of(o, fake).warnings[0].ends_with("those of " + file + " are used (--host-source slurm takes the others)"));

  fake.environment[0] = "SLURM_JOB_NODELIST=algo-[1-2]";
  CHECK(plan_of(o, fake).warnings.empty());
}

TEST_CASE("a step of the batch system is refused before SageMaker's file is looked at") {
  FakeHost fake;
  fake.files["/opt/ml/input/config/resourceconfig.json"] = kTwoHosts;
  fake.environment = {"SLURM_JOB_NODELIST=algo-[1-2]", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2"};
  Options o = options();
  const std::string why =
      "srun has started sml-run 2 times, more than once on a host; start it once on each host (--ntasks-per-node=1), "
      "or "
      "once in all";
  CHECK(error_of(o, fake) == why);
  fake.has_ssh_server = false;
  CHECK(error_of(o, fake) == why);
  fake.has_ssh_server = true;
  o.host_source = "sagemaker";  // as the user says
  CHECK(hosts_of(plan_of(o, fake)) == "algo-1:1 algo-2:1");
}

TEST_CASE("one sml-run on each host of a step is one job, whatever SageMaker's file says") {
  FakeHost fake;
  fake.files["/opt/ml/input/config/resourceconfig.json"] = kTwoHosts;
  fake.environment = {"SLURM_JOB_NODELIST=n[1-3]",       "SLURM_JOB_CPUS_PER_NODE=4(x3)", "SLURM_PROCID=1",
                      "SLURM_STEP_NUM_TASKS=2",          "SLURM_STEP_NUM_NODES=2",        "SLURM_STEP_NODELIST=n[2-3]",
                      "SLURM_STEP_TASKS_PER_NODE=1(x2)", "SLURM_TASKS_PER_NODE=1(x2)"};
  Options o = options();
  CHECK(hosts_of(plan_of(o, fake)) == "n2:4 n3:4");
  CHECK(plan_of(o, fake).calls->own_name == "n3");
  CHECK(plan_of(o, fake).warnings.empty());
  o.dial_in.hosts = 2;  // as many, and nothing else is said
  CHECK(hosts_of(plan_of(o, fake)) == "n2:4 n3:4");
  o.dial_in.hosts = 3;  // of several steps
  CHECK(hosts_of(plan_of(o, fake)) == "host-0:1 host-1:1 host-2:1");
  o.dial_in.hosts = 2;
  o.dial_in.head = "n2";
  CHECK(hosts_of(plan_of(o, fake)) == "host-0:1 host-1:1");
  o.dial_in = {};
  o.hosts = "a:1";
  CHECK(hosts_of(plan_of(o, fake)) == "a:1");
  o.hosts = "";
  o.host_source = "local";
  CHECK_FALSE(plan_of(o, fake).calls);
}

TEST_CASE("only a rank that exists can have the input") {
  FakeHost fake;
  Options o = options();
  o.np = 2;
  o.stdin_rank = Rank(1);
  CHECK(plan_of(o, fake).map.world_size() == 2);
  o.stdin_rank = Rank(9);
  CHECK(error_of(o, fake) == "--stdin: there is no rank 9; the job's ranks are 0 to 1");
  o.stdin_rule = StdinRule::None;
  CHECK(plan_of(o, fake).map.world_size() == 2);
}

TEST_CASE("a private key that is named is there, where hosts are reached with it") {
  FakeHost fake;
  fake.environment = {"HOME=/home/me"};
  fake.files["/home/me/.ssh/key"] = "";
  Options o = options();
  o.hosts = "algo-1";
  for (const char* there : {"/home/me/.ssh/key", "~/.ssh/key"}) {
    o.ssh.identity_file = there;
    CHECK(plan_of(o, fake).map.world_size() == 1);
  }
  o.ssh.identity_file = "~/.ssh/none";
  CHECK(error_of(o, fake) == "--ssh-identity-file /home/me/.ssh/none: there is no such file");
  o.hosts = "localhost,head";
  CHECK(plan_of(o, fake).map.world_size() == 2);
  o.hosts = "algo-1";
  o.ssh.command = {"my-ssh"};
  CHECK(plan_of(o, fake).map.world_size() == 1);
}

TEST_CASE("a command with places for the host has to have one for all that is named") {
  FakeHost fake;
  Options o = options();
  o.hosts = "algo-1,me@algo-2";
  o.ssh.command = {"kubectl", "exec", "{host}", "--", "{command}"};
  CHECK(plan_of(o, fake).map.world_size() == 2);
  o.ssh.port = 2222;
  CHECK(error_of(o, fake) ==
        "--ssh-command: {host} has no place for port 2222 of algo-1; name the port in the command");
  o.ssh.command = {"ssh"};
  CHECK(plan_of(o, fake).map.world_size() == 2);
  o.ssh.port.reset();
  o.ssh.command = {"docker", "exec", "box", "{command}"};
  CHECK(error_of(o, fake) == "--ssh-command: there is {command} but no {host}, so that all hosts would be one");
}

TEST_CASE("only ranks that exist can be shown") {
  FakeHost fake;
  Options o = options();
  o.np = 4;
  o.output.shown_ranks = *RankSet::parse("0,3", 1000);
  CHECK(plan_of(o, fake).map.world_size() == 4);
  o.output.shown_ranks = *RankSet::parse("0,4-9", 1000);
  const auto refused = make_plan(o, fake.here());
  REQUIRE(refused.has_error());
  CHECK(refused.error().message() == "--show-ranks: there is no rank 9; the job's ranks are 0 to 3");
  o.output.shown_ranks = RankSet();
  CHECK(make_plan(o, fake.here()).has_value());
}

TEST_CASE("only ranks that exist can be watched") {
  FakeHost fake;
  Options o = options();
  o.np = 4;
  o.progress.watch = *report::WatchRule::parse("x;first=1;ranks=0,3", 1000);
  CHECK(make_plan(o, fake.here()).has_value());
  o.progress.watch = *report::WatchRule::parse("x;first=1;ranks=4", 1000);
  const auto refused = make_plan(o, fake.here());
  REQUIRE(refused.has_error());
  CHECK(refused.error().message() == "--watch: there is no rank 4; the job's ranks are 0 to 3");
}
