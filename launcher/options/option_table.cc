#include "launcher/options/option_rows.h"

#include <algorithm>
#include <utility>

namespace sml {

namespace {

using std::string_view;

// Marks a row as allowed for each of several programs.
OptionRow of_program(OptionRow row) {
  row.holds_for = HoldsFor::Program;
  return row;
}

// Sets the fixed words of a row whose `value` is only a name for them.
OptionRow of_these(std::string_view values, OptionRow row) {
  row.fixed_values = values;
  return row;
}

// Options for the placement of workers on hosts, and for their environment.
std::vector<OptionGroup> options_of_the_plan() {
  return {
      {"Workers",
       "workers",
       {of_program({"--np -np -n -c --num-proc --n", "N", set_np, "Number of workers; default: one for every slot."}),
        {"--nproc-per-node -N -ppn --npernode --nproc_per_node --slots-per-host", "N|auto|gpu|cpu|gpu-or-cpu|core",
         set_nproc_per_node,
         "Slots of each host, whatever a list says: a number, or the GPUs, CPUs or cores of this machine. The default, "
         "auto, is what the list says, else the GPUs, else the Neuron cores, else 1.",
         "auto"},
        {"--oversubscribe -oversubscribe", "", set_oversubscribe,
         "Allow more workers than slots; the rest is dealt evenly."},
        of_program({"--local-rank-argument", "", set_local_rank_argument,
                    "Give each worker --local_rank=N as the first argument of its script, as DeepSpeed's launcher and "
                    "torch.distributed.launch do."}),
        of_program({"--wdir -wd -wdir --chdir", "DIR", set_working_directory,
                    "Working directory on every host; default: the one in which sml-run is started."})}},
      {"Hosts",
       "hosts",
       {of_program({"--hosts -H -host --host", "LIST", set_hosts,
                    "[USER@]HOST[:SLOTS],... or [USER@]HOST:PORT/SLOTS, with ranges such as algo-[1-4]:8; an IPv6 "
                    "address stands in brackets."}),
        {"--hostfile -f -hostfile -machinefile --machinefile", "FILE", set_hostfile,
         "Read the hosts from FILE, one a line: HOST slots=N, HOST:N, or HOST again for each slot."},
        {"--resource-config", "FILE", set_resource_config,
         "Read the hosts from this resourceconfig.json. Without any of these they come from SageMaker's own file or "
         "from the batch system when there is one; else the job runs on this machine."},
        {"--group", "NAME[:SLOTS],...", set_group,
         "Of the hosts of resourceconfig.json use those of these instance groups only."},
        {"--include", "FILTER", set_include,
         "Use these hosts only, or these slots of them, as DeepSpeed does: HOST[:SLOT,...][@HOST...]."},
        {"--exclude", "FILTER", set_exclude, "Leave these hosts out, or these slots of them."},
        {"--host-order", "given|natural", set_host_order,
         "Give ranks to the hosts in the order of their source, or by name with algo-2 before algo-10. Default: "
         "given.",
         "given"},
        {"--host-count", "N", set_host_count, "Use the first N of these hosts only; fewer are an error."},
        of_these("hosts discovery hostfile resource-config nnodes sagemaker slurm pbs lsf sge flux oar aws-batch "
                 "pytorchjob kubernetes mpi rankfile local",
                 {"--host-source", "NAME", set_host_source,
                  "Take the hosts from there and nowhere else: hosts, discovery, hostfile, resource-config, nnodes, "
                  "sagemaker, slurm, pbs, lsf, sge, flux, oar, aws-batch, pytorchjob, kubernetes, mpi, rankfile or "
                  "local."})}},
      {"Environment of the workers",
       "environment",
       {of_program(
            {"-x", "NAME[=VALUE]", add_export_word,
             "Set a variable, or pass the one that sml-run has; 'PREFIX_*' passes all that begin so. Repeatable.", "",
             Repeat::AddsUp}),
        of_program({"--env-file", "FILE", add_env_file,
                    "Set the variables of a file, one NAME=VALUE a line. Repeatable; -x wins over it.", "",
                    Repeat::AddsUp}),
        {"--export", "all|none", set_export,
         "What workers on other hosts inherit from sml-run: everything but what belongs to this host or log-in, or "
         "nothing. Default: all. What looks like a secret stays here, see --export-secrets.",
         "all"},
        {"--export-secrets", "", set_export_secrets,
         "Let variables whose names look like those of secrets (*_TOKEN, *_API_KEY, ...) go to other hosts with the "
         "rest. Default: only those that -x or --env-file names."}}}};
}

// Options for the rendezvous of the workers, and for supervision.
std::vector<OptionGroup> options_of_the_run() {
  return {
      {"Rendezvous of the workers",
       "rendezvous",
       {{"--master-addr --master_addr", "ADDRESS", set_master_address,
         "Numeric address of rank 0's host at which the workers meet; default: the first that every host can reach."},
        {"--interface --network-interface --network-interfaces -iface", "LIST", set_interface,
         "Interfaces that the workers use on each host, by name or network: eth0,10.0.0.0/8. They meet at the first "
         "that rank 0's host has. Default: by the routes between the hosts."},
        of_these("tf jax deepspeed accelerate slurm hydra openmpi virtual-local-rank",
                 {"--preset", "NAME,...", set_preset,
                  "Set the variables of these frameworks too: tf, jax, deepspeed, accelerate, slurm, hydra, "
                  "openmpi; or "
                  "LOCAL_RANK=0: virtual-local-rank. torch, Horovod and programs that read Open MPI's variables need "
                  "none."}),
        {"--mpi", "auto|pmi1|pmi2|pmix|none", set_mpi,
         "How ranks of an MPI program find each other: by what its library speaks, by one of these only, or not at "
         "all. Default: auto.",
         "auto"},
        {"--pmix", "FILE", set_pmix,
         "The hosts' libpmix.so.2, which serves programs of Open MPI; default: the one that each host has for them."},
        {"--run-id", "ID", set_run_id, "What workers find as TORCHELASTIC_RUN_ID; default: an id of the job's own."},
        {"--torch-store", "", set_torch_store,
         "Serve torch's store at MASTER_PORT, for the job's hosts and user alone, also to a program that seems to name "
         "an "
         "address of its own (tcp://, MASTER_PORT); others are served without this option."},
        {"--no-torch-store", "", set_no_torch_store,
         "Leave MASTER_PORT to the program: rank 0 opens torch's store, as it does for a program that seems to name an "
         "address of its own."},
        {"--join-warn", "D", set_join_warn,
         "Name the workers that have not joined the process group so long after the first; 0: never. Default: 60s.",
         "60s"}}},
      {"Supervision",
       "supervision",
       {{"--on-failure", "abort|continue", set_on_failure,
         "What to do when a worker fails: stop all others, or let them finish. Default: abort.", "abort"},
        {"--forward-signals", "none|LIST", set_forward_signals,
         "Signals to sml-run that are passed on to every worker and stop nothing; default: USR1,USR2,WINCH.",
         "USR1,USR2,WINCH"},
        {"--stop-signal", "SIG", set_stop_signal,
         "The signal that workers get in the place of TERM when they are to end, such as INT or USR1; KILL comes after "
         "the grace as ever.",
         "TERM"},
        {"--signal-target", "worker|group", set_signal_target,
         "Whether signals go to the process of each worker alone or to its process group, data loaders included; "
         "default: group. KILL is for all."},
        {"--checkpoint-signal", "SIG,D", set_checkpoint_signal,
         "Before workers are ended because another has failed, a host is lost, ranks hang or --timeout is over, send "
         "them SIG and give them up to D to save what they have and end."},
        {"--stdin -stdin", "none|all|RANK", set_stdin, "Which workers get the input of sml-run; default: rank 0.", "0"},
        {"--report", "FILE", set_report, "Write how the job ended to FILE, as JSON."},
        {"--error-file", "FILE", set_error_file,
         "Copy the TORCHELASTIC_ERROR_FILE of the worker that failed first to FILE, with its exit code, as torchrun "
         "does."}}}};
}

// Options that choose the hosts of restarts.
std::vector<OptionRow> options_of_hosts_of_restarts() {
  return {
      needing("--max-restarts",
              {"--spares", "K", set_spares,
               "The last K hosts of the list have no workers: they are connected to and checked, and at a restart "
               "each takes the place of a host that has been lost, with its ranks. Default: 0.",
               "0"}),
      {"--health-check", "CMD", set_health_check,
       "Before each attempt run CMD, as for sh, on every host, spares too. Where it does not exit with 0 within 10 s, "
       "or memory or space is short, the job does without that host: a spare takes its place, or it goes on smaller "
       "where it may, or ends with 125."},
      needing(
          "--max-restarts",
          {"--exclude-after", "K[/D]", set_exclude_after,
           "Do without a host after K attempts whose root cause was there, within D: a spare takes its place, or the "
           "job goes on smaller where it may."}),
      needing("--exclude-after --exclude-file", {"--exclude-for", "D[:MAX]", set_exclude_for,
                                                 "For so long, twice as long the next time, up to MAX; then it may "
                                                 "come back, as a spare. Default: for good."}),
      {"--exclude-file", "FILE", set_exclude_file,
       "Do not use the hosts that FILE names, one a line; what --exclude-after excludes is added to it."},
      {"--min-hosts", "N", set_min_hosts,
       "When hosts are lost and no spare is left, go on with fewer hosts and ranks, down to N hosts."},
      {"--min-np --min-num-proc", "N", set_min_np, "The same, down to N ranks. With both neither may be gone below."},
      needing(
          "--max-restarts",
          {"--elastic", "horovod", set_elastic,
           "Workers of hvd.elastic keep what they have committed in memory when others fail, or hosts come or go, and "
           "go on with those that are there, as --min-np or --min-hosts allows. Each time counts as a restart."}),
      {"--max-hosts", "N", set_max_hosts, "Only the first N hosts have workers; the others are spares."},
      needing("--max-restarts",
              {"--host-discovery-script", "CMD", set_discovery_script,
               "The hosts are what CMD, run by sh each second, prints: HOST[:SLOTS] a line. Those that come are "
               "connected to and checked, and have workers from the next restart on; without those that go the "
               "workers start anew."}),
      needing("--hostfile",
              {"--watch-hosts", "", set_watch_hosts, "The same with the file of --hostfile, read again each second."}),
      needing("--host-discovery-script --watch-hosts", {"--discovery-interval", "D", set_discovery_interval,
                                                        "How often the list is looked at. Default: 1s.", "1s"}),
      needing(
          "--host-discovery-script --watch-hosts --nnodes",
          {"--elastic-timeout", "D", set_elastic_timeout,
           "Wait so long for hosts where they are too few, at the start and before a restart. Default: 10m.", "10m"}),
      needing("--host-discovery-script --watch-hosts --nnodes",
              {"--grow-after", "D", set_grow_after,
               "When the list has been the same for D and more ranks could run, end the workers and start anew with "
               "these, which is no restart of --max-restarts. Default: at restarts only."}),
      {"--max-np --max-num-proc", "N", set_max_np,
       "Have a rank for each slot, up to N, at the start and after restarts; --np is then the least to begin with."}};
}

// Options for failed jobs.
OptionGroup options_of_restarts() {
  OptionGroup out{
      "Restarts",
      "restarts",
      {{"--max-restarts", "N", set_max_restarts,
        "When a worker fails, end all others and start all anew, up to N times in all. Hosts stay connected; input "
        "goes to the first attempt only. Not after status 2, 126 or 127, a stop by the user, or --timeout. Default: 0.",
        "0"},
       needing("--max-restarts",
               {"--restart-window", "D", set_restart_window, "Of these N count only those of the last D."}),
       needing("--max-restarts",
               {"--restart-delay", "D[:MAX]", set_restart_delay,
                "Wait so long before a restart, and twice as long each time while attempts last less than a minute, up "
                "to MAX. Default: 0s:30s, where the second wait is 1s.",
                "0s:30s"}),
       needing(
           "--max-restarts",
           {"--give-up", "RULES", add_give_up,
            "End the job after such failures: [N[/D]:]LIST is N of them (default 1) within D, where LIST names exit "
            "codes, ranges and signals, such as 5/60s:1,101-103,SIGSEGV; N/D counts any. Several with ; between "
            "them. Repeatable.",
            "", Repeat::AddsUp}),
       needing("--max-restarts",
               {"--max-fruitless", "N", set_max_fruitless,
                "End the job, whatever restarts are left, after so many attempts in a row without progress; 0: never. "
                "Progress is that all ranks have joined or a minute has passed; with --progress-file or --watch it is "
                "theirs. Default: 2; 0 for a program that joins nowhere."}),
       needing("--max-restarts",
               {"--progress-file", "FILE", set_progress_file,
                "An attempt has made progress when FILE, as seen from here, has been written in it."}),
       {"--preload", "MODULE,...", set_preload,
        "Import these modules of Python once on each host, in a process of which the workers are forks, after a "
        "restart too. For python3 FILE and python3 -m; where a fork would not be the same, workers are started as "
        "ever, and one "
        "line says why."}}};
  const std::vector<OptionRow> of_hosts = options_of_hosts_of_restarts();
  out.rows.insert(out.rows.end(), of_hosts.begin(), of_hosts.end());
  return out;
}

// Options of jobs with several programs.
OptionGroup options_of_programs() {
  return {
      "Several programs, with \":\" between them; each has its own -np, -H, -x, --env-file and --wdir",
      "programs",
      {{"--app -app -configfile", "FILE", set_app_file,
        "Read the programs from FILE, one a line with its options. Lines that begin with # say nothing."},
       of_program(
           {"--role", "NAME", set_role,
            "Role of the program's workers, which get it as ROLE_NAME; some presets ask for roles. Default: default."}),
       of_program(
           {"--helper", "", set_helper,
            "The program serves the others: its processes are no ranks of theirs, and are stopped when all others "
            "have ended."})}};
}

// Options for the files that a job writes.
std::vector<OptionGroup> options_of_the_records() {
  return {
      {"Records of the job",
       "records",
       {{"--events", "FILE", set_events, "Write what happens to FILE as it happens, as JSON Lines."},
        {"--timeline", "FILE", add_timeline,
         "Draw the job: a page for a browser when FILE ends in .html, a trace for Perfetto when it ends in .json. "
         "Repeatable.",
         "", Repeat::AddsUp},
        {"--log-dir", "DIR", set_log_dir,
         "Write what each rank prints to files of its own, byte for byte: DIR/rank.R/stdout and stderr."},
        needing("--log-dir", {"--log-layout", "TEMPLATE", set_log_layout,
                              "Name the files of --log-dir otherwise, with {rank}, {local_rank}, {host}, {stream}, "
                              "{job} and {restart}; default: "
                              "rank.{rank}/{stream}.",
                              "rank.{rank}/{stream}"}),
        needing(
            "--log-dir",
            {"--redirects", "STREAMS", set_redirects,
             "As torchrun does: write these streams to files only, and no others. 0 none, 1 stdout, 2 stderr, 3 both; "
             "or by local rank, 0:3,1:1."}),
        needing("--log-dir",
                {"--tee", "STREAMS", set_tee, "The same for streams that are written to files and printed too."}),
        needing("--tee", {"--tee-tag", "TEMPLATE", set_tee_tag,
                          "Put this before the lines of --tee, instead of what --tag says."}),
        needing("--log-dir",
                {"--log-on-host", "", set_log_on_host,
                 "Write the files of --log-dir on the host of each rank instead of here. The output comes here too."}),
        {"--log-max-size", "SIZE", set_log_max_size,
         "Begin a new file when one would grow beyond SIZE (64K, 10M, 2G); the last four older ones are kept."},
        {"--log-overwrite", "", set_log_overwrite, "Replace files of an earlier job, which is refused otherwise."},
        {"--log-strict", "", set_log_strict,
         "End the job, with status 125, when a log cannot be written, instead of warning."},
        {"--output-filename -output-filename", "DIR[:nocopy]", set_output_filename,
         "As Open MPI does: write DIR/1/rank.R/stdout and stderr, over those of an earlier job; with :nocopy print "
         "nothing of it here."}}}};
}

// Options for the placement of ranks.
OptionGroup options_of_placement() {
  return {"Placement of the workers",
          "placement",
          {{"--map-by -map-by", "slot|host|rounds|PART|ppr:N:host|ppr:N:PART", set_map_by,
            "Fill the slots host after host, which is the default, give each host one worker in turn, fill "
            "them again when all are full, or start N on each host. Within a host put workers on sockets (or numa, l3, "
            "core, hwthread) in turn, or N on each, and "
            "bind them there. \":oversubscribe\" or \":pe=N\" may follow; node is host."},
           {"--rank-by -rank-by", "slot|host", set_rank_by,
            "Number the workers host after host, or one of each host in turn; default: as --map-by places them."},
           {"--ranks-per-host", "N", set_ranks_per_host,
            "Start N workers on each host, and fewer on the last ones where --np says so."},
           {"--rankfile -rankfile -rf", "FILE", set_rankfile,
            "Take each rank's host and cores from FILE, in lines such as \"rank 0=algo-1 slot=0:0-3\"."},
           {"--nooversubscribe -nooversubscribe", "", set_no_oversubscribe,
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
       {"--bind-strict", "", set_bind_strict, "Start nothing when a worker cannot be bound, instead of warning."},
       {"--use-hwthread-cpus -use-hwthread-cpus", "", set_hwthreads,
        "Count the hardware threads of cores, not cores: for --nproc-per-node core, --cpus-per-rank and --bind-to "
        "openmpi."},
       {"--report-bindings -report-bindings", "", set_report_bindings, "Say where each worker is bound to."},
       {"--gpus-per-rank -gpus-per-proc --gpus-per-task", "N", set_gpus_per_rank,
        "Let each worker see N GPUs of its own; implies --visible-devices per-rank."},
       {"--visible-devices", "all|per-rank|per-rank-if-any|none", set_visible_devices,
        "Which GPUs or other accelerators of its host a worker sees: all, which is the default, its own, in the "
        "order of the local ranks (per-rank-if-any: a host may have none), or none."}}};
}

// Options for array jobs: one run for each line of a file.
OptionGroup options_of_arrays() {
  return {
      "Array jobs",
      "arrays",
      {needing(
           "--array-vars",
           {"--array-file", "FILE", set_array_file,
            "Take a line of this file, which may be s3://BUCKET/KEY, with commas between its fields: that of the array "
            "index "
            "of AWS Batch, Slurm, PBS, Grid Engine, LSF or Kubernetes. {array_index} and {NAME} stand for it in the "
            "program's arguments."}),
       needing("--array-file",
               {"--array-vars", "NAME,...", set_array_vars, "Names of the fields; workers get them as variables."}),
       needing("--array-file",
               {"--array-index", "I", set_array_index, "Take the line of this index instead of the batch system's."}),
       needing("--array-file", {"--array-base", "0|1", set_array_base,
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
        "How many hosts the job has, where nothing names them; 1 is this machine. MIN of them do, see --last-call. "
        "With -H as --host-count."},
       {"--last-call", "D", set_last_call,
        "When MIN of --nnodes MIN:MAX have called, wait so long for the others, and begin. Default: 30s.", "30s"},
       {"--node-rank", "I", set_node_rank, "Which of them this one is; 0 is the head, to which the others connect."},
       {"--head", "ADDR[:PORT]", set_head,
        "Address of the head, on every host the same; default: the name of the first host, and port 29399."},
       {"--secret-file", "FILE", set_secret_file,
        "A secret, the same on every host, by which they know each other; default: the variable SML_JOB_SECRET, "
        "else ~/.config/sml-run/secret; SageMaker and AWS Batch need none."},
       {"--make-secret", "", set_make_secret,
        "Make ~/.config/sml-run/secret for all jobs of this user, unless it is there; start nothing."},
       {"--insecure-job-key", "", set_insecure_job_key,
        "Do without a secret: whoever reaches the hosts and guesses their names can take part in the job."},
       {"--attempt", "N", set_attempt,
        "Which try of the job this is: hosts of another are turned away. Default: that of AWS Batch, else 0."}}};
}

OptionGroup options_of_sagemaker() {
  return {"SageMaker",
          "sagemaker",
          {{"--hp-style", "toolkit|v3", set_hp_style,
            "How train makes arguments of hyperparameters: as the training toolkit does, which is the default, or as "
            "version 3 of the Python SDK.",
            "toolkit"},
           {"--no-install", "", set_no_install, "Install neither requirements.txt nor the package of the sources."},
           {"--failure-file", "FILE", set_failure_file,
            "Leave the reason of a failure in FILE, unless somebody has written to it; default: SageMaker's own."},
           {"--no-failure-file", "", set_no_failure_file, "Leave no such file."}}};
}

OptionGroup options_of_fifos() {
  return {"Channels that workers read from FIFOs, as SageMaker's Pipe mode has them",
          "pipes",
          {{"--pipe", "NAME=DIR|MANIFEST", add_pipe,
            "On every host, write the files of DIR, or those that MANIFEST lists, to FIFOs NAME_0, NAME_1 and so on, "
            "once for each epoch. After a comma may follow wrap=recordio (each file becomes a record), gunzip, and "
            "shuffle=SEED. Repeatable.",
            "", Repeat::AddsUp},
           {"--pipe-fanout", "NAME[:records|lines|bytes]", add_pipe_fanout,
            "On every host, read the FIFOs of this channel and deal its RecordIO records, lines or pieces out to its "
            "ranks, each of which has FIFOs of its own. After a comma may follow group=K (so many in a row; the size "
            "of a piece) and equalize=drop (all ranks get equally many). Repeatable.",
            "", Repeat::AddsUp},
           needing("--pipe --pipe-fanout", {"--pipe-epochs", "N", set_pipe_epochs,
                                            "Feed no more than N epochs; default: as many as are read."})}};
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
       {"--dedup", "", set_dedup,
        "Print lines that workers have in common once, with all their ranks in the tag; lines wait half a second for "
        "their like. The default for several workers at a terminal."},
       {"--merge-stderr", "", set_merge_stderr,
        "Give workers one pipe for both streams: what they write to standard error comes with their standard output."},
       {"--pty", "", set_pty,
        "Give each worker a terminal as its standard output, so that C prints each line at once, as under Open MPI's "
        "mpirun. The default under the name mpirun."},
       {"--no-pty", "", set_no_pty, "Give workers pipes as their standard output, under the name mpirun, too."},
       {"--collapse-cr", "", set_collapse_cr,
        "Print only the last state of each second of a progress bar. The default for several workers at a terminal."},
       {"--all-lines", "", set_all_lines,
        "Print every line of each worker, at a terminal too: no --dedup, no --collapse-cr."},
       {"--sanitize", "auto|always|never", set_sanitize,
        "Show control characters of workers, all but colours, as \\xNN instead of passing them on: when the output "
        "goes to a terminal, always, or never. Default: auto.",
        "auto"},
       {"--keep-going-without-output", "", set_keep_going_without_output,
        "Go on, and drop the output, when nobody reads it any more. Without this the job ends with status 141."}}};
}

// Options for the launcher itself, and for its messages.
std::vector<OptionGroup> options_of_the_launcher() {
  return {
      {"Time limits (D is 90, 90s, 1.5m, 2h or 250ms)",
       "limits",
       {{"--grace", "D", set_grace, "Time between TERM and KILL when the job is stopped; default 10s.", "10s"},
        {"--stop-grace", "D", set_stop_grace,
         "The same when it is a signal that stops the job. Default: in containers as long as the platform allows, else "
         "that of --grace."},
        {"--timeout", "D", set_timeout, "Stop the job, with status 124, when its workers have run so long."},
        {"--timeout-status", "N", set_timeout_status,
         "Then end with status N, 1 to 255; default 124, and as mpirun 110, as mpiexec.hydra 255."},
        {"--start-timeout", "D", set_start_timeout, "Give up when not all hosts are ready by then; default 60s.",
         "60s"},
        {"--heartbeat-timeout", "D", set_heartbeat_timeout, "A host silent for so long is lost; default 30s.", "30s"},
        {"--connect-timeout", "D", set_connect_timeout,
         "Limit for each host's connection, and again for its log-in; default 15s.", "15s"}}},
      {"Reaching the hosts",
       "ssh",
       {{"--ssh-port -p", "PORT", set_ssh_port, "Port of the SSH servers; default: that of the ssh configuration."},
        {"--ssh-user", "USER", set_ssh_user, "User on hosts that are given without USER@."},
        {"--ssh-identity-file -i", "FILE", set_ssh_identity_file, "Private key to log in with."},
        {"--ssh-config", "FILE", set_ssh_config,
         "Use this ssh configuration instead of ~/.ssh/config and /etc/ssh/ssh_config."},
        {"--ssh-command", "COMMAND", set_ssh_command,
         "Reach hosts through a command, instead of the built-in client: as ssh is called, or as it says with {host} "
         "and "
         "{command}."},
        {"--accept-new-host-keys", "", set_accept_new_host_keys,
         "Trust and remember keys of hosts that are not known yet. A changed key is always refused."},
        {"--fanout", "N", set_fanout, "Log-ins under way at the same time; default 64.", "64"},
        {"--agent-path", "FILE", set_agent_path, "Send this sml-run-agent instead of the one built in."}}},
      {"Information",
       "information",
       {{"--config", "FILE", set_config,
         "Take options from FILE too, a line KEY = VALUE each: --np 4 is np = 4. SML_NP=4 in the environment has more "
         "say, and the command line most."},
        {"--explain", "", set_explain, "Print every option, its value and who gave it; start nothing."},
        {"--dry-run --plan", "", set_dry_run, "Print which rank would run where; start and connect to nothing."},
        {"--check", "", set_check,
         "Connect to the hosts as the job would, print what they are like and what would go wrong, start nothing. The "
         "exit status is 0 when the job would start. No program needs to be given."},
        needing("--dry-run", {"--show-env", "RANK", set_show_env,
                              "With --dry-run: print the variables that are set for this rank instead."}),
        needing("--dry-run --explain --check", {"--format", "text|json", set_format,
                                                "Format of --dry-run, --check and --explain; default text.", "text"}),
        {"--completion", "bash|zsh|fish", set_completion,
         "Print a script with which this shell completes the options of sml-run."},
        {"--install-links", "DIR", set_install_links,
         "Make links to sml-run in DIR, under the names of other launchers, where their lines run as they stand: "
         "mpirun, mpiexec, mpiexec.hydra, horovodrun, torchrun, srun, deepspeed, accelerate. Files of others are not "
         "replaced."},
        {"--display-map -display-map", "", set_display_map, "Print which rank runs where, then start them."},
        {"--verbose -v", "", set_verbose, "Say what is being done."},
        {"--quiet -q", "", set_quiet, "Say nothing but errors."},
        {"--version", "", nullptr, "Print the version and leave; with --verbose also those of the libraries inside."},
        {"--help -h", "", nullptr,
         "Print a screen of help and leave. A word may follow: a topic, an option, or all, for this text."}}}};
}

std::vector<string_view> words_of(string_view text) {
  std::vector<string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Does not build a list, since each word of a command line is compared with each row.
bool has_word(string_view text, string_view word) {
  if (word.empty() || word.find(' ') != string_view::npos) return false;
  for (std::size_t at = text.find(word); at != string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups = [] {
    std::vector<OptionGroup> all = options_of_the_plan();
    for (OptionGroup& group : options_of_the_run()) all.push_back(std::move(group));
    all.push_back(options_of_restarts());
    all.push_back(options_of_the_output());
    all.push_back(options_of_the_progress());
    all.push_back(options_of_programs());
    all.push_back(options_of_placement());
    all.push_back(options_of_shares());
    all.push_back(options_of_arrays());
    all.push_back(options_of_data());
    for (OptionGroup& group : options_of_the_records()) all.push_back(std::move(group));
    all.push_back(options_of_dial_in());
    all.push_back(options_of_sagemaker());
    all.push_back(options_of_fifos());
    for (OptionGroup& group : options_of_the_launcher()) all.push_back(std::move(group));
    return all;
  }();
  return groups;
}

std::vector<string_view> spellings_of(const OptionRow& row) { return words_of(row.spellings); }

std::vector<string_view> needs_of(const OptionRow& row) { return words_of(row.needs); }

std::vector<string_view> fixed_values_of(const OptionRow& row) {
  if (!row.fixed_values.empty()) return words_of(row.fixed_values);
  if (row.value.find('[') != string_view::npos) return {};  // fixed words follow another part of the value
  std::vector<string_view> out;
  for (std::size_t at = 0; at < row.value.size();) {
    const std::size_t end = std::min(row.value.find('|', at), row.value.size());
    const string_view word = row.value.substr(at, end - at);
    // Words in capitals are placeholders.
    const bool is_fixed = std::none_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!word.empty() && is_fixed && word.front() >= 'a' && word.front() <= 'z') out.push_back(word);
    at = end + 1;
  }
  return out;
}

string_view main_spelling(const OptionRow& row) { return row.spellings.substr(0, row.spellings.find(' ')); }

const OptionRow* find_row(string_view spelling) {
  const OptionRow* found = nullptr;
  for_each_row([&](const OptionRow& row) {
    if (has_word(row.spellings, spelling)) found = &row;
  });
  return found;
}

string_view without_dashes(string_view word) { return word.substr(std::min(word.find_first_not_of('-'), word.size())); }

}  // namespace sml
