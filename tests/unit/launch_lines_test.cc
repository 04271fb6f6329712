// Launch lines of the public documentation of other launchers and of AWS: the plan that each must give.
#include <map>
#include <set>
#include <sstream>

#include "common/core/text.h"
#include "launcher/dialects/dialect.h"
#include "launcher/hosts/host_list.h"
#include "launcher/inputs/inputs.h"
#include "launcher/inputs/nested_launcher.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_table.h"
#include "launcher/options/text/completion.h"
#include "tests/support/catch.h"
#include "tests/support/fake_machines.h"

using namespace sml;
using namespace std::chrono_literals;

namespace {

ThisHost the_machine() {
  static const std::map<std::string, std::string> files{
      {"hosts", "host1 slots=8\nhost2 slots=8\n"},
      {"my-hosts", "compute-1 slots=8\ncompute-2 slots=8\n"},
      {"myhostfile", "node0 slots=2 max_slots=20\nnode1 slots=2 max_slots=20\n"},
      {"machines", "h1:2\nh2:2\n"},
      {"nodes", "h1\nh2\n"},
      {"/etc/mpi/hostfile", "job-worker-0.job.default.svc slots=2\njob-worker-1.job.default.svc slots=2\n"},
      {"/jobs/hostfile", "worker-1 slots=4\nworker-2 slots=4\n"},
      {"/usr/bin/python", ""},
      {"horovod.yaml", "params:\n  cycle_time_ms: 2\n  cache_capacity: 7\n"},
      {"two-machines.yaml",
       "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: "
       "4\nmachine_rank: "
       "1\nmain_process_ip: node0\nmain_process_port: 29501\nmixed_precision: 'no'\n"},
      {"/hf/accelerate/default_config.yaml", "distributed_type: 'NO'\nnum_processes: 3\nmixed_precision: bf16\n"},
      {"fsdp.yaml", "distributed_type: FSDP\nnum_processes: 2\n"},
      {"script.py", ""},
      {"run.py", ""},
  };
  ThisHost m;
  m.files.read = [](const std::string& path, std::size_t) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error(ErrorKind::Config, "no such file");
    return found->second;
  };
  m.files.exists = [](const std::string& path) { return files.count(path) > 0; };
  m.hardware.count_gpus = [] { return 4U; };
  m.hardware.count_neuron_cores = [] { return 0U; };
  m.hardware.count_cpus = [] { return 16U; };
  m.hardware.cpu_topology = [] { return test::two_sockets_smt().topology(); };
  m.programs.output_of = [](const std::vector<std::string>&) { return std::string(); };
  m.names.own = "head";
  m.process.working_directory = "/home/me";
  m.process.environment = {"PATH=/usr/local/bin:/usr/bin", "LD_LIBRARY_PATH=/lib", "PYTHONPATH=/py", "HOME=/home/me"};
  m.job.id = "sml-1";
  m.found.discovered = *hosts::parse_host_list("found-1:4,found-2:4,found-3:6");
  return m;
}

struct Planned {
  Options options;
  plan::LaunchPlan plan;
};

Result<Planned> plan_of(const std::string& line, const std::vector<std::string>& variables = {}) {
  const auto words = shell_words(line);
  REQUIRE(words.has_value());
  ThisHost here = the_machine();
  here.process.environment.insert(here.process.environment.end(), variables.begin(), variables.end());
  const std::vector<std::string> arguments(words->begin() + 1, words->end());
  auto parsed = parse_command_line(arguments, {.environment = here.process.environment,
                                               .called = words->front(),
                                               .exists = here.files.exists,
                                               .executable = [](const std::string& path) { return path == "run.py"; },
                                               .read_file = here.files.read});
  if (!parsed) return parsed.error();
  REQUIRE(std::holds_alternative<Options>(*parsed));
  auto& options = std::get<Options>(*parsed);
  Result<plan::LaunchPlan> plan = make_plan(options, here);
  if (!plan) return plan.error();
  return Planned{std::move(options), std::move(*plan)};
}

// "host1*8 host2*8": hosts with their ranks.
std::string places(const plan::LaunchPlan& plan) {
  std::string out;
  for (const plan::MappedHost& h : plan.map.hosts) {
    if (!h.ranks.empty()) out += (out.empty() ? "" : " ") + h.host.name + "*" + std::to_string(h.ranks.size());
  }
  return out;
}

// "A=1 B=2": what -x and --env-file come to, by name.
std::string variables(const plan::LaunchPlan& plan) {
  std::map<std::string, std::string> last;
  for (const std::string& entry : plan.user_environment)
    last[std::string(plan::name_of(entry))] = plan::value_of(entry);
  std::string out;
  for (const auto& [name, value] : last) out += (out.empty() ? "" : " ") + name + "=" + value;
  return out;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

struct Line {
  const char* line;
  const char* places;
  const char* variables;
  const char* command;
  const char* without_effect = "";
};

// `told`: the variables of a plan, as in the line.
void check(const Line& row, std::string (*told)(const plan::LaunchPlan&) = variables) {
  CAPTURE(row.line);
  const Result<Planned> planned = plan_of(row.line);
  if (planned.has_error()) {
    FAIL_CHECK(planned.error().message());
    return;
  }
  CHECK(places(planned->plan) == row.places);
  CHECK(told(planned->plan) == row.variables);
  CHECK(joined(planned->plan.command, " ") == row.command);
  CHECK(joined(planned->options.without_effect, ", ") == row.without_effect);
}

std::string error_of(const std::string& line) {
  const Result<Planned> planned = plan_of(line);
  return planned.has_error() ? planned.error().message() : "(accepted)";
}

const output::TagTemplate& tag_of(const Planned& planned) {
  static const output::TagTemplate none;
  return planned.options.output.tag ? *planned.options.output.tag : none;
}

// Of a line that is accepted.
Options options_of(const std::string& line) {
  CAPTURE(line);
  CHECK(error_of(line) == "(accepted)");
  const Result<Planned> planned = plan_of(line);
  return planned ? planned->options : Options();
}

}  // namespace

TEST_CASE("launch lines of Open MPI", "[dialects]") {
  const Line rows[] = {
      // mpirun(1), 4.1
      {"mpirun -np 4 ./a.out", "localhost*4", "", "./a.out"},
      {"mpirun -n 2 -wd /tmp hostname", "localhost*2", "", "hostname"},
      {"mpirun --hostfile myhostfile ./a.out", "node0*2 node1*2", "", "./a.out"},
      {"mpirun -hostfile myhostfile -np 3 ./a.out", "node0*2 node1*1", "", "./a.out"},
      {"mpirun -H aa,bb ./a.out", "aa*1 bb*1", "", "./a.out"},
      {"mpirun -H aa,aa,bb ./a.out", "aa*2 bb*1", "", "./a.out"},
      {"mpirun -H aa:2 -H bb ./a.out", "aa*2 bb*1", "", "./a.out"},
      {"mpirun --host a:1,b:1 -np 5 --oversubscribe ./a.out", "a*3 b*2", "", "./a.out"},
      {"mpirun -x DISPLAY=1 -x OFILE=/tmp/out -np 2 ./a.out", "localhost*2", "DISPLAY=1 OFILE=/tmp/out", "./a.out"},
      {"mpirun --mca btl tcp,self -np 1 foo", "localhost*1", "OMPI_MCA_btl=tcp,self", "foo"},
      {"mpirun -np 1 -mca btl tcp,self -mca pml ob1 foo", "localhost*1", "OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1",
       "foo"},
      {"mpirun --mca plm_rsh_agent ssh --prefix /opt/openmpi -np 1 foo", "localhost*1", "", "foo", "--prefix"},
      {"mpirun -np 4 --tag-output --report-bindings --bind-to none ./a.out", "localhost*4", "", "./a.out"},
      {"orterun --allow-run-as-root --nooversubscribe -c 2 foo -c 3", "localhost*2", "", "foo -c 3"},
      {"mpirun -np 1 -x A=1 ./master : -np 2 -mca btl tcp ./worker", "localhost*3", "A=1", "./master"},
      // prterun(1), 5.0
      {"prterun --np 2 --map-by slot --output tag --display allocation ./a.out", "localhost*2", "", "./a.out",
       "--display allocation"},
      {"mpirun --np 2 --prtemca plm_ssh_no_tree_spawn 1 --pmixmca gds hash ./a.out", "localhost*2", "OMPI_MCA_gds=hash",
       "./a.out", "--prtemca plm_ssh_no_tree_spawn"},
      // Horovod, docs/mpi.rst
      {"mpirun -np 4 -H localhost:4 -bind-to none -map-by slot -x NCCL_DEBUG=INFO -x LD_LIBRARY_PATH -x PATH -mca pml "
       "ob1 -mca btl ^openib python train.py",
       "localhost*4",
       "LD_LIBRARY_PATH=/lib NCCL_DEBUG=INFO OMPI_MCA_btl=^openib OMPI_MCA_pml=ob1 PATH=/usr/local/bin:/usr/bin",
       "python train.py"},
      {"mpirun -np 16 -H server1:4,server2:4,server3:4,server4:4 -bind-to none -map-by slot -x NCCL_DEBUG=INFO -x "
       "LD_LIBRARY_PATH -mca pml ob1 -mca btl ^openib -mca btl_tcp_if_exclude lo,docker0 python train.py",
       "server1*4 server2*4 server3*4 server4*4",
       "LD_LIBRARY_PATH=/lib NCCL_DEBUG=INFO OMPI_MCA_btl=^openib OMPI_MCA_btl_tcp_if_exclude=lo,docker0 "
       "OMPI_MCA_pml=ob1",
       "python train.py"},
      // Horovod, docs/docker.rst: a port of its own
      {"mpirun --allow-run-as-root -np 8 -H host1:4,host2:4 -mca plm_rsh_args \"-p 12345\" python train.py",
       "host1*4 host2*4", "", "python train.py"},
      // mpirun(1), placement and binding
      {"mpirun -np 3 -H a:2,b:2 --map-by node --bind-to socket ./a.out", "a*2 b*1", "", "./a.out"},
      {"mpirun -H a:4,b:4 --map-by ppr:2:node --report-bindings ./a.out", "a*2 b*2", "", "./a.out"},
      {"mpirun -np 4 -H a:4 --map-by socket:PE=2 --rank-by slot ./a.out", "a*4", "", "./a.out"},
      {"mpirun -np 3 -H a:2,b:2 -bynode ./a.out", "a*2 b*1", "", "./a.out"},
      {"mpirun -H aa,bb -npernode 2 ./a.out", "aa*2 bb*2", "", "./a.out"},
      {"mpirun -H aa,bb -pernode ./a.out", "aa*1 bb*1", "", "./a.out"},
      {"mpirun -np 2 -bycore -bind-to-core -timeout 10 ./a.out", "localhost*2", "", "./a.out"},
      {"mpirun -H a:4,b:4 --ppr 1:node ./a.out", "a*1 b*1", "", "./a.out"},
      {"mpirun -np 2 --show-progress --use-regexp ./a.out", "localhost*2", "", "./a.out",
       "--show-progress, --use-regexp"},
      // kubeflow's MPI operator, examples
      {"mpirun --hostfile /etc/mpi/hostfile -n 2 /home/mpiuser/pi", "job-worker-0.job.default.svc*2", "",
       "/home/mpiuser/pi"},
  };
  for (const Line& row : rows) check(row);
}

TEST_CASE("launch lines of AWS", "[dialects]") {
  const Line rows[] = {
      // EC2 guide, EFA and NCCL: the tests of NCCL
      {"/opt/amazon/openmpi/bin/mpirun -x FI_EFA_USE_HUGE_PAGE=0 -x LD_LIBRARY_PATH=/opt/nccl/lib -x NCCL_DEBUG=INFO "
       "--hostfile my-hosts -n 8 -N 8 --mca pml ^cm --mca btl tcp,self --mca btl_tcp_if_exclude lo,docker0 --bind-to "
       "none all_reduce_perf -b 8 -e 1G -f 2 -g 1 -c 1 -n 100",
       "compute-1*8",
       "FI_EFA_USE_HUGE_PAGE=0 LD_LIBRARY_PATH=/opt/nccl/lib NCCL_DEBUG=INFO OMPI_MCA_btl=tcp,self "
       "OMPI_MCA_btl_tcp_if_exclude=lo,docker0 OMPI_MCA_pml=^cm",
       "all_reduce_perf -b 8 -e 1G -f 2 -g 1 -c 1 -n 100"},
      // Deep Learning AMI guide, training with Horovod
      {"mpirun -np 16 -hostfile hosts -mca plm_rsh_no_tree_spawn 1 -bind-to none -map-by slot -x "
       "HOROVOD_HIERARCHICAL_ALLREDUCE=1 -x HOROVOD_FUSION_THRESHOLD=16777216 -x NCCL_MIN_NRINGS=4 -x LD_LIBRARY_PATH "
       "-x PATH -mca pml ob1 -mca btl ^openib -mca btl_vader_single_copy_mechanism none -mca btl_tcp_if_exclude "
       "lo,docker0 -tag-output python -W ignore train.py",
       "host1*8 host2*8",
       "HOROVOD_FUSION_THRESHOLD=16777216 HOROVOD_HIERARCHICAL_ALLREDUCE=1 LD_LIBRARY_PATH=/lib NCCL_MIN_NRINGS=4 "
       "OMPI_MCA_btl=^openib OMPI_MCA_btl_tcp_if_exclude=lo,docker0 OMPI_MCA_btl_vader_single_copy_mechanism=none "
       "OMPI_MCA_pml=ob1 PATH=/usr/local/bin:/usr/bin",
       "python -W ignore train.py", "-mca plm_rsh_no_tree_spawn"},
      // what the SageMaker training toolkit composes, with custom_mpi_options
      {"mpirun --host algo-1:8,algo-2:8 -np 16 --allow-run-as-root --display-map --tag-output -mca btl_tcp_if_include "
       "eth0 -mca oob_tcp_if_include eth0 -mca plm_rsh_no_tree_spawn 1 -bind-to none -map-by slot -mca pml ob1 -mca "
       "btl ^openib -mca orte_abort_on_non_zero_status 1 -mca btl_vader_single_copy_mechanism none -x "
       "NCCL_MIN_NRINGS=4 -x NCCL_SOCKET_IFNAME=eth0 -x NCCL_DEBUG=INFO -x LD_LIBRARY_PATH -x PATH -mca "
       "btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1 -x HOROVOD_FUSION_THRESHOLD=16777216 "
       "-x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL python train.py",
       "algo-1*8 algo-2*8",
       "HOROVOD_FUSION_THRESHOLD=16777216 HOROVOD_HIERARCHICAL_ALLREDUCE=1 LD_LIBRARY_PATH=/lib NCCL_DEBUG=INFO "
       "NCCL_LAUNCH_MODE=PARALLEL NCCL_MIN_NRINGS=8 NCCL_SOCKET_IFNAME=eth0 OMPI_MCA_btl=^openib "
       "OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_pml=ob1 "
       "PATH=/usr/local/bin:/usr/bin",
       "python train.py", "-mca oob_tcp_if_include, -mca plm_rsh_no_tree_spawn"},
      // the same for one process on each host
      {"mpirun --host algo-1,algo-2 -np 2 --allow-run-as-root --display-map --tag-output -mca pml ob1 python -m mpi4py "
       "train.py --epochs 2",
       "algo-1*1 algo-2*1", "OMPI_MCA_pml=ob1", "python -m mpi4py train.py --epochs 2"},
      // ParallelCluster, AWS Batch with MPI
      {"mpirun -N 1 --allow-run-as-root --machinefile machines /shared/mpi_hello_world", "h1*1 h2*1", "",
       "/shared/mpi_hello_world"},
      // SageMaker's torch_distributed, on one host
      {"torchrun --nnodes 1 --nproc_per_node 8 train.py --lr 0.1", "localhost*8", "", "python -u train.py --lr 0.1"},
  };
  for (const Line& row : rows) check(row);
}

TEST_CASE("launch lines of horovodrun", "[dialects]") {
  const Line rows[] = {
      // docs/running.rst
      {"horovodrun -np 4 -H localhost:4 python train.py", "localhost*4", "", "python train.py"},
      {"horovodrun -np 16 -H server1:4,server2:4,server3:4,server4:4 python train.py",
       "server1*4 server2*4 server3*4 server4*4", "", "python train.py"},
      {"horovodrun -np 4 python train.py", "localhost*4", "", "python train.py"},
      {"horovodrun -np 6 -hostfile hosts python train.py", "host1*6", "", "python train.py"},
      {"horovodrun --gloo -np 2 python train.py", "localhost*2", "HOROVOD_CONTROLLER=gloo HOROVOD_CPU_OPERATIONS=gloo",
       "python train.py"},
      {"horovodrun --mpi -np 2 -p 12345 python train.py", "localhost*2",
       "HOROVOD_CONTROLLER=mpi HOROVOD_CPU_OPERATIONS=mpi", "python train.py"},
      // docs/autotune.rst, timeline.rst, tensor-fusion.rst, stall inspector, troubleshooting
      {"horovodrun -np 4 --autotune --autotune-log-file /tmp/a.csv python train.py", "localhost*4",
       "HOROVOD_AUTOTUNE=1 HOROVOD_AUTOTUNE_LOG=/tmp/a.csv", "python train.py"},
      {"horovodrun -np 4 --autotune --autotune-warmup-samples 3 --autotune-steps-per-sample 10 "
       "--autotune-bayes-opt-max-samples 20 --autotune-gaussian-process-noise 0.8 python train.py",
       "localhost*4",
       "HOROVOD_AUTOTUNE=1 HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES=20 HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE=0.8 "
       "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE=10 HOROVOD_AUTOTUNE_WARMUP_SAMPLES=3",
       "python train.py"},
      {"horovodrun -np 4 --timeline-filename /path/to/timeline.json --timeline-mark-cycles python train.py",
       "localhost*4", "HOROVOD_TIMELINE=/path/to/timeline.json HOROVOD_TIMELINE_MARK_CYCLES=1", "python train.py"},
      {"horovodrun -np 4 --fusion-threshold-mb 32 --cycle-time-ms 3.5 python train.py", "localhost*4",
       "HOROVOD_CYCLE_TIME=3.5 HOROVOD_FUSION_THRESHOLD=33554432", "python train.py"},
      {"horovodrun -np 4 --no-stall-check python train.py", "localhost*4", "HOROVOD_STALL_CHECK_DISABLE=1",
       "python train.py"},
      {"horovodrun -np 4 --network-interfaces eth0,ens3 python train.py", "localhost*4", "", "python train.py"},
      {"horovodrun -np 2 --log-level DEBUG --log-hide-timestamp --verbose python train.py", "localhost*2",
       "HOROVOD_LOG_HIDE_TIME=1 HOROVOD_LOG_LEVEL=DEBUG", "python train.py"},
      {"horovodrun -np 2 --hierarchical-allreduce --no-hierarchical-allgather --cache-capacity 0 python train.py",
       "localhost*2", "HOROVOD_CACHE_CAPACITY=0 HOROVOD_HIERARCHICAL_ALLGATHER=0 HOROVOD_HIERARCHICAL_ALLREDUCE=1",
       "python train.py"},
      {"horovodrun -np 2 --tcp OMP_NUM_THREADS=4 python train.py A=1", "localhost*2",
       "NCCL_IB_DISABLE=1 OMP_NUM_THREADS=4", "python train.py A=1"},
      {"horovodrun -np 2 --gloo-timeout 60 python train.py", "localhost*2", "HOROVOD_GLOO_TIMEOUT_SECONDS=60",
       "python train.py"},
      // docs/elastic.rst: as many workers as there are slots
      {"horovodrun -np 8 --min-np 4 --max-np 12 --host-discovery-script discover_hosts.sh python train.py",
       "found-1*4 found-2*4 found-3*4", "", "python train.py"},
      {"horovodrun -np 8 --host-discovery-script discover_hosts.sh python train.py", "found-1*4 found-2*4 found-3*6",
       "", "python train.py"},
      {"horovodrun -np 2 --min-np 1 --max-np 3 -H a:2,b:2 python train.py", "a*2 b*1", "", "python train.py"},
  };
  for (const Line& row : rows) check(row);
}

TEST_CASE("launch lines of horovodrun: options that exclude each other", "[dialects]") {
  CHECK(error_of("horovodrun --gloo --mpi -np 2 p") ==
        "--mpi cannot be had together with --gloo; leave one of the two out");
  CHECK(error_of("horovodrun --no-autotune --autotune -np 2 p") ==
        "--autotune cannot be had together with --no-autotune; leave one of the two out");
  CHECK(error_of("horovodrun -H a:2 --hostfile hosts -np 2 p") ==
        "--hostfile cannot be had together with -H; leave one of the two out");
  CHECK(error_of("horovodrun --mpi -np 2 --host-discovery-script found p") ==
        "hvd.elastic knows Gloo alone, so that HOROVOD_CONTROLLER=mpi, or --mpi of horovodrun, cannot be had with "
        "--elastic horovod; leave it out");
  const Options cooling = options_of("horovodrun -np 2 --min-np 1 -H a,b --blacklist-cooldown-range 10 300 p");
  CHECK(cooling.restart.exclude.cool_down == 10s);
  CHECK(cooling.restart.exclude.longest_cool_down == 300s);
  CHECK(options_of("horovodrun -np 2 --blacklist-cooldown-range 10 300 p").restart.exclude.cool_down == 10s);
  CHECK(error_of("horovodrun -np 2 --min-np 1 -H a,b --blacklist-cooldown-range 0 300 p") ==
        "--blacklist-cooldown-range: \"0\" is not a whole number of seconds from 1 to 3600");
  CHECK(error_of("horovodrun -np 2 --min-np 1 -H a,b --blacklist-cooldown-range 30 10 p") ==
        "--blacklist-cooldown-range: \"10\" is not 30 or more");
  check({"horovodrun --mpi --mpi -np 2 p", "localhost*2", "HOROVOD_CONTROLLER=mpi HOROVOD_CPU_OPERATIONS=mpi", "p"});
}

TEST_CASE("launch lines of torchrun", "[dialects]") {
  const Line rows[] = {
      // docs/source/elastic/run.rst
      {"torchrun --standalone --nnodes=1 --nproc-per-node=4 train.py --arg1", "localhost*4", "",
       "python -u train.py --arg1"},
      {"torchrun --rdzv-backend=c10d --rdzv-endpoint=localhost:0 --nnodes=1 --nproc-per-node=2 train.py", "localhost*2",
       "", "python -u train.py", "--rdzv-backend, --rdzv-endpoint"},
      {"torchrun train.py", "localhost*1", "", "python -u train.py"},
      {"torchrun --nproc_per_node=gpu train.py", "localhost*4", "", "python -u train.py"},
      {"torchrun --nproc-per-node auto -m package.train --x", "localhost*4", "", "python -u -m package.train --x"},
      {"torchrun --nproc-per-node cpu --no-python ./train.sh", "localhost*16", "", "./train.sh"},
      {"torchrun --nproc_per_node=2 --max-restarts=0 --master_port=29501 --monitor-interval 5 main.py", "localhost*2",
       "", "python -u main.py", "--monitor-interval, --master_port"},
      {"torchrun --nproc-per-node 2 --local-ranks-filter 0 --log-dir /tmp/logs --tee 3 main.py", "localhost*2", "",
       "python -u main.py"},
      {"torchrun --nproc-per-n 2 --role trainer main.py -m", "localhost*2", "", "python -u main.py -m"},
      // docs/source/elastic/quickstart.rst and the tutorials: started on every host
      {"torchrun --nproc_per_node=2 --nnodes=2 --node_rank=1 --master_addr=\"192.168.1.1\" --master_port=1234 train.py",
       "host-0*2 host-1*2", "", "python -u train.py"},
      {"torchrun --nnodes=2:2 --node-rank=0 --nproc-per-node=8 --rdzv-id=100 --rdzv-backend=c10d "
       "--rdzv-endpoint=node0:29400 train.py",
       "host-0*8 host-1*8", "", "python -u train.py", "--rdzv-backend"},
      // named hosts take the place of --node-rank and --rdzv-*
      {"torchrun --nnodes 2 -H a:4,b:4 --nproc-per-node 4 train.py", "a*4 b*4", "", "python -u train.py"},
      {"torchrun --nnodes 2 -H a:4,b:4,c:4 --nproc-per-node 4 train.py", "a*4 b*4", "", "python -u train.py"},
  };
  for (const Line& row : rows) check(row);
}

TEST_CASE("launch lines of mpiexec.hydra, srun and deepspeed", "[dialects]") {
  const Line rows[] = {
      // MPICH, Using the Hydra Process Manager
      {"mpiexec.hydra -f machines -n 4 ./app", "h1*2 h2*2", "", "./app"},
      {"mpiexec.hydra -hosts h1:2,h2:2 -n 4 ./app", "h1*2 h2*2", "", "./app"},
      {"mpiexec.hydra -pmi-port -n 2 ./app", "localhost*2", "", "./app", "-pmi-port"},
      {"mpiexec.hydra -n 2 -genv OMP_NUM_THREADS 4 -genvlist PYTHONPATH,PATH ./app", "localhost*2",
       "OMP_NUM_THREADS=4 PATH=/usr/local/bin:/usr/bin PYTHONPATH=/py", "./app"},
      {"mpiexec.hydra -launcher ssh -bind-to none -prepend-rank -n 2 ./app", "localhost*2", "", "./app"},
      {"mpiexec.hydra -iface eth0 -rmk pbs -n 2 ./app", "localhost*2", "", "./app", "-rmk"},
      {"mpiexec.hydra -n 9 -ppn 2 -hosts h1,h2,h3 ./app", "h1*4 h2*3 h3*2", "", "./app"},
      {"mpiexec.hydra -n 6 -hosts h1:2,h2 ./app", "h1*4 h2*2", "", "./app"},
      // as horovodrun composes it for MPICH
      {"mpiexec.hydra -l -np 4 -ppn 2 -hosts h1,h2 -bind-to none -map-by slot -genv NCCL_SOCKET_IFNAME eth0 python "
       "train.py",
       "h1*2 h2*2", "NCCL_SOCKET_IFNAME=eth0", "python train.py"},
      {"mpiexec -n 2 -genv A 1 ./app", "localhost*2", "A=1", "./app"},
      // as DeepSpeed composes it for MPICH
      {"mpirun -n 2 -ppn 1 -genv A=1 -genv B 2 -hosts h1,h2 python train.py", "h1*1 h2*1", "A=1 B=2",
       "python train.py"},
      // mpiexec.hydra --help
      {"mpiexec.hydra -n 2 -bind-to core:2 -demux poll ./app", "localhost*2", "", "./app", "-demux"},
      // srun(1), EXAMPLES
      {"srun -n8 -l hostname", "localhost*8", "", "hostname"},
      {"srun -lN2 -n8 -w n[1-3] sleep 60", "n1*4 n2*4", "", "sleep 60"},
      {"srun -N2 -n3 -w n[1-3] sleep 60", "n1*2 n2*1", "", "sleep 60"},
      {"srun -n2 -w n[1-3] sleep 60", "n1*1 n2*1", "", "sleep 60"},
      {"srun -n1 -c16 --mem-per-cpu=1gb server", "localhost*1", "SLURM_CPUS_PER_TASK=16", "server", "--mem-per-cpu"},
      {"srun -pdebug -t10 -n2 --exclusive hostname -lN2", "localhost*2", "", "hostname -lN2", "-p, -t, --exclusive"},
      // Slurm's multi-node training guides
      {"srun --jobid 7 --nodes=1 --nodelist=n1 --ntasks=1 --exclusive bash -c wait", "n1*1", "", "bash -c wait",
       "--jobid, --exclusive"},
      {"srun -n 4 -l hostname", "localhost*4", "", "hostname"},
      {"srun --ntasks=2 --export=ALL,A=1 --mpi=pmix --kill-on-bad-exit ./app", "localhost*2", "A=1", "./app"},
      {"srun -w n[1-2] --ntasks-per-node=2 --label ./app", "n1*2 n2*2", "", "./app"},
      // www.deepspeed.ai/getting-started
      {"deepspeed --hostfile=/jobs/hostfile train.py --deepspeed", "worker-1*4 worker-2*4", "",
       "python -u train.py --deepspeed"},
      {"deepspeed --hostfile /jobs/hostfile --include worker-2:0,1 train.py", "worker-2*2", "", "python -u train.py"},
      {"deepspeed --hostfile /jobs/hostfile -e worker-1 --master_port 29501 train.py", "worker-2*4", "",
       "python -u train.py", "--master_port"},
      {"deepspeed --hostfile /jobs/hostfile --num_nodes 1 train.py", "worker-1*4", "", "python -u train.py"},
      {"deepspeed --hostfile /jobs/hostfile --num_nodes=2 train.py", "worker-1*4 worker-2*4", "", "python -u train.py"},
      {"deepspeed --num_nodes=-1 --num_gpus=2 train.py", "localhost*2", "", "python -u train.py"},
      {"deepspeed --num_gpus=2 train.py", "localhost*2", "", "python -u train.py"},
      {"deepspeed --module --num_gpus 1 package.train", "localhost*1", "", "python -u -m package.train"},
  };
  for (const Line& row : rows) check(row);
}

TEST_CASE("by the plain name our options may be written as torchrun writes its own", "[dialects]") {
  CHECK(options_of("sml-run --nproc_per_node=2 --max_restarts=3 p").restart.max == 3);
  CHECK(options_of("sml-run --max_restarts 3 --log_dir logs p").logs.directory == "logs");
  CHECK(plan_of("mpirun --max_restarts 3 p").error().message().starts_with("--max_restarts: \"3\" is not 0; mpirun "));
}

TEST_CASE("by the plain name what would have said how many workers there are is no silent start of one", "[dialects]") {
  const std::string said = " is srun's, and starts no workers here; write --nproc-per-node ";
  const auto refusal = [](const std::string& line, const std::vector<std::string>& variables = {}) {
    const Result<Planned> planned = plan_of(line, variables);
    return planned ? std::string("(taken)") : planned.error().message();
  };
  CHECK(refusal("sml-run --gpus 2 p") == "--gpus" + said + "2");
  CHECK(refusal("sml-run --gpus=a100:4 p") == "--gpus" + said + "4");
  CHECK(refusal("sml-run --gpus-per-node many p") == "--gpus-per-node" + said + "gpu");
  CHECK(refusal("sml-run --gres gpu:8 p") == "--gres" + said + "8");
  CHECK(refusal("sml-run --ntasks-per-core 1 p").starts_with("--ntasks-per-core is srun's"));
  for (const char* taken : {"sml-run --gpus 2 -np 2 p", "sml-run --gpus 2 --nproc-per-node 2 p",
                            "sml-run --gpus 2 -H a p", "sml-run --gres lustre:1 p", "srun --gpus 2 p", "srun -G 2 p"}) {
    CAPTURE(taken);
    CHECK(refusal(taken) == "(taken)");
  }
  CHECK_FALSE(refusal("sml-run --gpus 2 p", {"SLURM_JOB_ID=7"}).starts_with("--gpus"));
}

TEST_CASE("a program that is a launcher itself is a word too much", "[dialects]") {
  const auto advice = [](const std::string& line) {
    const auto words = shell_words(line);
    REQUIRE(words.has_value());
    return advice_on_launcher(*words);
  };
  CHECK(advice("torchrun --standalone train.py") ==
        "torchrun is a launcher itself; leave the word out: sml-run --standalone train.py");
  CHECK(advice("/opt/bin/mpirun -np 4 'my app'") ==
        "mpirun is a launcher itself; leave the word out: sml-run -np 4 'my app'");
  CHECK(advice("python3 -m torch.distributed.run --nproc-per-node 2 train.py") ==
        "torch.distributed.run is a launcher itself; leave the word out: sml-run --nproc-per-node 2 train.py");
  CHECK(advice("torchrun --nnodes 2 --rdzv-endpoint aaaaaaaaaaaaaaaaaaaaaaaaaaaa train.py") ==
        "torchrun is a launcher itself; leave the word out: sml-run --nnodes 2 --rdzv-endpoint ...");
  CHECK(advice("srun -c 4 app") == "srun is a launcher itself; start its program instead: sml-run -np N PROGRAM");
  CHECK(advice("accelerate launch train.py").starts_with("accelerate is a launcher itself; "));
  for (const char* none :
       {"accelerate config", "python3 train.py", "python3 -m package.torchrun", "./a", "bash -c torchrun"}) {
    CAPTURE(none);
    CHECK(advice(none).empty());
  }
  const auto warned = [](const std::string& line) { return warnings_of_launchers(plan_of(line)->plan).size(); };
  CHECK(warned("sml-run -np 2 torchrun a") == 1);
  CHECK(warned("sml-run -np 1 torchrun a : -np 1 torchrun a") == 1);
  CHECK(warned("sml-run -H a:2 torchrun a") == 1);
  CHECK(warned("sml-run -H a:1,b:1 torchrun a") == 0);  // one on each host is how it is started on several
  CHECK(warned("sml-run -np 2 python3 a") == 0);
}

TEST_CASE("the same under our own name", "[dialects]") {
  const Line rows[] = {
      {"sml-run -np 4 -H localhost:4 -bind-to none -map-by slot -x NCCL_DEBUG=INFO -mca pml ob1 -mca btl ^openib "
       "python "
       "train.py",
       "localhost*4", "NCCL_DEBUG=INFO OMPI_MCA_btl=^openib OMPI_MCA_pml=ob1", "python train.py"},
      {"sml-run -np 4 --fusion-threshold-mb 32 --autotune python train.py", "localhost*4",
       "HOROVOD_AUTOTUNE=1 HOROVOD_FUSION_THRESHOLD=33554432", "python train.py"},
      {"sml-run --nproc_per_node=2 --standalone --rdzv-backend c10d --module package.train", "localhost*2", "",
       "python -u -m package.train", "--rdzv-backend"},
      {"sml-run -n 2 -genv A 1 -launcher ssh ./app", "localhost*2", "A=1", "./app"},
      {"sml-run --num_gpus 2 --master_port 1 python train.py", "localhost*2", "", "python train.py", "--master_port"},
      {"sml-run --nproc-per-node 2 script.py --lr 1", "localhost*2", "", "python -u script.py --lr 1"},
      {"sml-run --nproc-per-node 2 run.py", "localhost*2", "", "run.py"},
      {"sml-run -np 2 gone.py", "localhost*2", "", "gone.py"},
      {"sml-run --ntasks 2 --chdir /tmp ./app", "localhost*2", "", "./app"},
  };
  for (const Line& row : rows) check(row);
}

TEST_CASE("what another launcher does by itself is done under its name", "[dialects]") {
  const auto tag = [](const char* line) { return tag_of(*plan_of(line)); };
  CHECK(tag("mpirun -np 2 p") == output::TagTemplate());
  CHECK(tag("mpirun -np 2 --tag-output p") == *output::TagTemplate::parse("[1,{rank}]<{stream}>:"));
  CHECK(tag("horovodrun -np 2 p") == *output::TagTemplate::parse("[{rank}]<{stream}>:"));
  CHECK(tag("srun -n 2 -l p") == *output::TagTemplate::parse("{rank:0}: "));
  CHECK(tag("torchrun --nproc-per-node 2 --tee 3 p") == output::TagTemplate());
  CHECK(plan_of("torchrun --tee 3 p")->options.output.teed_tag == *output::TagTemplate::parse("[{role}{local_rank}]:"));
  CHECK(plan_of("srun -n 2 p")->options.on_failure == OnFailure::Continue);
  CHECK(plan_of("srun -n 2 -K p")->options.on_failure == OnFailure::Abort);
  CHECK(plan_of("srun -n 2 p")->options.mpi == plan::PmiMode::Auto);
  CHECK(plan_of("srun -n 2 --mpi=none p")->options.mpi == plan::PmiMode::None);
  CHECK(plan_of("srun -n 2 --mpi pmi2 p")->options.mpi == plan::PmiMode::Pmi2);
  CHECK(plan_of("srun -n 2 --mpi=pmix_v4 p")->options.mpi == plan::PmiMode::Pmix);
  CHECK(plan_of("srun -n 2 --mpi=pmi3 p").error().message() == "--mpi: \"pmi3\" is not pmi2, pmix, none or list");
  CHECK(plan_of("mpirun -np 2 -mca orte_abort_on_non_zero_status 0 p")->options.on_failure == OnFailure::Continue);
  const Options ssh = plan_of("mpirun -np 1 -mca plm_rsh_args '-p 12345 -i key' p")->options;
  CHECK(ssh.ssh.port == 12345);
  CHECK(ssh.ssh.identity_file == "key");
  CHECK_FALSE(ssh.ssh.absent_hosts);
  for (const char* patient :
       {"-o ConnectionAttempts=10", "-oConnectionAttempts=10", "-p 1 -o 'ConnectionAttempts 2'"}) {
    const std::string line = std::string("mpirun -np 1 -mca plm_rsh_args \"") + patient + "\" p";
    CHECK(plan_of(line)->options.ssh.absent_hosts == AbsentHosts::AreAwaited);
  }
  CHECK_FALSE(plan_of("mpirun -np 1 -mca plm_rsh_args '-o ConnectionAttempts=1' p")->options.ssh.absent_hosts);
  CHECK(plan_of("mpirun -np 1 --display-map p")->options.display_map);
  CHECK(plan_of("torchrun --shutdown-timeout 5 p")->options.grace == std::chrono::seconds(5));
  const LogOptions logs = plan_of("horovodrun -np 2 --output-filename d p")->options.logs;
  CHECK(logs.directory == "d");
  CHECK(logs.layout == "rank.{rank:0}/{stream}");  // as many digits as np - 1 has
}

TEST_CASE("the template that torchrun puts before lines is a tag", "[dialects]") {
  const auto tag = [](const std::string& line, const std::vector<std::string>& variables = {}) {
    return plan_of("torchrun --tee 3 " + line + " p", variables)->options.output.teed_tag;
  };
  const auto is = [](const char* text) { return *output::TagTemplate::parse(text); };
  CHECK(tag("--log-line-prefix-template '${hostname}/${role_name}[${local_rank}] $rank: '") ==
        is("{host}/{role}[{local_rank}] {rank}: "));
  CHECK(tag("--log_line_prefix_template '$$rank {${rank}} ${rank $ranks ${host} $'") ==
        is("$rank {{{rank}}} ${{rank $ranks ${{host}} $"));
  const std::vector<std::string> variable{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE=[rank${rank}]: "};
  CHECK(tag("", variable) == is("[rank{rank}]: "));
  CHECK(tag("--log-line-prefix-template '<$rank>'", variable) == is("<{rank}>"));
  CHECK(tag("", {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE="}) == is("[{role}{local_rank}]:"));
  const Result<Planned> idle = plan_of("torchrun --log-line-prefix-template '<$rank>' p");
  REQUIRE(idle.has_value());
  CHECK(idle->options.without_effect == std::vector<std::string>{"--log-line-prefix-template"});
  const std::string accelerate = "accelerate launch --multi_gpu --num_processes 2 --num_machines 1 --tee 3 p.py";
  CHECK(plan_of(accelerate, variable)->options.output.teed_tag == is("[rank{rank}]: "));
  CHECK(plan_of(accelerate)->options.output.teed_tag == is("[{role}{local_rank}]:"));
}

TEST_CASE("later options of torchrun", "[dialects]") {
  const Result<Planned> one_device = plan_of("torchrun --nproc-per-node 2 --virtual-local-rank p");
  REQUIRE(one_device.has_value());
  CHECK(one_device->plan.presets == std::set{plan::Preset::VirtualLocalRank});
  CHECK(one_device->plan.devices.visible == plan::VisibleDevices::PerRankIfAny);
  const auto binding = [](const std::string& kind) { return plan_of("torchrun --numa-binding " + kind + " p"); };
  CHECK(binding("exclusive")->plan.binding.bind_to == plan::BindTo::Core);
  CHECK(binding("exclusive")->plan.binding.cores_per_rank ==
        plan_of("sml-run --cpus-per-rank share p")->plan.binding.cores_per_rank);
  CHECK(binding("core-complex")->plan.binding.bind_to == plan::BindTo::L3);
  CHECK(binding("board").error().message() ==
        "--numa-binding: \"board\" is not node, socket, exclusive or core-complex");
  check({"torchrun --run-path /a/train.py --x", "localhost*1", "", "python -u /a/train.py --x"});
  const auto printed =
      parse_command_line(std::vector<std::string>{"--print-completion", "zsh"}, {.called = "torchrun"});
  REQUIRE(printed.has_value());
  CHECK(std::get<Printed>(*printed).text == completion_script(Shell::Zsh));
  const auto error_file = [](const char* line) {
    return plan_of(line, {"TORCHELASTIC_ERROR_FILE=/up/error.json"})->options.failure.json_path;
  };
  CHECK(error_file("torchrun p") == "/up/error.json");
  CHECK(error_file("torchrun --error-file mine p") == "mine");
  // Accelerate calls torch's run(), which leaves that file to main().
  CHECK(error_file("accelerate launch --num_processes 2 --num_machines 1 p.py").empty());
  CHECK(error_file("sml-run p").empty());
}

TEST_CASE("a line of torchrun that is started on every host makes the hosts call each other", "[dialects]") {
  const auto dial_in = [](const char* line) {
    INFO(line);
    const Result<Planned> planned = plan_of(line);
    CHECK(error_of(line) == "(accepted)");
    return planned ? planned->options.dial_in : DialInOptions();
  };
  const DialInOptions second =
      dial_in("torchrun --nnodes=2 --node_rank=1 --master_addr=h0 --master_port=1234 train.py");
  CHECK(second.hosts == 2U);
  CHECK(second.place == 1U);
  CHECK(second.head == "h0:1234");
  CHECK(dial_in("torchrun --nnodes 3 --node-rank 2 --rdzv-endpoint h:29400 p").head == "h:29400");
  CHECK(dial_in("torchrun --nnodes 2 --node-rank 1 --master-addr 2001:db8::1 --master-port 9 p").head ==
        "[2001:db8::1]:9");
  CHECK(dial_in("sml-run --nnodes 2 --node_rank 1 --master_addr 10.0.0.1 --nproc_per_node 1 p").head == "10.0.0.1");
  CHECK_FALSE(dial_in("torchrun --nnodes 2 -H a,b --master-addr h0 p").hosts);
  CHECK_FALSE(dial_in("torchrun --nnodes 1 --node-rank 0 --master-addr h0 p").hosts);
}

TEST_CASE("a number of hosts that may vary is torchrun's word for the fewest and the most", "[dialects]") {
  const Result<Planned> planned = plan_of("torchrun --nnodes 2:3 --max-restarts 3 -H a,b,c,d p");
  REQUIRE(planned.has_value());
  CHECK(planned->options.restart.least.hosts == 2U);
  CHECK(planned->options.restart.most_hosts == 3U);
  CHECK_FALSE(planned->options.host_count);
}

TEST_CASE("where each host is started by itself, too, and whoever calls later is let in", "[dialects]") {
  const Options of_torchrun = options_of(
      "torchrun --nnodes 2:4 --rdzv-endpoint h0 --rdzv-conf last_call_timeout=5 --max-restarts 3 --nproc-per-node 2 p");
  CHECK(of_torchrun.dial_in.hosts == 4U);
  CHECK(of_torchrun.dial_in.least == 2U);
  CHECK(of_torchrun.restart.least.hosts == 2U);
  CHECK(of_torchrun.dial_in.last_call == std::chrono::seconds(5));
  CHECK(of_torchrun.restart.discovery.grow_after == Duration::zero());
  CHECK(options_of("torchrun --nnodes 2:4 --rdzv-endpoint h0 --grow-after 9s p").restart.discovery.grow_after ==
        std::chrono::seconds(9));
  const Options own = options_of("sml-run --nnodes 2:4 --head h0 p");
  CHECK(own.dial_in.least == 2U);
  CHECK(own.dial_in.last_call == std::chrono::seconds(30));
  CHECK_FALSE(own.restart.discovery.grow_after);
  CHECK_FALSE(options_of("sml-run --nnodes 2:2 --head h0 p").dial_in.least);
  CHECK_FALSE(options_of("torchrun --nnodes 3:3 --rdzv-endpoint h0 p").dial_in.least);
  const Options named = options_of("sml-run --nnodes 1:4 -H a,b p");
  CHECK_FALSE(named.dial_in.hosts);
  CHECK(named.restart.least.hosts == 1U);
  CHECK(named.restart.most_hosts == 4U);
}

TEST_CASE("deepspeed gives scripts their local rank, unless it is told not to", "[dialects]") {
  const auto place = [](const std::string& line) {
    const Result<Planned> planned = plan_of(line);
    REQUIRE(planned.has_value());
    return planned->plan.local_rank_at;
  };
  CHECK(place("deepspeed --num_gpus 2 train.py a") == 3);
  CHECK(place("deepspeed --num_gpus 2 --module package.train a") == 4);
  CHECK(place("deepspeed --num_gpus 2 --no_python ./app a") == 1);
  CHECK(place("deepspeed --num_gpus 2 --no_local_rank train.py a") == 0);
  CHECK(place("torchrun --nproc-per-node 2 train.py a") == 0);
  CHECK(place("sml-run -np 2 --local-rank-argument python3 train.py") == 2);
}

TEST_CASE("deepspeed gives scripts no local rank where an MPI library or Slurm would start them", "[dialects]") {
  const auto gives = [](const std::string& words) {
    const Result<Planned> planned = plan_of("deepspeed " + words + " train.py a");
    REQUIRE(planned.has_value());
    return planned->plan.local_rank_at > 0;
  };
  const std::string several = "--hostfile /jobs/hostfile ";
  for (const char* starter : {"openmpi", "OpenMPI", "mpich", "impi", "slurm", "mvapich"}) {
    CHECK_FALSE(gives(several + "--launcher " + starter));
    CHECK(gives(several + "--num_nodes 1 --launcher " + starter));  // by itself, on one host
    CHECK(gives("--num_gpus 2 --launcher " + std::string(starter)));
    CHECK_FALSE(gives(several + "--num_nodes 1 --force_multi --launcher " + starter));
  }
  CHECK(gives(several + "--launcher pdsh"));
  CHECK(gives(several + "--launcher openmpi --include worker-2"));
  CHECK(gives(several + "--launcher openmpi --exclude worker-2"));
  CHECK(gives("--hosts a:2 --launcher openmpi"));
  CHECK_FALSE(gives("--hosts a:2,b:2 --launcher openmpi"));
}

TEST_CASE("deepspeed reads no file of variables where its list leaves one host", "[dialects]") {
  const auto files = [](const std::string& words) {
    const std::vector<std::string> environment{"HOME=/home/me"};
    const auto line = shell_words(words + " train.py");
    const auto parsed =
        parse_command_line(*line, {.environment = environment,
                                   .called = "deepspeed",
                                   .exists = [](const std::string& path) { return path.ends_with(".deepspeed_env"); },
                                   .read_file = the_machine().files.read});
    REQUIRE(parsed.has_value());
    return std::get<Options>(*parsed).env_files.size();
  };
  CHECK(files("--hostfile /jobs/hostfile") == 2);
  CHECK(files("--hostfile /jobs/hostfile --num_nodes 1") == 0);
  CHECK(files("--hostfile /jobs/hostfile --include worker-2") == 0);
  CHECK(files("--hostfile /jobs/hostfile --include worker-2 --force_multi") == 2);
  CHECK(files("--num_gpus 2") == 0);
  CHECK(files("--hostfile /dev/fd/63") == 2);  // can be read only once
}

TEST_CASE("deepspeed finds hosts and variables where its own launcher does", "[dialects]") {
  const auto told = [](const std::vector<std::string>& files, const std::vector<dialects::SetOption>& given,
                       std::vector<std::string> environment = {"HOME=/home/me"}) {
    const auto is_there = [&](const std::string& path) {
      return std::find(files.begin(), files.end(), path) != files.end();
    };
    const dialects::DialectInput line{given, {}, environment, is_there, is_there};
    std::string out;
    for (const dialects::SetOption& option : dialects::defaults_of(dialects::Dialect::Deepspeed, line)) {
      if (option.option == "--hostfile" || option.option == "--env-file")
        out += option.option + " " + option.value + ";";
    }
    return out;
  };
  const std::vector<std::string> both{"/home/me/.deepspeed_env", ".deepspeed_env"};
  CHECK(told({"/job/hostfile"}, {}) == "--hostfile /job/hostfile;");
  CHECK(told({"/job/hostfile"}, {{"--hostfile", "mine"}}).empty());
  CHECK(told(both, {}).empty());  // on one host it does not look
  CHECK(told(both, {{"--hostfile", "mine"}}) == "--env-file /home/me/.deepspeed_env;--env-file .deepspeed_env;");
  CHECK(told({"/etc/ds"}, {{"--hostfile", "mine"}}, {"HOME=/home/me", "DS_ENV_FILE=/etc/ds"}) == "--env-file /etc/ds;");
  CHECK(told({"ds"}, {{"--hostfile", "mine"}}, {"DS_ENV_FILE=ds"}) == "--env-file ds;");
}

TEST_CASE("deepspeed takes no file that another user can change, unless the user names it", "[dialects]") {
  const auto options = [](const std::string& line, std::vector<std::string> environment) {
    const auto words = shell_words(line);
    const auto parsed = parse_command_line(
        std::vector<std::string>(words->begin() + 1, words->end()),
        {.environment = environment,
         .called = words->front(),
         .exists = [](const std::string& path) { return path.ends_with(".deepspeed_env") || path.starts_with("/job"); },
         .check_trust = [](const std::string& path) -> Result<void> {
           if (path.starts_with("/home/me/")) return {};
           return Error(ErrorKind::Config, "/open belongs to user 7");
         }});
    REQUIRE(parsed.has_value());
    return std::get<Options>(*parsed);
  };
  const std::vector<std::string> home{"HOME=/home/me"};
  const Options found = options("deepspeed --hostfile mine train.py", home);
  CHECK(found.env_files == std::vector<std::string>{"/home/me/.deepspeed_env"});
  CHECK(found.warnings == std::vector<std::string>{".deepspeed_env is not used, as /open belongs to user 7"});
  const Options alone = options("deepspeed train.py", home);
  CHECK(alone.hostfile.empty());
  CHECK(alone.env_files.empty());
  REQUIRE(alone.warnings.size() == 1);
  CHECK(alone.warnings.front().starts_with("/job/hostfile is not used, as "));
  const Options named = options("deepspeed --hostfile mine train.py", {"DS_ENV_FILE=/open/.deepspeed_env"});
  CHECK(named.env_files == std::vector<std::string>{"/open/.deepspeed_env"});
  CHECK(named.warnings.empty());
}

TEST_CASE("deepspeed without ssh is started on each host, which calls the first", "[dialects]") {
  const Options options =
      options_of("deepspeed --hostfile machines --no_ssh --node_rank 1 --master_addr h1 --master_port 29501 train.py");
  CHECK(options.dial_in.place == 1U);
  CHECK(options.dial_in.head == "h1:29501");
  CHECK(options.hostfile == "machines");
  const Options alone = options_of("deepspeed --num_gpus 2 --no_ssh --node_rank 0 train.py");
  CHECK_FALSE(alone.dial_in.place);
  CHECK(alone.host_source == "local");
}

TEST_CASE("an elastic job of deepspeed is one of 100 restarts, with as few hosts as it says", "[dialects]") {
  const auto restart = [](const std::string& words) {
    const Result<Planned> planned = plan_of("deepspeed --hostfile /jobs/hostfile " + words + " train.py");
    REQUIRE(planned.has_value());
    return planned->options.restart;
  };
  CHECK(restart("--elastic_training").max == 100);
  CHECK(restart("--elastic_training").least.hosts == 1U);
  CHECK(restart("--elastic_training --min_elastic_nodes 2").least.hosts == 2U);
  CHECK(restart("--elastic_training --min_elastic_nodes -1 --max_elastic_nodes -1").least.hosts == 1U);
  CHECK(restart("--elastic_training --min_elastic_nodes 1 --max_elastic_nodes 2").most_hosts == 2U);
  CHECK(restart("").max == 0);
}

namespace {

// The variables without those that --preset accelerate has where nothing is said.
std::string beside_preset(const plan::LaunchPlan& plan) {
  const std::set<std::string> preset{
      "ACCELERATE_MIXED_PRECISION=no",         "ACCELERATE_DYNAMO_BACKEND=NO",
      "ACCELERATE_DYNAMO_MODE=default",        "ACCELERATE_DYNAMO_USE_DYNAMIC=False",
      "ACCELERATE_DYNAMO_USE_FULLGRAPH=False", "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION=False"};
  std::istringstream all(variables(plan));
  std::string out;
  for (std::string word; all >> word;) {
    if (preset.count(word) == 0) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

}  // namespace

TEST_CASE("launch lines of accelerate", "[dialects]") {
  const Line rows[] = {
      // huggingface.co/docs/accelerate/basic_tutorials/launch
      {"accelerate launch script.py --arg1", "localhost*4", "OMP_NUM_THREADS=1", "python -u script.py --arg1"},
      {"accelerate launch --multi_gpu script.py", "localhost*4", "OMP_NUM_THREADS=1", "python -u script.py"},
      {"accelerate launch --num_processes=2 --mixed_precision=fp16 script.py", "localhost*2",
       "ACCELERATE_MIXED_PRECISION=fp16 OMP_NUM_THREADS=1", "python -u script.py"},
      {"accelerate launch --multi_gpu --mixed_precision=fp16 --num_processes=2 --num_machines 1 --dynamo_backend "
       "inductor --num_cpu_threads_per_process 4 script.py",
       "localhost*2", "ACCELERATE_DYNAMO_BACKEND=INDUCTOR ACCELERATE_MIXED_PRECISION=fp16 OMP_NUM_THREADS=4",
       "python -u script.py"},
      {"accelerate launch --gpu_ids 1,3 --num_processes 2 -m package.train", "localhost*2",
       "CUDA_VISIBLE_DEVICES=1,3 OMP_NUM_THREADS=1", "python -u -m package.train"},
      {"accelerate launch --cpu --num_processes 2 --no_python ./app", "localhost*2", "ACCELERATE_USE_CPU=true",
       "./app"},
      // without the option that selects the kind of job Accelerate passes these over too
      {"accelerate launch --num_processes 2 --zero_stage 2 --fp8_backend te --fp8_use_autocast_during_eval script.py",
       "localhost*2", "OMP_NUM_THREADS=1", "python -u script.py",
       "--zero_stage, --fp8_backend, --fp8_use_autocast_during_eval"},
      // a line of each machine, and one of all
      {"accelerate launch --num_machines 2 --num_processes 4 --machine_rank 1 --main_process_ip node0 "
       "--main_process_port 29500 --rdzv_backend static script.py",
       "host-0*2 host-1*2", "OMP_NUM_THREADS=1", "python -u script.py"},
      {"accelerate launch --config_file two-machines.yaml script.py", "host-0*2 host-1*2", "OMP_NUM_THREADS=1",
       "python -u script.py"},
      // on processors each machine starts one process that knows no others
      {"accelerate launch --config_file two-machines.yaml --cpu script.py", "localhost*1",
       "ACCELERATE_USE_CPU=true MASTER_ADDR=node0 MASTER_PORT=29501", "python -u script.py",
       "--num_machines 2 (--cpu starts one process on each machine, which knows no others)"},
      {"accelerate launch --cpu --num_machines 2 --num_processes 4 --machine_rank 1 --main_process_ip node0 "
       "--main_process_port 29500 script.py",
       "localhost*1", "ACCELERATE_USE_CPU=true MASTER_ADDR=node0 MASTER_PORT=29500", "python -u script.py",
       "--num_machines 2 (--cpu starts one process on each machine, which knows no others)"},
      {"accelerate launch -H a:2,b:2 --cpu --num_machines 2 --num_processes 4 script.py", "a*2 b*2",
       "ACCELERATE_USE_CPU=true", "python -u script.py"},
      {"accelerate launch -H a:2,b:2 --num_processes 4 script.py", "a*2 b*2", "OMP_NUM_THREADS=1",
       "python -u script.py"},
      {"accelerate launch -H a,b --num_machines 2 --num_processes 4 script.py", "a*2 b*2", "OMP_NUM_THREADS=1",
       "python -u script.py"},
  };
  for (const Line& row : rows) check(row, beside_preset);
  const DialInOptions second = options_of("accelerate launch --config_file two-machines.yaml script.py").dial_in;
  CHECK(second.hosts == 2U);
  CHECK(second.place == 1U);
  CHECK(second.head == "node0:29501");
  CHECK(options_of("accelerate launch --num_processes 2 --max_restarts 3 script.py").restart.max == 3);
}

TEST_CASE("accelerate gives FSDP's workers all of its variables", "[dialects]") {
  const Result<Planned> planned = plan_of(
      "accelerate launch --use_fsdp --num_processes 2 --fsdp_offload_params True --fsdp_auto_wrap_policy "
      "SIZE_BASED_WRAP "
      "script.py");
  REQUIRE(planned.has_value());
  CHECK(beside_preset(planned->plan) ==
        "ACCELERATE_USE_FSDP=true FSDP_ACTIVATION_CHECKPOINTING=false FSDP_ACTIVATION_CHECKPOINTING_OFFLOAD=false "
        "FSDP_AUTO_WRAP_POLICY=SIZE_BASED_WRAP FSDP_CPU_RAM_EFFICIENT_LOADING=true FSDP_FORWARD_PREFETCH=false "
        "FSDP_MIN_NUM_PARAMS=100000000 FSDP_OFFLOAD_PARAMS=true FSDP_RESHARD_AFTER_FORWARD=true "
        "FSDP_SHARDING_STRATEGY=FULL_SHARD FSDP_SYNC_MODULE_STATES=true FSDP_USE_ORIG_PARAMS=true FSDP_VERSION=1 "
        "OMP_NUM_THREADS=1");
}

const std::string kNotRead =
    "f:2: is no \"key: value\" with one text or number; write it so, without lists, aliases and tags";

TEST_CASE("accelerate reads the file that its config command has written", "[dialects]") {
  const Result<Planned> planned = plan_of("accelerate launch script.py", {"HF_HOME=/hf"});
  REQUIRE(planned.has_value());
  CHECK(places(planned->plan) == "localhost*3");
  CHECK(beside_preset(planned->plan) == "ACCELERATE_MIXED_PRECISION=bf16 OMP_NUM_THREADS=1");
  const Result<Planned> told =
      plan_of("accelerate launch --num_processes 2 --mixed_precision no script.py", {"HF_HOME=/hf"});
  REQUIRE(told.has_value());
  CHECK(places(told->plan) == "localhost*2");
  CHECK(beside_preset(told->plan) == "OMP_NUM_THREADS=1");
  const Result<Planned> cpu = plan_of("accelerate launch --cpu script.py", {"HF_HOME=/hf"});
  REQUIRE(cpu.has_value());
  CHECK(beside_preset(cpu->plan) == "ACCELERATE_USE_CPU=true");
}

TEST_CASE("a kind of job on accelerate's line takes the place of that in its file", "[dialects]") {
  const auto told = [](const std::string& words) {
    const Result<Planned> planned = plan_of("accelerate launch --config_file fsdp.yaml " + words + " script.py");
    return planned ? beside_preset(planned->plan) : planned.error().message();
  };
  CHECK(told("").starts_with("ACCELERATE_USE_FSDP=true FSDP_"));
  CHECK(told("--multi_gpu") == "OMP_NUM_THREADS=1");
  CHECK(told("--cpu") == "ACCELERATE_USE_CPU=true");
  CHECK(told("--multi_gpu --use_fsdp") ==
        "--use_fsdp cannot be had together with --multi_gpu; leave one of the two out");
}

TEST_CASE("what stands in accelerate's file is its option, or refused", "[dialects]") {
  const auto read = [](const char* text) {
    const auto options = dialects::options_of_accelerate_config(text, "f");
    if (!options) return options.error().message();
    std::string out;
    for (const dialects::SourcedOption& option : *options)
      out += option.variable + " " + joined(option.words, " ") + ";";
    return out;
  };
  CHECK(read("compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: FSDP\ndowncast_bf16: 'no'\n"
             "enable_cpu_affinity: true\nfsdp_config:\n  fsdp_version: 2\n  offload_params: false\nmachine_rank: 0\n"
             "tpu_env: []\ntpu_use_cluster: false\nuse_cpu: false\n") ==
        "f:3 --use_fsdp;f:5 --enable_cpu_affinity;f:7 --fsdp_version=2;f:8 --fsdp_offload_params=false;f:9 "
        "--machine_rank=0;");
  CHECK(read("dynamo_config:\n  dynamo_backend: INDUCTOR\n  use_fullgraph: true\nuse_cpu: true\n") ==
        "f:2 --dynamo_backend=INDUCTOR;f:3 --dynamo_use_fullgraph;f:4 --cpu;");
  CHECK(read("\xEF\xBB\xBFmixed_precision: fp16\n") == read("mixed_precision: fp16\n"));
  CHECK(read("deepspeed_config:\n  zero_stage: 2\ndistributed_type: DEEPSPEED\n") == "f:3 --use_deepspeed;");
  CHECK(read("parallelism_config:\n  parallelism_config_tp_size: 2\n")
            .starts_with("f:2: parallelism_config_tp_size: "
                         "sml-run does not prepare this"));
  CHECK(read("compute_environment: AMAZON_SAGEMAKER\n").starts_with("f:1: compute_environment: sml-run does not"));
  CHECK(read("use_cpu: perhaps\n") == "f:1: use_cpu: \"perhaps\" is not true or false");
  CHECK(read("tpu_env:\n- A=1\n") == kNotRead);
  CHECK(read("fsdp_config: {fsdp_version: 2,\n  offload_params: false}\ntpu_env: [ ]\n") ==
        "f:1 --fsdp_version=2;f:2 --fsdp_offload_params=false;");
}

TEST_CASE("of accelerate there is launch, and what it prepares with more than variables is refused", "[dialects]") {
  const std::string its_own =
      "sml-run does not prepare this; Accelerate's own launcher does, and sml-run starts that on each host: sml-run -H "
      "HOST:1,... sh -c 'python3 -m accelerate.commands.launch --machine_rank $GROUP_RANK ...'";
  CHECK(error_of("accelerate config") ==
        "accelerate config: of accelerate sml-run has launch only; call the program itself, python3 -m "
        "accelerate.commands.accelerate_cli");
  CHECK(error_of("accelerate launch --use_deepspeed script.py") == "--use_deepspeed: " + its_own);
  CHECK(error_of("accelerate launch --mixed_precision fp8 script.py") == "--mixed_precision: " + its_own);
  CHECK(error_of("accelerate launch --mixed_precision half script.py") ==
        "--mixed_precision: \"half\" is not no, fp16, bf16 or fp8");
  CHECK(
      error_of("accelerate launch --num_machines 2 --num_processes 2 script.py") ==
      "--num_machines 2: name the hosts with -H HOST:SLOTS,... or --hostfile, and start this once; or start it on each "
      "of them, with --main_process_ip ADDRESS and --machine_rank N");
  CHECK(
      error_of("accelerate launch --num_machines 2 --num_processes 5 --machine_rank 0 --main_process_ip a script.py") !=
      "(accepted)");
  CHECK(error_of("accelerate launch --module --no_python script.py") ==
        "--no_python cannot be had together with --module; leave one of the two out");
  CHECK(error_of("accelerate launch --config_file nowhere script.py") == "--config-file nowhere: no such file");
}

// As Open MPI 4.1.4 on a machine of as many cores.
TEST_CASE("mpirun starts no more than there are slots, unless it is told to", "[dialects]") {
  const std::string refused =
      "-np 17 is more than the 8 slots of 1 host; lower -np, name more slots or hosts, or give "
      "--oversubscribe";
  CHECK(error_of("mpirun -np 17 p") == refused);
  CHECK(error_of("mpirun -np 17 --map-by node p") == refused);
  CHECK(error_of("mpirun -np 17 --oversubscribe --nooversubscribe p") == refused);
  CHECK(error_of("mpirun -np 9 p : -np 8 q") != "(accepted)");
  CHECK(error_of("mpirun -np 2 -H localhost p").starts_with("-np 2 is more than the 1 slot of 1 host"));
  for (const char* line : {"mpirun -np 17 --oversubscribe p", "mpirun -np 17 --map-by slot:OVERSUBSCRIBE p",
                           "mpirun -np 17 -H localhost:17 p", "mpirun -np 17 -mca rmaps_base_oversubscribe 1 p",
                           "sml-run -np 17 p", "horovodrun -np 17 p"}) {
    CAPTURE(line);
    const Result<Planned> planned = plan_of(line);
    REQUIRE(planned.has_value());
    CHECK(places(planned->plan) == "localhost*17");
  }
  CHECK(plan_of("mpirun -np 17 p", {"OMPI_MCA_rmaps_base_oversubscribe=1"})->plan.map.world_size() == 17);
  CHECK(plan_of("mpirun -np 17 p", {"OMPI_MCA_rmaps_base_oversubscribe=0"}).has_error());
}

TEST_CASE("what mpirun's parameters say of variables and places counts", "[dialects]") {
  using Words = std::vector<std::string>;
  const auto exported = [](const std::string& line, const Words& variables = {}) {
    return plan_of(line, variables)->options.export_variables;
  };
  CHECK(exported("mpirun -np 1 -mca mca_base_env_list 'A=1;B=2;PATH' p") == Words{"A=1", "B=2", "PATH"});
  CHECK(exported("mpirun -np 1 -mca btl tcp -x A=1 p") == Words{"OMPI_MCA_btl=tcp", "A=1"});
  CHECK(exported("mpirun -np 1 p", {"OMPI_MCA_mca_base_env_list=A=1"}) == Words{"A=1"});
  CHECK(plan_of("mpirun -np 2 p", {"OMPI_MCA_hwloc_base_binding_policy=none"})->options.binding.bind_to ==
        plan::BindTo::None);
  CHECK(places(plan_of("mpirun -np 3 -H a:2,b:2 -mca rmaps_base_mapping_policy node p")->plan) == "a*2 b*1");
  CHECK(plan_of("mpirun -np 3 -H a:2,b:2 -mca rmaps_base_mapping_policy node p")->options.without_effect.empty());
}

TEST_CASE("mpiexec.hydra goes round again with -ppn 1", "[dialects]") {
  const auto hosts = [](const char* line) {
    std::string out;
    const Result<Planned> planned = plan_of(line);
    REQUIRE(planned.has_value());
    for (const auto& rank : planned->plan.map.ranks) out += planned->plan.map.hosts[rank.host.value()].host.name;
    return out;
  };
  CHECK(hosts("mpiexec.hydra -np 4 -ppn 1 -hosts a:2,b:2 p") == "abab");
  CHECK(hosts("mpiexec.hydra -np 2 -ppn 1 -hosts a:2,b:2 p") == "ab");
  CHECK(hosts("mpiexec.hydra -np 4 -ppn 2 -hosts a:2,b:2 p") == "aabb");
}

TEST_CASE("the same line of torchrun on every host names the head, and no place", "[dialects]") {
  const Options line = options_of(
      "torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-endpoint=h0:29500 --rdzv-id=j "
      "--max-restarts=0 "
      "train.py");
  CHECK(line.dial_in.hosts == 2U);
  CHECK_FALSE(line.dial_in.place);
  CHECK(line.dial_in.head == "h0:29500");
  CHECK(line.run_id == "j");
  CHECK(line.start_timeout == 600s);
  CHECK(options_of("torchrun --nnodes 2 --rdzv-endpoint h0 p").dial_in.head == "h0:29400");
  CHECK(options_of("torchrun --nnodes 2 --rdzv-endpoint fd00::1 p").dial_in.head == "[fd00::1]:29400");
  CHECK(options_of("torchrun --nnodes 2 --rdzv-endpoint [fd00::1]:7 p").dial_in.head == "[fd00::1]:7");

  const Options told = options_of(
      "torchrun --nnodes 2 --rdzv-endpoint h0 --rdzv-conf join_timeout=9,is_host=1,x=y --local-addr 10.0.0.2 p");
  CHECK(told.start_timeout == 9s);
  CHECK(told.dial_in.place == 0U);
  CHECK(told.master_address == "10.0.0.2");
  CHECK(told.without_effect == std::vector<std::string>{"--rdzv-conf"});
  CHECK(options_of("torchrun --nnodes 2 --rdzv-endpoint h0 --rdzv-conf join_timeout=9 --start-timeout 3s p")
            .start_timeout == 3s);
  CHECK(options_of("torchrun --standalone --rdzv-conf join_timeout=9 p").without_effect ==
        std::vector<std::string>{"--rdzv-conf"});
}

TEST_CASE("all that a line of torchrun lacks is told at once", "[dialects]") {
  const auto said = [](const std::vector<std::string>& words) {
    const auto parsed = parse_command_line(words, {.called = "torchrun", .secret_advice = [] { return "make one"; }});
    return parsed.has_error() ? parsed.error().message() : "(accepted)";
  };
  CHECK(
      said({"--nnodes", "2:1", "--rdzv-endpoint", "h", "p"}) ==
      "2 things are missing, or cannot be had: (1) --nnodes: \"2:1\" is not a number of hosts, or MIN:MAX with MIN not "
      "above MAX; (2) the hosts share no secret by which they know each other: make one");
  CHECK(said({"--nnodes", "1:x", "--rdzv-endpoint", "h", "--secret-file", "f", "p"}) ==
        "--nnodes: \"1:x\" is not a number of hosts, or MIN:MAX with MIN not above MAX");
  CHECK(said({"--nnodes", "1:2", "--rdzv-endpoint", "h", "--secret-file", "f", "p"}) == "(accepted)");
  CHECK(said({"--nnodes", "1", "--max-restarts", "3", "p"}) == "(accepted)");
  CHECK(said({"--nnodes", "2", "--rdzv-endpoint", "h", "p"}) ==
        "(accepted)");  // the secret is asked for where it is read
}

TEST_CASE("torchrun's files are where torch has them", "[dialects]") {
  const auto logs = [](const std::string& line, const std::vector<std::string>& variables = {}) {
    CAPTURE(line);
    const Result<Planned> planned = plan_of(line, variables);
    REQUIRE(planned.has_value());
    return planned->options.logs.directory + " " + planned->options.logs.layout;
  };
  CHECK(logs("torchrun --log-dir d -r 3 p") == "d none_{job}_{host}/attempt_{restart}/{local_rank}/{stream}.log");
  CHECK(logs("torchrun --log-dir d --rdzv-id a/{b} -t 0:3 p") ==
        "d a_{{b}}_{job}_{host}/attempt_{restart}/{local_rank}/{stream}.log");
  CHECK(logs("torchrun --redirects 1 p") ==
        "/tmp torchelastic_{job}/none_{job}_{host}/attempt_{restart}/{local_rank}/{stream}.log");
  CHECK(logs("torchrun p", {"PET_TEE=3", "TMPDIR=/scratch"}).starts_with("/scratch torchelastic_{job}/"));
  CHECK(logs("torchrun --redirects 0 --tee 0 p") == " rank.{rank}/{stream}");
  CHECK(plan_of("torchrun -r 3 p")->options.logs.place == LogPlace::Here);
  CHECK(plan_of("torchrun --nnodes 2 --node-rank 1 -r 3 p")->options.logs.place == LogPlace::Hosts);
  // torch makes an empty folder, and prints what it prints without
  const Result<Planned> idle = plan_of("torchrun --log-dir d p");
  CHECK_FALSE(idle->options.output.routes.to_file(LocalRank(0), Stream::Stdout));
  CHECK(idle->options.without_effect == std::vector<std::string>{"--log-dir (nothing is redirected)"});
  CHECK(plan_of("torchrun --rdzv-id job7 p")->plan.job.run_id == "job7");
}

TEST_CASE("torchrun's filters name the words of lines that get a file of their own", "[dialects]") {
  const Result<Planned> planned = plan_of("torchrun -t 3 --duplicate-stdout-filters apple,,2,pear --log-dir d p");
  REQUIRE(planned.has_value());
  const MatchedLineOptions& matched = planned->options.logs.matched;
  CHECK(matched.stdout_words == std::vector<std::string>{"apple,2", "pear"});
  CHECK(matched.stderr_words.empty());
  CHECK(matched.layout == "none_{job}_{host}/attempt_{restart}/filtered_{stream}.log");
  CHECK(planned->options.without_effect.empty());
  const Result<Planned> untold = plan_of("torchrun --duplicate-stderr-filters=nan p");
  REQUIRE(untold.has_value());
  CHECK(untold->options.logs.directory == "/tmp");
  CHECK(untold->options.logs.matched.stderr_words == std::vector<std::string>{"nan"});
  CHECK(untold->options.without_effect ==
        std::vector<std::string>{"--duplicate-*-filters (they look at lines of --tee only)"});
}

TEST_CASE("torchrun's variables say what its command line does not", "[dialects]") {
  const std::vector<std::string> pod{"PET_NNODES=2",           "PET_NODE_RANK=1",         "PET_NPROC_PER_NODE=4",
                                     "PET_MASTER_ADDR=job-m0", "PET_MASTER_PORT=29500",   "PET_STANDALONE=0",
                                     "PET_RDZV_BACKEND=c10d",  "PET_SOMETHING_ELSE=true", "PET_T=1"};
  const Result<Planned> planned = plan_of("torchrun --nproc-per-node 2 train.py", pod);
  REQUIRE(planned.has_value());
  CHECK(places(planned->plan) == "host-0*2 host-1*2");
  CHECK(planned->options.dial_in.place == 1U);
  CHECK(planned->options.dial_in.head == "job-m0:29500");
  CHECK(planned->options.without_effect.empty());
  CHECK(plan_of("torchrun train.py", pod)->plan.map.world_size() == 8);
  CHECK(plan_of("torchrun -H a,b train.py", {"PET_NPROC_PER_NODE=2"})->plan.map.world_size() == 4);
  CHECK(plan_of("torchrun package", {"PET_MODULE=1"})->plan.command ==
        std::vector<std::string>{"python", "-u", "-m", "package"});
  CHECK(plan_of("mpirun p", {"PET_NPROC_PER_NODE=2"})->plan.map.world_size() == 8);  // as many as there are cores
  CHECK(plan_of("torchrun p", {"PET_MAX_RESTARTS=3"})->options.restart.max == 3);
  CHECK(plan_of("torchrun --max-restarts=2 p")->plan.job.max_restarts == 2);
}

TEST_CASE("one host that is not named is this machine, also in a batch job of several", "[dialects]") {
  const std::vector<std::string> job{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x3)"};
  const auto places_in_job = [&](const char* line) {
    const Result<Planned> planned = plan_of(line, job);
    return planned ? places(planned->plan) : planned.error().message();
  };
  CHECK(places_in_job("sml-run --nproc-per-node 2 p") == "n1*2 n2*2 n3*2");
  CHECK(places_in_job("sml-run --nnodes=1 --nproc-per-node 2 p") == "localhost*2");
  CHECK(places_in_job("sml-run --nnodes=1 --node-rank 0 --master-port 9 --nproc-per-node 2 p") == "localhost*2");
  CHECK(places_in_job("sml-run --standalone --nproc-per-node 2 p") == "localhost*2");
  CHECK(places_in_job("sml-run --nnodes=1 --host-source slurm --nproc-per-node 2 p") == "n1*2 n2*2 n3*2");
  CHECK(places_in_job("sml-run --nnodes=1 -H a:2,b:2 p") == "a*2");
  CHECK(places_in_job("sml-run --nnodes=2 -H a:2,b:2,c:2 p") == "a*2 b*2");
  CHECK(places_in_job("sml-run --nnodes=2:2 -H a:2,b:2,c:2 p") == "a*2 b*2");
  CHECK(places_in_job("torchrun --nproc-per-node 2 p") == "localhost*2");
  CHECK(places_in_job("torchrun --nnodes=1 --nproc-per-node 2 p") == "localhost*2");
  CHECK(error_of("sml-run --nnodes 1 --node-rank 1 p") ==
        "--node-rank: \"1\" is not 0; sml-run is called once, on one host, and starts the workers of all");
  // and nobody is waited for
  for (const char* line :
       {"sml-run --nnodes 1 p", "sml-run --nnodes 1 --node-rank 0 p", "sml-run --nnodes 2 -H a,b p"}) {
    CHECK_FALSE(plan_of(line)->options.dial_in.hosts);
    CHECK_FALSE(plan_of(line)->options.dial_in.place);
  }
  CHECK(plan_of("sml-run -H a,b --nnodes 2 --node-rank 1 p")->options.dial_in.place == 1U);
  CHECK(plan_of("torchrun --nnodes=1 --master_addr=10.0.0.5 p")->options.master_address == "10.0.0.5");
}

TEST_CASE("a count for each host is worth more than the slots of a list", "[dialects]") {
  const Line rows[] = {
      {"mpiexec.hydra -np 2 -ppn 1 -hosts a:2,b:2 ./app", "a*1 b*1", "", "./app"},
      {"mpiexec.hydra -ppn 4 -hosts a:2,b:2 ./app", "a*4 b*4", "", "./app"},  // MPICH 4.0 starts as many too
      {"mpiexec.hydra -np 3 -ppn 2 -f machines ./app", "h1*2 h2*1", "", "./app"},
      {"mpiexec.hydra -hosts a:2,b:1 ./app", "a*2 b*1", "", "./app"},
      {"deepspeed --hostfile machines --num_gpus 1 --num_nodes 2 train.py", "h1*1 h2*1", "", "python -u train.py"},
      {"deepspeed --hostfile machines --num_gpus 3 train.py", "h1*3 h2*3", "", "python -u train.py"},
      {"sml-run --nproc-per-node 1 -H a:2,b:2 ./app", "a*1 b*1", "", "./app"},
      {"sml-run --nproc-per-node gpu -H a:2,b:2 ./app", "a*4 b*4", "", "./app"},
      // What counts the slots only where nothing names them.
      {"sml-run --nproc-per-node auto -H a:2,b ./app", "a*2 b*4", "", "./app"},
      {"torchrun --nnodes 2 -H a:2,b:2 train.py", "a*2 b*2", "", "python -u train.py"},
      {"mpirun -H a:2,b:2 -N 1 ./app", "a*1 b*1", "", "./app"},
  };
  for (const Line& row : rows) check(row);
  // Open MPI 4.1: "There are not enough slots available in the system"
  CHECK(error_of("mpirun -H a:2,b:2 -N 4 ./app") ==
        "4 workers on each host are more than the 2 slots of a; ask for fewer, give the host more slots, or give "
        "--oversubscribe");
  const Result<Planned> of_variable = plan_of("sml-run -H a:2,b ./app", {"SML_NPROC_PER_NODE=1"});
  REQUIRE(of_variable.has_value());
  CHECK(places(of_variable->plan) == "a*2 b*1");
}

TEST_CASE("workers are bound under mpirun's name as Open MPI binds them", "[dialects]") {
  using plan::BindTo;
  // "map_by>bind_to", by the policies that mpirun 4.1 shows with --display-devel-map
  const auto policy = [](const std::string& line) {
    static constexpr std::array kNames{"none", "core", "l3", "numa", "socket", "hwthread"};
    CAPTURE(line);
    const Result<Planned> planned = plan_of(line);
    REQUIRE(planned.has_value());
    const plan::BindingRequest& request = planned->plan.binding;
    return std::string(kNames[static_cast<std::size_t>(request.map_by)]) + ">" +
           kNames[static_cast<std::size_t>(request.bind_to)];
  };
  CHECK(policy("mpirun -np 1 p") == "none>core");
  CHECK(policy("mpirun -np 2 p") == "none>core");
  CHECK(policy("mpirun -np 3 p") == "numa>numa");
  CHECK(policy("mpirun -H a:8 p") == "numa>numa");
  CHECK(policy("mpirun -np 9 -H a:8 --oversubscribe p") == "numa>none");
  CHECK(policy("mpirun -np 4 --map-by socket p") == "socket>socket");
  CHECK(policy("mpirun -np 4 --map-by core p") == "core>core");
  CHECK(policy("mpirun -np 4 --map-by hwthread p") == "hwthread>hwthread");
  CHECK(policy("mpirun -np 4 --map-by socket --bind-to core p") == "socket>core");
  CHECK(policy("mpirun -np 4 --map-by socket:PE=2 p") == "socket>core");
  CHECK(policy("mpirun -np 4 --map-by slot p") == "none>numa");
  CHECK(policy("mpirun -np 4 -bind-to none -map-by slot p") == "none>none");
  CHECK(policy("mpirun -np 4 --bind-to core p") == "numa>core");
  CHECK(policy("mpirun --map-by ppr:2:socket p") == "socket>numa");
  CHECK(policy("mpirun --map-by ppr:2:socket:pe=2 p") == "socket>core");
  CHECK(policy("mpirun -np 2 --use-hwthread-cpus p") == "none>hwthread");
  CHECK(policy("mpirun -np 4 --use-hwthread-cpus p") == "numa>numa");
  CHECK(policy("mpirun -np 2 --use-hwthread-cpus --bind-to core p") == "none>core");
  CHECK(policy("mpirun -np 4 --use-hwthread-cpus --map-by core p") == "core>core");
  CHECK(policy("mpirun -np 1 --mca hwloc_base_use_hwthreads_as_cpus 1 --map-by slot:PE=2 p") == "none>hwthread");
  CHECK(plan_of("mpirun --use-hwthread-cpus hostname")->plan.map.world_size() == 16);
  CHECK(error_of("mpirun --use-hwthread-cpus --cpu-set 0 p") ==
        "--cpu-set names cores, so that it cannot be had with --use-hwthread-cpus");
  CHECK(policy("mpiexec.hydra -np 4 -map-by socket p") == "socket>none");
  CHECK(policy("mpiexec.hydra -np 4 -map-by socket -bind-to hwthread p") == "socket>hwthread");
  CHECK(policy("sml-run -np 4 p") == "none>none");
  CHECK(plan_of("mpirun --map-by ppr:2:socket p")->plan.map.world_size() == 4);
  CHECK(plan_of("mpirun -H a:8,b:8 --npersocket 1 p")->plan.map.world_size() == 4);
  CHECK(plan_of("mpirun hostname")->plan.map.world_size() == 8);  // a core each
  CHECK(plan_of("mpiexec.hydra hostname")->plan.map.world_size() == 1);
  CHECK(plan_of("mpirun -np 2 --cpu-set 1,3 p")->plan.binding.cores == plan::CpuSet{1, 3});
  CHECK(plan_of("mpirun -np 2 --merge-stderr-to-stdout p")->options.stderr_of_workers == StderrOfWorkers::WithStdout);
  CHECK(plan_of("mpiexec.hydra -n 3 -bind-to user:0+2,1 p")->plan.map.cores ==
        std::vector<std::string>{"0,2", "1", "0,2"});
  CHECK(plan_of("mpiexec.hydra -n 2 -bind-to hwthread:2 p")->plan.binding.cores_per_rank == 2);
  CHECK(error_of("sml-run --bind-to user:a p").starts_with("--bind-to"));
  CHECK(plan_of("sml-run -np 1 p")->plan.oversubscribe == plan::Oversubscribe::Yes);  // of ranks that are spawned
  CHECK(plan_of("mpirun -np 1 p")->plan.oversubscribe == plan::Oversubscribe::Yes);
  CHECK(plan_of("sml-run -H localhost:1 -np 1 p")->plan.oversubscribe == plan::Oversubscribe::No);
  for (const auto& [line, stdout_of_workers] :
       {std::pair("mpirun -np 2 p", StdoutOfWorkers::Terminal),
        std::pair("mpirun --no-pty -np 2 p", StdoutOfWorkers::Pipe),
        std::pair("mpiexec.hydra -n 2 p", StdoutOfWorkers::Pipe), std::pair("sml-run -np 2 p", StdoutOfWorkers::Pipe),
        std::pair("sml-run --pty -np 2 p", StdoutOfWorkers::Terminal)}) {
    CAPTURE(line);
    CHECK(plan_of(line)->options.stdout_of_workers == stdout_of_workers);
  }
}

TEST_CASE("the starters that launchers name are those of --start-by", "[dialects]") {
  const auto start = [](const std::string& line, const std::vector<std::string>& variables = {}) {
    const auto plan = plan_of(line, variables);
    return plan ? plan->options.start_by : plan.error().message();
  };
  CHECK(start("mpiexec.hydra -n 2 p") == "auto");
  CHECK(start("mpiexec.hydra -launcher slurm -n 2 p") == "srun");
  CHECK(start("mpiexec.hydra -bootstrap sge -n 2 p") == "qrsh");
  CHECK(start("mpiexec.hydra -bootstrap fork -n 2 p") == "auto");
  CHECK(start("mpiexec.hydra -bootstrap manual -n 2 p") ==
        "-bootstrap: \"manual\" is not ssh, rsh, slurm, sge, lsf, pbs or fork");
  CHECK(start("mpiexec.hydra -n 2 p", {"HYDRA_BOOTSTRAP=slurm", "HYDRA_LAUNCHER_EXTRA_ARGS=--external-launcher"}) ==
        "srun");
  CHECK(start("mpiexec.hydra -launcher ssh -n 2 p", {"I_MPI_HYDRA_BOOTSTRAP=slurm"}) == "ssh");
  CHECK(start("mpirun -np 2 p", {"HYDRA_BOOTSTRAP=slurm", "OMPI_MCA_plm_slurm_args=--external-launcher"}) == "auto");
  CHECK(start("mpirun -np 2 --mca plm slurm p") == "srun");
  CHECK(start("mpirun -np 2 --mca plm ^slurm p") == "ssh");
  CHECK(start("mpirun -np 2 p", {"PRTE_MCA_plm=ssh"}) == "ssh");
  CHECK(start("mpirun -np 2 p", {"OMPI_MCA_plm=tm"}) == "pbs");
  CHECK(start("sml-run -np 2 p", {"HYDRA_BOOTSTRAP=slurm", "OMPI_MCA_plm=slurm"}) == "auto");
  CHECK(start("sml-run --start-by srun -np 2 p") == "srun");
  CHECK(start("sml-run --start-by kubectk -np 2 p") ==
        "--start-by: there is no starter \"kubectk\"; did you mean kubectl?");
  CHECK(plan_of("sml-run --start-by 'rsh -x' -np 2 p")->options.ssh.command == std::vector<std::string>{"rsh", "-x"});
  CHECK(plan_of("mpiexec.hydra -n 2 p", {"HYDRA_LAUNCHER_EXTRA_ARGS=-p 2222"})->options.ssh.port == 2222);
}

TEST_CASE("launchers' variables for the way to hosts and for limits are read", "[dialects]") {
  const auto options = [](const std::string& line, const std::vector<std::string>& variables) {
    return plan_of(line, variables)->options;
  };
  const std::vector<std::string> kubexec{"OMPI_MCA_plm_rsh_agent=/etc/mpi/kubexec.sh"};
  CHECK(options("mpirun -np 2 p", kubexec).ssh.command == std::vector<std::string>{"/etc/mpi/kubexec.sh"});
  CHECK(options("mpirun -np 2 --mca plm_rsh_agent other p", kubexec).ssh.command == std::vector<std::string>{"other"});
  CHECK(options("mpirun -np 2 p", {"OMPI_MCA_plm_rsh_agent=ssh : rsh"}).ssh.command == std::vector<std::string>{"ssh"});
  CHECK(options("sml-run -np 2 p", kubexec).ssh.command.empty());
  CHECK(options("mpiexec.hydra -np 2 p", {"MPIEXEC_TIMEOUT=5"}).timeout == std::chrono::seconds(5));
  CHECK(options("mpirun -np 2 p", {"MPIEXEC_TIMEOUT=5"}).timeout == std::chrono::seconds(5));
  CHECK(options("srun -n 2 p", {"SLURM_MPI_TYPE=pmi2"}).mpi == plan::PmiMode::Pmi2);
  CHECK(options("srun -n 2 --mpi=pmix p", {"SLURM_MPI_TYPE=pmi2"}).mpi == plan::PmiMode::Pmix);
  CHECK(options("sml-run -np 2 p", {"SLURM_MPI_TYPE=pmi2"}).mpi == plan::PmiMode::Auto);
  CHECK(options("mpiexec.hydra -np 2 p", {}).timeout_status == 255);
  CHECK(options("mpirun -np 2 p", {}).timeout_status == 110);
  CHECK(options("mpirun -np 2 --timeout-status 9 p", {}).timeout_status == 9);
  CHECK(options("sml-run -np 2 p", {}).timeout_status == 124);
  CHECK(plan_of("mpiexec.hydra p", {"MPIEXEC_TIMEOUT=x"}).error().message().starts_with("MPIEXEC_TIMEOUT"));
}

TEST_CASE("horovodrun's file of options", "[dialects]") {
  const auto read = [](const std::string& text) {
    const auto options = dialects::options_of_horovod_config(text, "f");
    if (!options) return options.error().message();
    std::string out;
    for (const dialects::SourcedOption& option : *options)
      out += option.variable + " " + joined(option.words, " ") + ";";
    return out;
  };
  CHECK(read("params:\n    fusion_threshold_mb: 32  # of memory\n    hierarchical_allreduce: False\n") ==
        "f:2 --fusion-threshold-mb=32;f:3 --no-hierarchical-allreduce;");
  CHECK(read("---\ncontroller: gloo\n\nautotune:\n  enabled: true\n  log_file: \"a # b.txt\"\n") ==
        "f:2 --gloo;f:5 --autotune;f:6 --autotune-log-file=a # b.txt;");
  CHECK(read("stall_check:\n  enabled: no\nlogging:\n  level: 'INFO'\n  with_timestamp: on\nelse:\n  level: 1\n") ==
        "f:2 --no-stall-check;f:4 --log-level=INFO;f:5 --log-with-timestamp;");
  CHECK(read("params:\n  cycle_time_ms: -3\n  cache_capacity: null\n") == "f:2 --cycle-time-ms=-3;");
  CHECK(read("params: {cycle_time_ms: 3}\n") == "f:1 --cycle-time-ms=3;");
  CHECK(read("autotune:\n  enabled: perhaps\n") == "f:2: enabled: \"perhaps\" is not true or false");
  CHECK(read("controller: ssh\n") == "f:1: controller: \"ssh\" is not gloo or mpi");
  // Numbers and texts as Horovod's own reader, PyYAML, has them.
  CHECK(read("params:\n  cache_capacity: 012\n  fusion_threshold_mb: 0x1F\n  cycle_time_ms: 1e1\n") ==
        "f:2 --cache-capacity=10;f:3 --fusion-threshold-mb=31;f:4 --cycle-time-ms=1e1;");
  CHECK(read("params:\n  cache_capacity: 1_000\nautotune:\n  log_file: '012'\n") ==
        "f:2 --cache-capacity=1000;f:4 --autotune-log-file=012;");
  CHECK(read("timeline:\n  filename: \"a\\tb\"\n  mark_cycles: ''\n") == "f:2 --timeline-filename=a\tb;");
  CHECK(read("") == "");
  // It is read to the end or refused at its line.
  CHECK(read("timeline:\n  filename: 'a\n") ==
        "f:2: is no YAML (found unexpected end of stream); correct this line or one before it");
  CHECK(read("controller: gloo\n\xFF: 1\n") ==
        "f:2: is no YAML (invalid leading UTF-8 octet); correct this line or one before it");
  CHECK(read("else: &a 1\ncontroller: *a\n") == kNotRead);
  CHECK(read("controller: gloo\n---\ncontroller: mpi\n") == kNotRead);
  CHECK(read("else:\n  level: !python/name:os.system x\n") == kNotRead);
  CHECK(read("else: 1\nlevel: \"a\\0b\"\n") == kNotRead);
  std::string deep = "else:\n  ";
  for (int i = 0; i < 1 << 18; ++i) deep += "{a: ";
  CHECK(read(deep) == kNotRead);  // at once, however deep
  const Result<Planned> planned = plan_of("horovodrun -np 2 --config-file horovod.yaml --cycle-time-ms 4 p");
  REQUIRE(planned.has_value());
  CHECK(variables(planned->plan) == "HOROVOD_CACHE_CAPACITY=7 HOROVOD_CYCLE_TIME=4");
  CHECK(error_of("horovodrun -np 2 --config-file nowhere p") == "--config-file nowhere: no such file");
}

TEST_CASE("launch lines that meant something else under the real launcher", "[dialects]") {
  const Line rows[] = {
      {"mpirun -np 2 run.py", "localhost*2", "", "./run.py"},  // in the working directory, and not in PATH
      {"srun -n 2 run.py", "localhost*2", "", "./run.py"},
      {"mpiexec.hydra -n 2 run.py", "localhost*2", "", "run.py"},
      {"mpirun -np 1 --mca mca_base_env_list 'A=1;B=2' p", "localhost*1", "A=1 B=2", "p"},
      {"srun -n 2 -c 3 p", "localhost*2", "SLURM_CPUS_PER_TASK=3", "p"},
      {"srun -n 2 --nice p", "localhost*2", "", "p", "--nice"},  // a value only behind "="
      {"srun -n 2 --nice=5 p", "localhost*2", "", "p", "--nice"},
      {"deepspeed --save_pid --num_gpus 2 train.py", "localhost*2", "", "python -u train.py", "--save_pid"},
  };
  for (const Line& row : rows) check(row);
  const auto continues = [](const char* line) { return plan_of(line)->options.on_failure; };
  CHECK(continues("srun -n 2 --kill-on-bad-exit=0 p") == continues("srun -n 2 p"));
  CHECK(continues("srun -n 2 --kill-on-bad-exit=1 p") == continues("srun -n 2 -K p"));
  CHECK(continues("srun -n 2 -K p") != continues("srun -n 2 p"));
  CHECK(error_of("srun -n 2 --kill-on-bad-exit=2 p") == "--kill-on-bad-exit: \"2\" is not 0 or 1");
  CHECK(error_of("mpiexec.hydra -order-nodes ASCENDING p") ==
        "-order-nodes: it sorts by cores; give the hosts in the order that is wanted");
}

TEST_CASE("srun's input variables are obeyed, named or refused, under its name", "[dialects]") {
  const std::string line = "srun -n 2 p";
  CHECK(plan_of(line, {"SLURM_KILL_BAD_EXIT=1"})->options.on_failure == OnFailure::Abort);
  CHECK(plan_of(line, {"SLURM_KILL_BAD_EXIT=0"})->options.on_failure == OnFailure::Continue);
  CHECK(plan_of("srun -K -n 2 p", {"SLURM_KILL_BAD_EXIT=0"})->options.on_failure == OnFailure::Abort);
  CHECK(plan_of(line, {"SLURM_LABELIO=1"})->options.output.tag == *output::TagTemplate::parse("{rank:0}: "));
  CHECK(plan_of(line, {"SLURM_WORKING_DIR=/w"})->options.working_directory == "/w");
  CHECK(plan_of(line, {"SLURM_EXPORT_ENV=NONE"})->options.export_policy == plan::ExportPolicy::None);
  CHECK(plan_of(line, {"SLURM_REMOTE_CWD=/r"})->options.working_directory == "/r");
  for (const char* variable : {"SLURM_WAIT=5", "SLURM_CPU_BIND=cores", "SLURM_MEM_BIND=local", "SLURM_GPU_BIND=none",
                               "SLURM_HINT=nomultithread", "SLURM_THREADS_PER_CORE=1", "SLURM_NTASKS_PER_CORE=1",
                               "SLURM_CPUS_PER_GPU=2", "SLURM_STEP_GRES=gpu:1", "SLURM_CONSTRAINT=a", "SLURM_SIGNAL=9",
                               "SLURM_SPREAD_JOB=1", "SLURM_USE_MIN_NODES=yes", "SLURM_TIMELIMIT=5", "SRUN_CONTAINER=c",
                               "SLURM_EXIT_ERROR=9", "SLURM_EXIT_IMMEDIATE=8"}) {
    CHECK(plan_of(line, {variable})->options.without_effect ==
          std::vector<std::string>{std::string(plan::name_of(variable))});
  }
  for (const char* variable :
       {"SLURM_STDOUTMODE=out.%t", "SLURM_STDINMODE=none", "SLURM_STDERRMODE=e", "SLURM_TASK_PROLOG=/p",
        "SLURM_TASK_EPILOG=/p", "SLURM_PROLOG=/p", "SLURM_EPILOG=/p", "SRUN_OUTPUT=o", "SRUN_INPUT=i", "SRUN_ERROR=e",
        "SLURM_NTASKS_PER_GPU=1", "SLURM_NTASKS_PER_SOCKET=1", "SLURM_DISTRIBUTION=plane"}) {
    const auto refused = plan_of(line, {variable});
    REQUIRE_FALSE(refused.has_value());
    const std::string name(std::string_view(variable).substr(0, std::string_view(variable).find('=')));
    CHECK(refused.error().message().find(name) != std::string::npos);
  }
  CHECK(plan_of("sml-run -np 2 p", {"SLURM_KILL_BAD_EXIT=0", "SLURM_STDOUTMODE=x"})->options.on_failure ==
        OnFailure::Abort);
}

TEST_CASE("srun's input variables say what its tasks get, and its options say it over them", "[dialects]") {
  const std::string line = "srun -n 2 ";
  CHECK(plan_of(line + "p", {"SLURM_GPUS_PER_TASK=1"})->options.gpus_per_rank == 1U);
  CHECK(plan_of(line + "p", {"SLURM_GPUS_PER_TASK=a100:2"})->options.gpus_per_rank == 2U);
  CHECK(plan_of(line + "--gpus-per-task 3 p", {"SLURM_GPUS_PER_TASK=1"})->options.gpus_per_rank == 3U);
  CHECK(variables(plan_of(line + "p", {"SRUN_CPUS_PER_TASK=3"})->plan) == "SLURM_CPUS_PER_TASK=3");
  CHECK(plan_of(line + "p", {"SRUN_CPUS_PER_TASK=3"})->options.binding.cores_per_rank == 3);
  CHECK(variables(plan_of(line + "p", {"SRUN_EXPORT_ENV=A=2", "SLURM_EXPORT_ENV=A=1,B=1"})->plan) == "A=2");
  CHECK(variables(plan_of(line + "--export=ALL p", {"SRUN_EXPORT_ENV=A=2", "SLURM_EXPORT_ENV=B=1"})->plan).empty());
  CHECK(plan_of(line + "-m block p", {"SLURM_DISTRIBUTION=plane"}).has_value());
  CHECK(plan_of(line + "p", {"SLURM_LABELIO=0"})->options.output.tag == plan_of(line + "p")->options.output.tag);
}

TEST_CASE("srun's distributions", "[dialects]") {
  const auto hosts_of_ranks = [](const char* line, const std::vector<std::string>& environment = {}) {
    const Result<Planned> planned = plan_of(line, environment);
    REQUIRE(planned.has_value());
    std::string out;
    for (const plan::RankAssignment& rank : planned->plan.map.ranks)
      out += planned->plan.map.hosts[rank.host.value()].host.name;
    return out;
  };
  CHECK(hosts_of_ranks("srun -w a,b -n 5 p") == "aaabb");
  CHECK(hosts_of_ranks("srun -w a,b -n 5 -m block p") == "aaabb");
  CHECK(hosts_of_ranks("srun -n4 -N2 -w a,b p") == "aabb");
  CHECK(hosts_of_ranks("srun -w a,b -n 5 -m cyclic p") == "ababa");
  CHECK(hosts_of_ranks("srun -w a,b -n 5 p", {"SLURM_DISTRIBUTION=cyclic"}) == "ababa");
  CHECK(hosts_of_ranks("srun -w a,b -n 5 -m block p", {"SLURM_DISTRIBUTION=cyclic"}) == "aaabb");
  CHECK(hosts_of_ranks("sml-run -H a,b -n 5 --distribution=cyclic p") == "ababa");
  CHECK(hosts_of_ranks("sml-run -H a,b -n 5 p") == "aaaab");
}

TEST_CASE("whatever another launcher's option comes to is an option of ours", "[dialects]") {
  using dialects::Dialect;
  for (Dialect dialect : {Dialect::Mpirun, Dialect::Hydra, Dialect::Horovodrun, Dialect::Torchrun, Dialect::Srun,
                          Dialect::Deepspeed, Dialect::Accelerate}) {
    REQUIRE_FALSE(dialects::rows_of(dialect).empty());
    for (const dialects::Row& row : dialects::rows_of(dialect)) {
      CAPTURE(dialects::name_of(dialect), row.names);
      const std::vector<std::string> values(row.values, "1");
      const auto meaning = row.meaning("--option", values);
      if (!meaning) continue;
      for (const dialects::SetOption& given : meaning->options) CHECK(find_row(given.option) != nullptr);
    }
    for (const dialects::SetOption& given : dialects::defaults_of(dialect, {}))
      CHECK(find_row(given.option) != nullptr);
  }
}

TEST_CASE("launch lines: ranks of MPI that would each be alone are refused by the names of its launchers only") {
  for (const char* line :
       {"mpirun -np 2 a", "mpiexec -n 2 a", "mpiexec.hydra -n 2 a", "/usr/bin/mpirun.mpich -n 2 a"}) {
    CHECK(plan_of(line)->options.mpi_singleton == MpiSingleton::Refused);
  }
  for (const char* line : {"sml-run -np 2 a", "horovodrun -np 2 a", "torchrun --nproc-per-node 2 run.py"}) {
    CHECK(plan_of(line)->options.mpi_singleton == MpiSingleton::Warned);
  }
}

TEST_CASE("launch lines: who says how ranks of MPI meet does not want them alone") {
  CHECK(plan_of("sml-run -np 2 a")->plan.mpi == plan::PmiMode::Auto);
  CHECK(plan_of("mpirun -np 2 a")->plan.mpi == plan::PmiMode::Auto);
  CHECK(plan_of("mpiexec.hydra -np 2 a")->plan.mpi == plan::PmiMode::Auto);
  CHECK(plan_of("mpirun --mpi pmi1 -np 2 a")->plan.mpi == plan::PmiMode::Pmi1);
  CHECK(plan_of("sml-run --mpi pmi2 -np 2 a")->plan.mpi == plan::PmiMode::Pmi2);
  CHECK(plan_of("sml-run --mpi pmi1 -np 2 a")->options.mpi_singleton == MpiSingleton::Refused);
  for (const char* line : {"sml-run --mpi none -np 2 a", "mpirun --mpi none -np 2 a"}) {
    CHECK(plan_of(line)->plan.mpi == plan::PmiMode::None);
    CHECK(plan_of(line)->options.mpi_singleton == MpiSingleton::Warned);
  }
  CHECK(plan_of("sml-run --mpi pmix -np 2 a")->plan.mpi == plan::PmiMode::Pmix);
  CHECK(plan_of("sml-run --pmix /opt/libpmix.so.2 -np 2 a")->plan.pmix_library == "/opt/libpmix.so.2");
  CHECK_FALSE(plan_of("sml-run --pmix libpmix.so.2 -np 2 a").has_value());
  CHECK_FALSE(plan_of("sml-run --mpi ompi -np 2 a").has_value());
}

TEST_CASE("what cannot be had is an error that says why", "[dialects]") {
  struct Row {
    const char* line;
    const char* message;
  };
  const Row rows[] = {
      {"mpirun -np 2 --bind-to board p", "--bind-to: \"board\" is not none, hwthread, core, l3cache, numa or socket"},
      {"mpirun -np 2 --map-by seq p",
       "--map-by: \"seq\" is an unknown placement; expected slot, host, socket, numa, l3, core, "
       "hwthread or ppr:N:host"},
      {"mpirun -np 2 --rank-by core p", "--rank-by: \"core\" is not slot or node"},
      {"mpirun -np 2 -mca 'a b' 1 p", "-mca: \"a b\" is not the name of an MCA parameter, such as btl"},
      {"mpirun -np 2 -mca btl", "-mca needs a value"},
      {"mpirun -np x p", "-np: \"x\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {"mpirun --allow-run-as-root=1 p", "--allow-run-as-root takes no value; write --allow-run-as-root alone"},
      {"mpirun -np 2 --tune f p", "--tune: such files are not read; give what stands in them as options"},
      {"horovodrun -np 2 --log-level LOUD p",
       "--log-level: \"LOUD\" is not TRACE, DEBUG, INFO, WARNING, ERROR or FATAL"},
      {"horovodrun -np 2 --cycle-time-ms -3 p", "--cycle-time-ms: \"-3\" is not a number from 0 on"},
      {"horovodrun -np 2 --cache-capacity many p", "--cache-capacity: \"many\" is not a whole number from 0 on"},
      {"horovodrun -np 2 --autotune-gaussian-process-noise 2 p",
       "--autotune-gaussian-process-noise: \"2\" is not a number from 0 to 1"},
      {"horovodrun -np 2 --fusion-threshold-mb -1 p",
       "--fusion-threshold-mb: \"-1\" is not a whole number from 0 to 1048576"},
      {"torchrun --nnodes 2 train.py",
       "--nnodes 2: name the hosts with -H HOST:SLOTS,... or --hostfile, and start this once; or start it on each of "
       "them, with --rdzv-endpoint HOST:PORT"},
      {"torchrun --nnodes 1:4 --max-restarts 3 train.py",
       "--nnodes 1:4: name the hosts with -H HOST:SLOTS,... or --hostfile, and start this once; or start it on each of "
       "them, with --rdzv-endpoint HOST:PORT"},
      {"torchrun --nnodes 2 --rdzv-endpoint h:1 --rdzv-conf join_timeout=soon train.py",
       "--rdzv-conf: \"soon\" is not a number of seconds for join_timeout"},
      {"torchrun --nnodes 4:1 --rdzv-endpoint h train.py",
       "--nnodes: \"4:1\" is not a number of hosts, or MIN:MAX with MIN not above MAX"},
      {"torchrun --nnodes 1:4 --rdzv-endpoint h --node-rank 2 train.py",
       "--node-rank: where the number of hosts may vary they have their places as they come; leave it out"},
      {"torchrun --nnodes 1:4 --rdzv-endpoint h --rdzv-conf last_call_timeout=soon train.py",
       "--rdzv-conf: \"soon\" is not a number of seconds for last_call_timeout"},
      {"torchrun --node-rank 1 train.py",
       "--node-rank: \"1\" is not 0; sml-run is called once, on one host, and starts the workers of all"},
      {"torchrun --redirects 4 train.py",
       "--redirects: \"4\" is not 0 for no stream, 1 for stdout, 2 for stderr or 3 for both, nor a list of these by "
       "local rank such as 0:3,1:1"},
      {"sml-run --redirects 3 ./app", "--redirects requires --log-dir"},
      {"torchrun --max-restarts many train.py", "--max-restarts: \"many\" is not a whole number from 0 to 1000000"},
      {"mpirun --max-restarts 3 ./app",
       "--max-restarts: \"3\" is not 0; mpirun starts single processes anew, and sml-run the whole job: write sml-run "
       "--max-restarts"},
      {"torchrun --no-python --module x", "--module cannot be had together with --no-python; leave one of the two out"},
      {"torchrun --nnodes 2 --rdzv-backend=etcd-v2 --rdzv-endpoint=etcd:2379 train.py",
       "--rdzv-backend: \"etcd-v2\": sml-run meets at a host of the job, not at a server of etcd; write c10d, and the "
       "first host for --rdzv-endpoint"},
      {"torchrun --print-completion tcsh p", "--print-completion: \"tcsh\" is not bash, zsh or fish"},
      {"torchrun --rdzv train.py", "unknown option --rdzv; sml-run --help all lists them"},
      {"torchrun", "no program to start; give one after the options, as in sml-run -np 2 python3 train.py"},
      {"deepspeed --no_ssh train.py", "--no_ssh: the hosts are not named; name them with --hostfile"},
      {"deepspeed --no_ssh --hostfile machines train.py",
       "--no_ssh: the number of this host is missing; write --node_rank N, from 0"},
      {"srun -o out.%t ./app",
       "-o: sml-run writes DIR/rank.R/stdout with --log-dir, and other names with --log-layout"},
      // srun(1), EXAMPLES: outside an allocation srun would ask Slurm for one
      {"srun -lN2 -n4 sleep 60",
       "2 hosts are asked for (--host-count or --nnodes), but there is only 1, from this machine; name more with -H or "
       "--hostfile"},
      {"deepspeed --hostfile /jobs/hostfile --num_nodes 3 train.py",
       "3 hosts are asked for (--host-count or --nnodes), but there are only 2, from --hostfile /jobs/hostfile; name "
       "more with -H or --hostfile"},
      {"sml-run --host-count 0 ./app", "--host-count: \"0\" is not a whole number from 1 to 100000"},
      {"sml-run --nnodes 3:2 --head h ./app", "--nnodes: \"3:2\" is not N, or MIN:MAX with MIN not above MAX"},
      {"sml-run -m mod", "unknown option -m; it is torchrun's and Python's; write: sml-run -np 2 python3 -m MODULE"},
      {"sml-run -np4 p", "unknown option -np4; write -np 4"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    CHECK(error_of(row.line) == row.message);
  }
}
