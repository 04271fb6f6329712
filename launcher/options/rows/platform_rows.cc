#include "launcher/options/rows/option_rows.h"

#include "launcher/options/values/value_binders.h"
#include "launcher/plan/array_file.h"

namespace sml {

using std::string_view;

// Options for the placement of ranks.
OptionGroup options_of_placement() {
  return {
      "Placement of the workers",
      "placement",
      {{"--map-by -map-by", "slot|host|rounds|PART|ppr:N:host|ppr:N:PART", set_map_by,
        "Fill the slots host after host, which is the default, give each host one worker in turn, fill "
        "them again when all are full, or start N on each host. Within a host put workers on sockets (or numa, l3, "
        "core, hwthread) in turn, or N on each, and "
        "bind them there. \":oversubscribe\" or \":pe=N\" may follow; node is host."},
       {"--rank-by -rank-by", "slot|host", set_rank_by,
        "Number the workers host after host, or one of each host in turn; default: as --map-by places them."},
       {"--ranks-per-host", "N", whole_number<1, plan::kMaxSlotsPerHost, &Options::layout, &plan::RankLayout::per_host>,
        "Start N workers on each host, and fewer on the last ones where --np says so."},
       {"--rankfile -rankfile -rf", "FILE", text<&Options::rankfile>,
        "Take each rank's host and cores from FILE, in lines such as \"rank 0=algo-1 slot=0:0-3\"."},
       {"--nooversubscribe -nooversubscribe", "",
        constant<plan::Oversubscribe::No, &Options::layout, &plan::RankLayout::oversubscribe>,
        "Allow no more workers than slots, which is the default."}}};
}

// Options for each worker's share of its host.
OptionGroup options_of_shares() {
  return {
      "Processors and devices of the workers",
      "devices",
      {{"--bind-to -bind-to", "none|hwthread|core|l3|numa|socket|user:LIST|openmpi", set_bind_to,
        "Let each worker run on processors or cores of its own only, or on the L3 cache, NUMA node or socket to which "
        "the workers are spread. openmpi: core for up to two workers, else numa, as Open MPI does where nothing is "
        "said. Default: none."},
       {"--cpu-set", "LIST", set_cpu_set, "Let workers run on these cores of each host only, such as 0-3,8."},
       {"--cpus-per-rank -cpus-per-proc -cpus-per-rank --cpus-per-proc --cpus-per-task", "N|share", set_cpus_per_rank,
        "Cores of each worker with --bind-to core, and its OMP_NUM_THREADS; share: those of the host, dealt out "
        "evenly."},
       {"--memory-policy", "none|bind|prefer|interleave", set_memory_policy,
        "Take memory only or first from the NUMA nodes of the worker's cores, or from all in turn."},
       {"--bind-strict", "", constant<plan::OnImpossible::Fail, &Options::binding, &plan::BindingWish::on_impossible>,
        "Start nothing when a worker cannot be bound, instead of warning."},
       {"--use-hwthread-cpus -use-hwthread-cpus", "", constant<Processors::Hwthreads, &Options::processors>,
        "Count the hardware threads of cores, not cores: for --nproc-per-node core, --cpus-per-rank and --bind-to "
        "openmpi."},
       {"--report-bindings -report-bindings", "",
        constant<plan::ReportBindings::Yes, &Options::binding, &plan::BindingWish::report>,
        "Say where each worker is bound to."},
       {"--nice", "N", whole_number<0, 19, &Options::binding, &plan::BindingWish::nice>,
        "Run the workers at a lower priority: add N, 0 to 19, to their niceness. The launcher keeps its own."},
       {"--gpus-per-rank -gpus-per-proc --gpus-per-task", "N", set_gpus_per_rank,
        "Let each worker see N GPUs of its own; implies --visible-devices per-rank."},
       {"--visible-devices", "all|per-rank|per-rank-if-any|none", set_visible_devices,
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
            "index "
            "of AWS Batch, Slurm, PBS, Grid Engine, LSF or Kubernetes. {array_index} and {NAME} stand for it in the "
            "program's arguments."}),
       needing("--array-file",
               {"--array-vars", "NAME,...", set_array_vars, "Names of the fields; workers get them as variables."}),
       needing("--array-file",
               {"--array-index", "I", whole_number<0, plan::kMaxArrayIndex, &Options::array, &ArrayOptions::index>,
                "Take the line of this index instead of the batch system's."}),
       needing("--array-file", {"--array-base", "0|1", whole_number<0, 1, &Options::array, &ArrayOptions::base>,
                                "Index of the file's first line; default: 0, and 1 for Grid Engine and LSF."})}};
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
       {"--last-call", "D", set_last_call,
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
       {"--attempt", "N", whole_number<0, UINT32_MAX, &Options::dial_in, &DialInOptions::attempt>,
        "Number of this try of the job: hosts of another try are turned away. Default: that of AWS Batch, else 0."}}};
}

OptionGroup options_of_sagemaker() {
  return {"SageMaker",
          "sagemaker",
          {{"--hp-style", "toolkit|v3", set_hp_style,
            "Make arguments of hyperparameters as the training toolkit does, or as version 3 of the Python SDK, for "
            "train. Default: v3 where version 3 has made the job, else toolkit."},
           {"--no-install", "", constant<Installation::No, &Options::training, &TrainingOptions::install>,
            "Install neither requirements.txt nor the package of the sources."},
           {"--failure-file", "FILE", set_failure_file,
            "Leave the reason of a failure in FILE, unless somebody has written to it; default: SageMaker's own."},
           {"--no-failure-file", "", set_no_failure_file, "Leave no such file."}}};
}

OptionGroup options_of_fifos() {
  return {"Channels that workers read from FIFOs, as SageMaker's Pipe mode has them",
          "pipes",
          {{"--pipe-fanout", "NAME[:records|lines|bytes]", add_pipe_fanout,
            "On every host, read the FIFOs of this channel and deal its RecordIO records, lines or pieces out to its "
            "ranks, each of which has FIFOs of its own. After a comma may follow group=K (so many in a row; the size "
            "of a piece) and equalize=drop (all ranks get equally many). Repeatable.",
            "", Repeat::AddsUp},
           needing("--pipe-fanout",
                   {"--pipe-epochs", "N", whole_number<1, 1'000'000'000, &Options::fifos, &FifoOptions::epochs>,
                    "Deal out no more than N epochs; default: as many as are read."})}};
}

OptionGroup options_of_the_output() {
  return {
      "Output of the workers",
      "output",
      {{"--tag", "TEMPLATE", set_tag,
        "Put this before each line of a worker, with {rank}, {local_rank}, {role}, {host}, {stream} and {time}; "
        "{rank:4} has "
        "at "
        "least four digits, {rank:0} as many as the largest rank. Default: \"[{rank}] \" for more than one worker."},
       {"--tag-output -tag-output", "", set_tag_output, "The same as --tag '[1,{rank}]<{stream}>:', Open MPI's."},
       {"--prepend-rank -prepend-rank -l", "", set_prepend_rank, "The same as --tag '[{rank}] ', for one worker too."},
       {"--no-tag", "", set_no_tag, "Put nothing before the lines of workers."},
       {"--color", "auto|always|never", set_color,
        "Colour the tags, one colour for each rank; default: auto, on a terminal unless NO_COLOR is set.", "auto"},
       {"--show-ranks", "LIST", set_show_ranks, "Print the output of these ranks only, such as 0,8-15."},
       {"--show-local-ranks", "LIST", set_show_local_ranks, "On each host print the output of these local ranks only."},
       {"--quiet-workers", "", set_quiet_workers, "Print no output of workers."},
       {"--dedup", "", constant<EqualLines::Fold, &Options::output, &OutputOptions::equal_lines>,
        "Print lines that workers have in common once, with all their ranks in the tag; lines wait half a second for "
        "their like. The default for several workers at a terminal."},
       {"--merge-stderr", "", set_merge_stderr,
        "Give workers one pipe for both streams: what they write to standard error comes with their standard output."},
       {"--pty", "", set_pty,
        "Give each worker a terminal as its standard output, so that C prints each line at once, as under Open MPI's "
        "mpirun. The default under the name mpirun."},
       {"--no-pty", "", set_no_pty, "Give workers pipes as their standard output, under the name mpirun, too."},
       {"--collapse-cr", "", constant<ProgressBars::Collapse, &Options::output, &OutputOptions::progress_bars>,
        "Print only the last state of each second of a progress bar. The default for several workers at a terminal."},
       {"--all-lines", "", set_all_lines,
        "Print every line of each worker, at a terminal too: no --dedup, no --collapse-cr."},
       {"--sanitize", "auto|always|never", set_sanitize,
        "Show control characters of workers, all but colours, as \\xNN instead of passing them on: when the output "
        "goes to a terminal, always, or never. Default: auto.",
        "auto"},
       {"--keep-going-without-output", "",
        constant<OutputOptions::Gone::IsIgnored, &Options::output, &OutputOptions::when_gone>,
        "Go on, and drop the output, when nobody reads it any more. Without this the job ends with status 141."}}};
}

// Options for the launcher itself, and for its messages.
std::vector<OptionGroup> options_of_the_launcher() {
  return {
      {"Time limits (D is 90, 90s, 1.5m, 2h or 250ms)",
       "limits",
       {{"--grace", "D", time_span<0, &Options::grace>,
         "Time between TERM and KILL when the job is stopped; default 10s.", "10s"},
        {"--stop-grace", "D", time_span<0, &Options::stop_grace>,
         "The same when a signal stops the job. Default: in containers as long as the platform allows, else that of "
         "--grace."},
        {"--timeout", "D", time_span<1, &Options::timeout>,
         "Stop the job, with status 124, when its workers have run for D."},
        {"--timeout-status", "N", set_timeout_status,
         "Then end with status N, 1 to 255; default 124, and as mpirun 110, as mpiexec.hydra 255."},
        {"--start-timeout", "D", set_start_timeout, "Give up when not all hosts are ready by then; default 60s.",
         "60s"},
        {"--heartbeat-timeout", "D", set_heartbeat_timeout, "A host that is silent for D is lost; default 30s.", "30s"},
        {"--wait-for-hosts", "", constant<AbsentHosts::AreAwaited, &Options::ssh, &SshOptions::absent_hosts>,
         "Try hosts again until --start-timeout that are not up yet: the default where Kubernetes or a cloud names "
         "them."},
        {"--no-wait-for-hosts", "", constant<AbsentHosts::Fail, &Options::ssh, &SshOptions::absent_hosts>,
         "Fail at once then: the default elsewhere."},
        {"--connect-timeout", "D", time_span<1, &Options::ssh, &SshOptions::connect_timeout>,
         "Limit for each host's connection, and again for its log-in; default 15s.", "15s"}}},
      {"Reaching the hosts",
       "ssh",
       {{"--ssh-port -p", "PORT", whole_number<1, 65535, &Options::ssh, &SshOptions::port>,
         "Port of the SSH servers; default: that of the ssh configuration."},
        {"--ssh-user", "USER", set_ssh_user, "User on hosts that are given without USER@."},
        {"--ssh-identity-file -i", "FILE", text<&Options::ssh, &SshOptions::identity_file>,
         "Private key to log in with."},
        {"--ssh-config", "FILE", text<&Options::ssh, &SshOptions::config_file>,
         "Use this ssh configuration instead of ~/.ssh/config and /etc/ssh/ssh_config."},
        {"--start-by", "NAME", set_start_by,
         "Start on other hosts by ssh, srun, qrsh, lsf, flux, oar, kubectl or a command; auto: as the batch job does."},
        {"--ssh-command", "COMMAND", set_ssh_command,
         "Reach hosts through a command, instead of the built-in client: as ssh is called, or as {host} and {command} "
         "say."},
        {"--accept-new-host-keys", "", constant<HostKeyPolicy::AcceptNew, &Options::ssh, &SshOptions::host_keys>,
         "Trust and remember keys of hosts that are not known yet. A changed key is always refused."},
        {"--fanout", "N", whole_number<1, 10'000, &Options::ssh, &SshOptions::fanout>,
         "Log-ins under way at the same time; default 64.", "64"},
        {"--agent-path", "FILE", text<&Options::agent_path>, "Send this sml-run-agent instead of the one built in."}}},
      {"Information",
       "information",
       {{"--config", "FILE", text<&Options::config_file>,
         "Take options from FILE too, a line KEY = VALUE each: --np 4 is np = 4. SML_NP=4 in the environment has more "
         "say, and the command line most."},
        {"--explain", "", constant<Explain::Yes, &Options::explain>,
         "Print every option, its value and who gave it; start nothing."},
        {"--dry-run --plan", "", constant<PlanFormat::Text, &Options::dry_run>,
         "Print which rank would run where; start and connect to nothing."},
        {"--check", "", constant<Preflight::Yes, &Options::check>,
         "Connect to the hosts as the job would, print what they are like and what would go wrong, start nothing. The "
         "exit status is 0 when the job would start. No program needs to be given."},
        needing("--dry-run", {"--show-env", "RANK", whole_number<0, plan::kMaxWorldSize - 1, &Options::show_env>,
                              "With --dry-run: print the variables that are set for this rank instead."}),
        needing("--dry-run --explain --check", {"--format", "text|json", set_format,
                                                "Format of --dry-run, --check and --explain; default text.", "text"}),
        {"--completion", "bash|zsh|fish", set_completion,
         "Print a script with which this shell completes the options of sml-run."},
        {"--install-links", "DIR", text<&Options::links_folder>,
         "Make links to sml-run in DIR, under the names of other launchers, where their lines run as they stand: "
         "mpirun, mpiexec, mpiexec.hydra, horovodrun, torchrun, srun, deepspeed, accelerate. Files of others are not "
         "replaced."},
        {"--display-map -display-map", "", constant<true, &Options::display_map>,
         "Print which rank runs where, then start them."},
        {"--verbose -v", "", constant<Verbosity::Verbose, &Options::verbosity>, "Say what is being done."},
        {"--quiet -q", "", constant<Verbosity::Quiet, &Options::verbosity>, "Say nothing but errors."},
        {"--version", "", nullptr, "Print the version and leave; with --verbose also those of the libraries inside."},
        {"--help -h", "", nullptr,
         "Print a screen of help and leave. A word may follow: a topic, an option, or all, for this text."}}}};
}

}  // namespace sml
