#include "launcher/options/rows/option_rows.h"

#include "launcher/options/values/value_binders.h"
#include "launcher/plan/array_file.h"

namespace sml {

using std::string_view;

namespace {

constexpr string_view kNoDevices = "; --visible-devices none hides them";
constexpr Choice<plan::RankBy> kRankBy[] = {
    {"slot", plan::RankBy::Slot}, {"host", plan::RankBy::Host}, {"node", plan::RankBy::Host}};
constexpr Choice<plan::MemoryPolicy> kMemoryPolicies[] = {{"none", plan::MemoryPolicy::None},
                                                          {"bind", plan::MemoryPolicy::Bind},
                                                          {"prefer", plan::MemoryPolicy::Prefer},
                                                          {"interleave", plan::MemoryPolicy::Interleave}};
constexpr Choice<plan::VisibleDevices> kVisibleDevices[] = {{"all", plan::VisibleDevices::All},
                                                            {"per-rank", plan::VisibleDevices::PerRank},
                                                            {"per-rank-if-any", plan::VisibleDevices::PerRankIfAny},
                                                            {"none", plan::VisibleDevices::None}};
constexpr Choice<std::uint32_t> kIoPriorities[] = {{"idle", plan::kIdleIo},
                                                   {"best-effort", plan::kBestEffortIo + 4},
                                                   {"best-effort:0", plan::kBestEffortIo},
                                                   {"best-effort:1", plan::kBestEffortIo + 1},
                                                   {"best-effort:2", plan::kBestEffortIo + 2},
                                                   {"best-effort:3", plan::kBestEffortIo + 3},
                                                   {"best-effort:4", plan::kBestEffortIo + 4},
                                                   {"best-effort:5", plan::kBestEffortIo + 5},
                                                   {"best-effort:6", plan::kBestEffortIo + 6},
                                                   {"best-effort:7", plan::kBestEffortIo + 7}};
constexpr Choice<HyperparameterStyle> kHyperparameterStyles[] = {{"toolkit", HyperparameterStyle::Toolkit},
                                                                 {"v3", HyperparameterStyle::V3}};

}  // namespace

// Options for the placement of ranks.
OptionGroup options_of_placement() {
  return {
      "Placement of the workers",
      "placement",
      {{"--map-by -map-by", "slot|host|rounds|PART|ppr:N:host|ppr:N:PART", set_map_by,
        "Fill the slots host after host, which is the default, give each host one worker in turn, fill them again when "
        "all are full, or start N on each host. Within a host put workers on sockets (or numa, l3, core, hwthread) in "
        "turn, or N on each, and bind them there. \":oversubscribe\" or \":pe=N\" may follow; node is host."},
       {"--rank-by -rank-by", "slot|host", choice<kRankBy, &Options::layout, &plan::RankLayout::rank_by>,
        "Number the workers host after host, or one of each host in turn; default: as --map-by places them."},
       {"--ranks-per-host", "N", whole_number<1, plan::kMaxSlotsPerHost, &Options::layout, &plan::RankLayout::per_host>,
        "Start N workers on each host, and fewer on the last ones where --np needs no more."},
       {"--rankfile -rankfile -rf", "FILE", text<&Options::rankfile>,
        "Take each rank's host and cores from FILE, in lines such as \"rank 0=algo-1 slot=0:0-3\"."}}};
}

// Options for each worker's share of its host.
OptionGroup options_of_shares() {
  return {
      "Processors and devices of the workers",
      "devices",
      {{"--bind-to -bind-to", "none|hwthread|core|l3|numa|socket|user:LIST|openmpi", set_bind_to,
        "Let each worker run on processors or cores of its own only, or on the L3 cache, NUMA node or socket to which "
        "the workers are spread. openmpi: core for up to two workers, else numa, as Open MPI does by default. Default: "
        "none."},
       {"--cpu-set", "LIST", set_cpu_set, "Let workers run on these cores of each host only, such as 0-3,8."},
       {"--cpus-per-rank -cpus-per-proc -cpus-per-rank --cpus-per-proc --cpus-per-task", "N|share", set_cpus_per_rank,
        "Cores of each worker with --bind-to core, and its OMP_NUM_THREADS; share: those of the host, dealt out "
        "evenly."},
       {"--memory-policy", "none|bind|prefer|interleave",
        choice<kMemoryPolicies, &Options::binding, &plan::BindingRequest::memory>,
        "Take memory only or first from the NUMA nodes of the worker's cores, or from all in turn."},
       {"--bind-strict", "",
        constant<plan::OnImpossible::Fail, &Options::binding, &plan::BindingRequest::on_impossible>,
        "Start nothing when a worker cannot be bound, instead of warning."},
       rare({"--use-hwthread-cpus -use-hwthread-cpus", "", constant<Processors::Hwthreads, &Options::processors>,
             "Count the hardware threads of cores, not cores: for --nproc-per-node core, --cpus-per-rank and --bind-to "
             "openmpi."}),
       {"--report-bindings -report-bindings", "",
        constant<plan::ReportBindings::Yes, &Options::binding, &plan::BindingRequest::report>,
        "Print where each worker is bound to."},
       {"--nice", "N", whole_number<0, 19, &Options::binding, &plan::BindingRequest::nice>,
        "Run the workers at a lower priority: add N, 0 to 19, to their niceness. The launcher keeps its own."},
       rare({"--ionice", "idle|best-effort|best-effort:N",
             choice<kIoPriorities, &Options::binding, &plan::BindingRequest::io_priority>,
             "Let workers use disks only while nobody else does (idle), or by a priority N from 0, the first, to 7; "
             "best-effort alone is 4. The launcher keeps its own."}),
       {"--gpus-per-rank -gpus-per-proc --gpus-per-task", "N",
        advised_number<kNoDevices, 1, 1024, &Options::gpus_per_rank>,
        "Let each worker see N GPUs of its own; implies --visible-devices per-rank."},
       {"--visible-devices", "all|per-rank|per-rank-if-any|none", choice<kVisibleDevices, &Options::visible_devices>,
        "Let a worker see all GPUs or other accelerators of its host, which is the default, its own, in the order of "
        "the local ranks (per-rank-if-any: a host may have none), or none."}}};
}

// Options for array jobs: one run for each line of a file.
OptionGroup options_of_arrays() {
  return {
      "Array jobs",
      "arrays",
      {needing(
           "--array-vars",
           {"--array-file", "FILE", text<&Options::array, &ArrayOptions::file>,
            "Take a line of this file, which may be s3://BUCKET/KEY, with commas between its fields: that of the array "
            "index of AWS Batch, Slurm, PBS, Grid Engine, LSF or Kubernetes. {array_index} and {NAME} stand for it in "
            "the program's arguments."}),
       needing("--array-file",
               {"--array-vars", "NAME,...", parsed<plan::parse_array_names, &Options::array, &ArrayOptions::names>,
                "Names of the fields; workers get them as variables."}),
       needing("--array-file",
               {"--array-index", "I", whole_number<0, plan::kMaxArrayIndex, &Options::array, &ArrayOptions::index>,
                "Take the line of this index instead of the batch system's."}),
       needing("--array-file", rare({"--array-base", "0|1", whole_number<0, 1, &Options::array, &ArrayOptions::base>,
                                     "Index of the file's first line; default: 0, and 1 for Grid Engine and LSF."}))}};
}

OptionGroup options_of_data() {
  return {"Data",
          "data",
          {{"--channel", "NAME=DIR[,SETTING...]", set_channel,
            "Lead workers to a folder by SM_CHANNEL_NAME. With mode=ShardedByS3Key each host, or with by=rank each "
            "worker, finds its share of the files there, as a folder of links; order=block gives consecutive files "
            "instead of every n-th. Repeatable.",
            "", Repeat::AddsUp}}};
}

OptionGroup options_of_dial_in() {
  return {
      "Started on every host (they call the first, and need no SSH)",
      "every-host",
      {{"--nnodes", "N|MIN:MAX", set_nnodes,
        "Number of hosts that run this line, where nothing names them; 1 is this machine. MIN of them are enough, see "
        "--last-call. With -H as --host-count."},
       {"--last-call", "D", time_span<0, &Options::dial_in, &DialInOptions::last_call>,
        "When MIN of --nnodes MIN:MAX have called, wait D for the others, then begin. Default: 30s.", "30s"},
       {"--node-rank", "I", whole_number<0, plan::kMaxHosts - 1, &Options::dial_in, &DialInOptions::place>,
        "Number of this host, from 0; 0 is the head, to which the others connect."},
       {"--head", "ADDR[:PORT]", text<&Options::dial_in, &DialInOptions::head>,
        "Address of the head, on every host the same; default: the name of the first host, and port 29399."},
       {"--secret-file", "FILE", text<&Options::dial_in, &DialInOptions::secret_file>,
        "A secret, the same on every host, by which they know each other; default: the variable SML_JOB_SECRET, "
        "else ~/.config/sml-run/secret; SageMaker, AWS Batch and steps of batch systems need none."},
       {"--make-secret", "", constant<MakeSecret::Yes, &Options::dial_in, &DialInOptions::make_secret>,
        "Make ~/.config/sml-run/secret for all jobs of this user, unless it is there; start nothing."},
       {"--insecure-job-key", "", constant<KeyRule::Insecure, &Options::dial_in, &DialInOptions::key>,
        "Do without a secret: whoever reaches the hosts and guesses their names can take part in the job."},
       rare({"--attempt", "N", whole_number<0, UINT32_MAX, &Options::dial_in, &DialInOptions::attempt>,
             "Number of this try of the job: hosts of another try are turned away. Default: that of AWS Batch, else "
             "0."})}};
}

OptionGroup options_of_sagemaker() {
  return {"SageMaker",
          "sagemaker",
          {{"--hp-style", "toolkit|v3", choice<kHyperparameterStyles, &Options::training, &TrainingOptions::style>,
            "Make arguments of hyperparameters as the training toolkit does, or as version 3 of the Python SDK, for "
            "train. Default: v3 where version 3 has made the job, else toolkit."},
           {"--no-install", "", constant<Installation::No, &Options::training, &TrainingOptions::install>,
            "Install neither requirements.txt nor the package of the sources."},
           {"--failure-file", "FILE",
            both<text<&Options::failure, &FailureOptions::path>,
                 constant<FailureFile::Wanted, &Options::failure, &FailureOptions::wanted>>,
            "Leave the reason of a failure in FILE, unless somebody has written to it; default: SageMaker's own."},
           rare({"--no-failure-file", "",
                 both<text<&Options::failure, &FailureOptions::path>,
                      constant<FailureFile::None, &Options::failure, &FailureOptions::wanted>>,
                 "Leave no such file."})}};
}

OptionGroup options_of_fifos() {
  return {
      "Channels that workers read from FIFOs, as SageMaker's Pipe mode has them",
      "pipes",
      {rare({"--pipe-fanout", "NAME[:records|lines|bytes]", add_pipe_fanout,
             "On every host, read the FIFOs of this channel and deal its RecordIO records, lines or pieces out to its "
             "ranks, each of which has FIFOs of its own. After a comma may follow group=K (so many in a row; the size "
             "of a piece) and equalize=drop (all ranks get equally many). Repeatable.",
             "", Repeat::AddsUp}),
       needing("--pipe-fanout",
               rare({"--pipe-epochs", "N", whole_number<1, 1'000'000'000, &Options::fifos, &FifoOptions::epochs>,
                     "Deal out no more than N epochs; default: as many as are read."}))}};
}

}  // namespace sml
