#include "launcher/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "common/plan/secrets.h"
#include "common/plan/settings_file.h"
#include "launcher/dialects/dialect.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/option_table.h"
#include "launcher/options/option_values.h"
#include "launcher/report/explain.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

// ---- the table: everything that is known about an option

// What runs where, and with what.
std::vector<OptionGroup> options_of_the_plan() {
  return {
      {"Workers",
       {{"--np -np -n -c --num-proc --n", "N", set_np, "Number of workers; default: one for every slot."},
        {"--nproc-per-node -N -ppn --npernode --nproc_per_node --slots-per-host", "N|auto|gpu|cpu|gpu-or-cpu|core",
         set_nproc_per_node,
         "Slots of each host, whatever a list says: a number, or the GPUs, CPUs or cores of this machine. The default, "
         "auto, is what the list says, else the GPUs, else the Neuron cores, else 1.",
         "auto"},
        {"--oversubscribe -oversubscribe", "", set_oversubscribe,
         "Allow more workers than slots; the rest is dealt evenly."},
        {"--wdir -wd -wdir --chdir", "DIR", set_working_directory,
         "Working directory on every host; default: the one in which sml-run is started."}}},
      {"Hosts",
       {{"--hosts -H -host --host", "LIST", set_hosts,
         "[USER@]HOST[:SLOTS],... or [USER@]HOST:PORT/SLOTS, with ranges such as algo-[1-4]:8; an IPv6 address stands "
         "in brackets."},
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
        {"--host-source", "NAME", set_host_source,
         "Take the hosts from there and nowhere else: hosts, hostfile, resource-config, nnodes, sagemaker, slurm, pbs, "
         "lsf, "
         "sge, flux, oar, cobalt, aws-batch, pytorchjob, kubernetes, mpi, rankfile or local."}}},
      {"Environment of the workers",
       {{"-x", "NAME[=VALUE]", add_export_word,
         "Set a variable, or pass the one that sml-run has; 'PREFIX_*' passes all that begin so. Repeatable.", "",
         Repeat::AddsUp},
        {"--env-file", "FILE", add_env_file,
         "Set the variables of a file, one NAME=VALUE a line. Repeatable; -x wins over it.", "", Repeat::AddsUp},
        {"--export", "all|none", set_export,
         "What workers on other hosts inherit from sml-run: everything but what belongs to this host or log-in, or "
         "nothing. Default: all. What looks like a secret stays here, see --export-secrets.",
         "all"},
        {"--export-secrets", "", set_export_secrets,
         "Let variables whose names look like those of secrets (*_TOKEN, *_API_KEY, ...) go to other hosts with the "
         "rest. "
         "Default: only those that -x or --env-file names."}}}};
}

// How workers meet, and what becomes of those that fail.
std::vector<OptionGroup> options_of_the_run() {
  return {
      {"Rendezvous of the workers",
       {{"--master-addr --master_addr", "ADDRESS", set_master_address,
         "Numeric address of rank 0's host at which the workers meet; default: the first that every host can reach."},
        {"--interface --network-interface --network-interfaces -iface", "LIST", set_interface,
         "Interfaces that the workers use on each host, by name or network: eth0,10.0.0.0/8. They meet at the first "
         "that rank 0's host has. Default: by the routes between the hosts."},
        {"--preset", "NAME,...", set_preset,
         "Set the variables of these frameworks too: tf, jax, deepspeed, dmlc, accelerate, slurm, hydra. torch, "
         "Horovod and "
         "programs that read Open MPI's variables need none."},
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
       {{"--on-failure", "abort|continue", set_on_failure,
         "What to do when a worker fails: stop all others, or let them finish. Default: abort.", "abort"},
        {"--forward-signals", "none|LIST", set_forward_signals,
         "Signals to sml-run that are passed on to every worker and stop nothing; default: USR1,USR2,WINCH.",
         "USR1,USR2,WINCH"},
        {"--stdin -stdin", "none|all|RANK", set_stdin, "Which workers get the input of sml-run; default: rank 0.", "0"},
        {"--report", "FILE", set_report, "Write how the job ended to FILE, as JSON."}}}};
}

// What is told of the job, and asked of it, while it runs.
OptionGroup options_of_the_progress() {
  return {
      "Progress of the job",
      {{"--no-status", "", set_no_status,
        "Draw no line with hosts, ranks and time below the output, which is there when standard output and standard "
        "error are one terminal."},
       {"--status-signal", "SIG", set_status_signal,
        "Print a table of all hosts and ranks when this signal comes, such as USR1 or QUIT, instead of passing it on."},
       {"--warn-silent", "D", set_warn_silent, "Name the workers that have printed nothing for D while others have."},
       {"--watch", "'REGEX;first=D;every=D'", set_watch,
        "Stop the job, with status 123, when a worker prints no line that matches within the first D, or for D after "
        "the last one; with ;ranks=LIST only these are watched."}}};
}

// Jobs of several programs.
OptionGroup options_of_programs() {
  return {"Several programs, with \":\" between them; each has its own -np, -H, -x, --env-file and --wdir",
          {{"--app -app -configfile", "FILE", set_app_file,
            "Read the programs from FILE, one a line with its options. Lines that begin with # say nothing."},
           {"--role", "NAME", set_role,
            "Role of the program's workers, which get it as ROLE_NAME; some presets ask for roles. Default: default."},
           {"--helper", "", set_helper,
            "The program serves the others: its processes are no ranks of theirs, and are stopped when all others "
            "have ended."}}};
}

// What is left in files.
std::vector<OptionGroup> options_of_the_records() {
  return {{"Records of the job",
           {{"--events", "FILE", set_events, "Write what happens to FILE as it happens, as JSON Lines."},
            {"--timeline", "FILE", add_timeline,
             "Draw the job: a page for a browser when FILE ends in .html, a trace for Perfetto when it ends in .json. "
             "Repeatable.",
             "", Repeat::AddsUp},
            {"--log-dir", "DIR", set_log_dir,
             "Write what each rank prints to files of its own, byte for byte: DIR/rank.R/stdout and stderr."},
            {"--log-layout", "TEMPLATE", set_log_layout,
             "Name the files of --log-dir otherwise, with {rank}, {local_rank}, {host}, {stream} and {job}; default: "
             "rank.{rank}/{stream}.",
             "rank.{rank}/{stream}"},
            {"--redirects", "STREAMS", set_redirects,
             "As torchrun does: write these streams to files only, and no others. 0 none, 1 stdout, 2 stderr, 3 both; "
             "or by local rank, 0:3,1:1."},
            {"--tee", "STREAMS", set_tee, "The same for streams that are written to files and printed too."},
            {"--tee-tag", "TEMPLATE", set_tee_tag, "Put this before the lines of --tee, instead of what --tag says."},
            {"--log-on-host", "", set_log_on_host,
             "Write the files of --log-dir on the host of each rank instead of here. The output comes here too."},
            {"--log-max-size", "SIZE", set_log_max_size,
             "Begin a new file when one would grow beyond SIZE (64K, 10M, 2G); the last four older ones are kept."},
            {"--log-overwrite", "", set_log_overwrite, "Replace files of an earlier job, which is refused otherwise."},
            {"--log-strict", "", set_log_strict,
             "End the job, with status 125, when a log cannot be written, instead of warning."},
            {"--output-filename -output-filename", "DIR[:nocopy]", set_output_filename,
             "As Open MPI does: write DIR/1/rank.R/stdout and stderr, over those of an earlier job; with :nocopy print "
             "nothing of it here."}}}};
}

// Which rank is where.
OptionGroup options_of_placement() {
  return {"Placement of the workers",
          {{"--map-by -map-by", "slot|host|PART|ppr:N:host|ppr:N:PART", set_map_by,
            "Fill the slots host after host, which is the default, give each host one worker in turn, or start N on "
            "each host. Within a host put workers on sockets (or numa, l3, core, hwthread) in turn, or N on each, and "
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

// What each worker has of its host.
OptionGroup options_of_shares() {
  return {
      "Processors and devices of the workers",
      {{"--bind-to -bind-to", "none|hwthread|core|l3|numa|socket|openmpi", set_bind_to,
        "Let each worker run on processors or cores of its own only, or on the L3 cache, NUMA node or socket to which "
        "the workers are spread. openmpi: core for up to two workers, else numa, as Open MPI does where nothing is "
        "said. Default: none."},
       {"--cpu-set", "LIST", set_cpu_set, "Let workers run on these cores of each host only, such as 0-3,8."},
       {"--cpus-per-rank -cpus-per-proc -cpus-per-rank --cpus-per-proc --cpus-per-task", "N", set_cpus_per_rank,
        "Cores of each worker with --bind-to core, and its OMP_NUM_THREADS."},
       {"--memory-policy", "none|bind|prefer|interleave", set_memory_policy,
        "Take memory only or first from the NUMA nodes of the worker's cores, or from all in turn."},
       {"--bind-strict", "", set_bind_strict, "Start nothing when a worker cannot be bound, instead of warning."},
       {"--report-bindings -report-bindings", "", set_report_bindings, "Say where each worker is bound to."},
       {"--gpus-per-rank -gpus-per-proc --gpus-per-task", "N", set_gpus_per_rank,
        "Let each worker see N GPUs of its own; implies --visible-devices per-rank."},
       {"--visible-devices", "all|per-rank|none", set_visible_devices,
        "Which GPUs or other accelerators of its host a worker sees: all, which is the default, its own, in the "
        "order of the local ranks, or none."}}};
}

// One run for each line of a file.
OptionGroup options_of_arrays() {
  return {
      "Array jobs",
      {{"--array-file", "FILE", set_array_file,
        "Take a line of this file, which may be s3://BUCKET/KEY, with commas between its fields: that of the array "
        "index "
        "of AWS Batch, Slurm, PBS, Grid Engine, LSF or Kubernetes. {array_index} and {NAME} stand for it in the "
        "program's arguments."},
       {"--array-vars", "NAME,...", set_array_vars, "Names of the fields; workers get them as variables."},
       {"--array-index", "I", set_array_index, "Take the line of this index instead of the batch system's."},
       {"--array-base", "0|1", set_array_base,
        "Index of the file's first line; default: 0, and 1 for Grid Engine and LSF."},
       {"--array-all", "", set_array_all, "Run all lines on this machine, one after the other or --jobs at a time."},
       {"--jobs", "K", set_array_jobs, "How many of --array-all run at the same time; default 1.", "1"}}};
}

OptionGroup options_of_data() {
  return {"Data",
          {{"--channel", "NAME=DIR[,SETTING...]", set_channel,
            "Lead workers to a folder by SM_CHANNEL_NAME. With mode=ShardedByS3Key each host, or with by=rank each "
            "worker, finds its share of the files there, as a folder of links; order=block gives consecutive files "
            "instead of every n-th. Repeatable.",
            "", Repeat::AddsUp}}};
}

OptionGroup options_of_dial_in() {
  return {
      "Started on every host (they call the first, and need no SSH)",
      {{"--nnodes", "N", set_nnodes,
        "How many hosts the job has, where nothing names them; 1 is this machine. With -H as --host-count."},
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
          {{"--hp-style", "toolkit|v3", set_hp_style,
            "How train makes arguments of hyperparameters: as the training toolkit does, which is the default, or as "
            "version 3 of the Python SDK.",
            "toolkit"},
           {"--no-install", "", set_no_install, "Install neither requirements.txt nor the package of the sources."},
           {"--failure-file", "FILE", set_failure_file,
            "Leave the reason of a failure in FILE, unless somebody has written to it; default: SageMaker's own."},
           {"--no-failure-file", "", set_no_failure_file, "Leave no such file."}}};
}

OptionGroup options_of_pipes() {
  return {"Channels that workers read from FIFOs, as SageMaker's Pipe mode has them",
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
           {"--pipe-epochs", "N", set_pipe_epochs, "Feed no more than N epochs; default: as many as are read."}}};
}

OptionGroup options_of_the_output() {
  return {
      "Output of the workers",
      {{"--tag", "TEMPLATE", set_tag,
        "Put this before each line of a worker, with {rank}, {local_rank}, {host}, {stream} and {time}; {rank:4} has "
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
        "their like."},
       {"--merge-stderr", "", set_merge_stderr,
        "Give workers one pipe for both streams: what they write to standard error comes with their standard output."},
       {"--collapse-cr", "", set_collapse_cr,
        "Of progress bars print only the last state of each second, unless the output is a terminal."},
       {"--sanitize", "auto|always|never", set_sanitize,
        "Show control characters of workers, all but colours, as \\xNN instead of passing them on: when the output "
        "goes to a terminal, always, or never. Default: auto.",
        "auto"},
       {"--keep-going-without-output", "", set_keep_going_without_output,
        "Go on, and drop the output, when nobody reads it any more. Without this the job ends with status 141."}}};
}

// How it is done, and what is said of it.
std::vector<OptionGroup> options_of_the_launcher() {
  return {
      {"Time limits (D is 90, 90s, 1.5m, 2h or 250ms)",
       {{"--grace", "D", set_grace, "Time between TERM and KILL when the job is stopped; default 10s.", "10s"},
        {"--stop-grace", "D", set_stop_grace,
         "The same when it is a signal that stops the job. Default: in containers as long as the platform allows, else "
         "that of --grace."},
        {"--timeout", "D", set_timeout, "Stop the job, with status 124, when its workers have run so long."},
        {"--start-timeout", "D", set_start_timeout, "Give up when not all hosts are ready by then; default 60s.",
         "60s"},
        {"--heartbeat-timeout", "D", set_heartbeat_timeout, "A host silent for so long is lost; default 30s.", "30s"},
        {"--connect-timeout", "D", set_connect_timeout,
         "Limit for each host's connection, and again for its log-in; default 15s.", "15s"}}},
      {"Reaching the hosts",
       {{"--ssh-port -p", "PORT", set_ssh_port, "Port of the SSH servers; default: that of the ssh configuration."},
        {"--ssh-user", "USER", set_ssh_user, "User on hosts that are given without USER@."},
        {"--ssh-identity-file -i", "FILE", set_ssh_identity_file, "Private key to log in with."},
        {"--ssh-config", "FILE", set_ssh_config,
         "Use this ssh configuration instead of ~/.ssh/config and /etc/ssh/ssh_config."},
        {"--ssh-command", "COMMAND", set_ssh_command,
         "Reach hosts through a command that is called as ssh is, instead of the built-in client."},
        {"--accept-new-host-keys", "", set_accept_new_host_keys,
         "Trust and remember keys of hosts that are not known yet. A changed key is always refused."},
        {"--fanout", "N", set_fanout, "Log-ins under way at the same time; default 64.", "64"},
        {"--agent-path", "FILE", set_agent_path, "Send this sml-run-agent instead of the one built in."}}},
      {"Information",
       {{"--config", "FILE", set_config,
         "Take options from FILE too, a line KEY = VALUE each: --np 4 is np = 4. SML_NP=4 in the environment has more "
         "say, and the command line most."},
        {"--explain", "", set_explain, "Print every option, its value and who gave it; start nothing."},
        {"--dry-run --plan", "", set_dry_run, "Print which rank would run where; start and connect to nothing."},
        {"--check", "", set_check,
         "Connect to the hosts as the job would, print what they are like and what would go wrong, start nothing. The "
         "exit status is 0 when the job would start. No program needs to be given."},
        {"--show-env", "RANK", set_show_env, "With --dry-run: print the variables that are set for this rank instead."},
        {"--format", "text|json", set_format, "Format of --dry-run, --check and --explain; default text.", "text"},
        {"--completion", "bash|zsh|fish", set_completion,
         "Print a script with which this shell completes the options of sml-run."},
        {"--display-map -display-map", "", set_display_map, "Print which rank runs where, then start them."},
        {"--verbose -v", "", set_verbose, "Say what is being done."},
        {"--quiet -q", "", set_quiet, "Say nothing but errors."},
        {"--version", "", nullptr, "Print the version and leave."},
        {"--help -h", "", nullptr, "Print this text and leave."}}}};
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups = [] {
    std::vector<OptionGroup> all = options_of_the_plan();
    for (OptionGroup& group : options_of_the_run()) all.push_back(std::move(group));
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
    all.push_back(options_of_pipes());
    for (OptionGroup& group : options_of_the_launcher()) all.push_back(std::move(group));
    return all;
  }();
  return groups;
}

std::vector<string_view> spellings_of(const OptionRow& row) {
  std::vector<string_view> out;
  for (std::size_t at = 0; at < row.spellings.size();) {
    const std::size_t end = std::min(row.spellings.find(' ', at), row.spellings.size());
    out.push_back(row.spellings.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

string_view main_spelling(const OptionRow& row) { return row.spellings.substr(0, row.spellings.find(' ')); }

const OptionRow* find_row(string_view spelling) {
  const OptionRow* found = nullptr;
  for_each_row([&](const OptionRow& row) {
    const std::vector<string_view> known = spellings_of(row);
    if (std::find(known.begin(), known.end(), spelling) != known.end()) found = &row;
  });
  return found;
}

string_view without_dashes(string_view word) { return word.substr(std::min(word.find_first_not_of('-'), word.size())); }

namespace {

Error unknown_option(string_view word) {
  std::vector<string_view> spellings;
  for_each_row([&](const OptionRow& row) {
    for (string_view s : spellings_of(row)) spellings.push_back(s);
  });
  std::vector<string_view> names;
  for (string_view s : spellings) names.push_back(without_dashes(s));
  const string_view best = nearest(without_dashes(word), names);
  const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), best) - names.begin());
  return Error(ErrorKind::Usage,
               index == names.size()
                   ? fmt::format("unknown option {}; sml-run --help lists them all", show(word, 80))
                   : fmt::format("unknown option {}; did you mean {}?", show(word, 80), spellings[index]));
}

// ---- scanning: which words are options, and where the program begins

struct Scan {
  std::vector<Occurrence> options;
  Mode mode = Mode::Program;
  std::span<const std::string> program;
  bool another_follows = false;  // a ":" stood after the program
  dialects::Program program_is = dialects::Program::Unchanged;
  std::vector<std::string> notes;        // options of other launchers that have no effect
  std::vector<std::string> needs_hosts;  // what to say where no hosts are given
  dialects::Meeting meeting;
  std::string config_file;               // of another launcher
  std::vector<Occurrence> of_variables;  // of the launcher by whose name we are called
};

// One word of the command line, cut into option and value: "-np", "--np=4", "-n4".
struct Word {
  const OptionRow* row = nullptr;
  string_view spelling;
  std::optional<string_view> value;
};

Word cut_word(string_view word) {
  if (const OptionRow* row = find_row(word)) return {row, word, std::nullopt};
  const std::size_t equals = word.find('=');
  if (equals != string_view::npos)
    return {find_row(word.substr(0, equals)), word.substr(0, equals), word.substr(equals + 1)};
  const bool number_follows =
      word.size() > 2 && word[1] != '-' && word.find_first_not_of("0123456789", 2) == string_view::npos;
  const OptionRow* row = number_follows ? find_row(word.substr(0, 2)) : nullptr;
  if (row != nullptr && !row->value.empty()) return {row, word.substr(0, 2), word.substr(2)};
  return {nullptr, word, std::nullopt};
}

// ---- options of other launchers

// Such an option, and the value that is written in the same word.
struct ForeignWord {
  const dialects::Row* row = nullptr;
  string_view spelling;
  std::optional<std::string> value;
};

ForeignWord cut_foreign(Dialect dialect, string_view word) {
  if (const dialects::Row* row = dialects::find_row(dialect, word)) return {row, word, std::nullopt};
  const std::size_t equals = std::min(word.find('='), word.size());
  const string_view front = word.substr(0, equals);
  std::optional<std::string> value;
  if (equals < word.size()) value = std::string(word.substr(equals + 1));
  if (const dialects::Row* row = dialects::find_row(dialect, front)) return {row, front, value};
  const bool number_follows =
      word.size() > 2 && word[1] != '-' && word.find_first_not_of("0123456789", 2) == string_view::npos;
  const dialects::Row* row = number_follows ? dialects::find_row(dialect, word.substr(0, 2)) : nullptr;
  if (row != nullptr && row->values == 1) return {row, word.substr(0, 2), std::string(word.substr(2))};
  if (cut_word(word).row != nullptr) return {};  // ours
  return {dialects::find_cut_short(dialect, front), front, value};
}

void add_note(std::vector<std::string>& notes, std::string note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

// Takes one option of `dialect` off the front of `words`; false: there is none.
Result<bool> take_foreign(Dialect dialect, std::span<const std::string>& words, Scan& out) {
  const ForeignWord word = cut_foreign(dialect, words.front());
  if (word.row == nullptr) return false;
  words = words.subspan(1);
  std::vector<std::string> values;
  if (word.value) values.push_back(*word.value);
  if (values.size() > word.row->values && word.row->optional == dialects::OptionalValue::No) {
    return Error(ErrorKind::Usage, fmt::format("{0} takes no value; write {0} alone", word.spelling));
  }
  for (; values.size() < word.row->values; words = words.subspan(1)) {
    if (words.empty()) return Error(ErrorKind::Usage, fmt::format("{} needs a value", word.spelling));
    values.push_back(words.front());
  }
  if (std::any_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); })) {
    return Error(ErrorKind::Usage, fmt::format("{} has an empty value", word.spelling));
  }
  Result<dialects::Meaning> meaning = word.row->meaning(word.spelling, values);
  if (!meaning) return Error(meaning.error()).in(word.spelling);
  for (dialects::Given& given : meaning->options) {
    out.options.push_back({find_row(given.option), std::string(word.spelling), std::move(given.value)});
  }
  if (!meaning->note.empty()) add_note(out.notes, std::move(meaning->note));
  dialects::merge(out.meeting, meaning->meeting);
  if (!meaning->needs_hosts.empty()) out.needs_hosts.push_back(std::move(meaning->needs_hosts));
  if (!meaning->config_file.empty()) out.config_file = std::move(meaning->config_file);
  if (meaning->program != dialects::Program::Unchanged) out.program_is = meaning->program;
  return true;
}

// Takes one option off the front of `words`, with its value.
Result<Occurrence> take_option(std::span<const std::string>& words) {
  const Word word = cut_word(words.front());
  words = words.subspan(1);
  if (word.row == nullptr) return unknown_option(word.spelling);
  Occurrence out{word.row, std::string(word.spelling), "", Layer::CommandLine, ""};
  if (word.row->value.empty()) {
    if (word.value) return Error(ErrorKind::Usage, fmt::format("{0} takes no value; write {0} alone", word.spelling));
    return out;
  }
  if (word.value) {
    out.value = *word.value;
  } else if (!words.empty()) {
    out.value = words.front();
    words = words.subspan(1);
  } else {
    return Error(ErrorKind::Usage, fmt::format("{0} needs a value; write {0} {1}", word.spelling, word.row->value));
  }
  if (!out.value.empty()) return out;
  return Error(ErrorKind::Usage, fmt::format("{0} has an empty value; write {0} {1}", word.spelling, word.row->value));
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// SageMaker calls a container with the word "train", or "serve"; options may stand before it and after it.
Result<Mode> take_mode(std::span<const std::string>& words) {
  if (words.size() == 1 && words.front() == "serve") {
    return Error(ErrorKind::Usage,
                 "serve: sml-run trains models and serves none; to start a program of that name write "
                 "./serve");
  }
  if (words.empty() || words.front() != "train") return Mode::Program;
  if (words.size() > 1 && !is_option(words[1])) {
    return Error(ErrorKind::Usage, fmt::format("train: \"{}\" is no option; write sml-run train -- PROGRAM, or ./train "
                                               "for a program of that name",
                                               show(words[1], 60)));
  }
  words = words.subspan(1);
  return Mode::Train;
}

// Takes the options at the front of `words`; answers what may follow them.
enum class After : std::uint8_t { Anything, Program };
Result<After> take_options(Dialect dialect, std::span<const std::string>& words, Scan& out) {
  while (!words.empty() && is_option(words.front())) {
    if (words.front() == "--") {
      words = words.subspan(1);
      return After::Program;
    }
    const bool ours_first = dialect == Dialect::Own && cut_word(words.front()).row != nullptr;
    const Result<bool> foreign = ours_first ? Result<bool>(false) : take_foreign(dialect, words, out);
    if (!foreign) return foreign.error();
    if (!*foreign) {
      Result<Occurrence> option = take_option(words);
      if (!option) return option.error();
      out.options.push_back(std::move(*option));
    }
    if (!out.options.empty() && out.options.back().row->set == nullptr)
      return After::Program;  // --help, --version: nothing after it counts
  }
  return After::Anything;
}

// The first program of `words`, with its options; takes them off, and the ":" behind. After "--" all words are its own.
Result<void> take_program(std::span<const std::string>& words, After after, Scan& out) {
  const auto is_word = [](string_view wanted) { return [wanted](const std::string& word) { return word == wanted; }; };
  if (after == After::Anything && std::any_of(words.begin(), words.end(), is_word("::"))) {
    return Error(
        ErrorKind::Usage,
        "\"::\" separates nothing; write one \":\" between two programs, or -- before a program that takes it");
  }
  const auto end = after == After::Program ? words.end() : std::find_if(words.begin(), words.end(), is_word(":"));
  const auto size = static_cast<std::size_t>(end - words.begin());
  out.program = words.subspan(0, size);
  out.another_follows = end != words.end();
  words = words.subspan(size + (out.another_follows ? 1 : 0));
  return {};
}

// mpirun's -H adds to an earlier one.
void join_hosts(std::vector<Occurrence>& options) {
  const OptionRow* row = find_row("--hosts");
  std::string all;
  for (const Occurrence& o : options) {
    if (o.row == row) all += (all.empty() ? "" : ",") + o.value;
  }
  for (Occurrence& o : options) {
    if (o.row == row) o.value = all;
  }
}

Result<Scan> scan(Dialect dialect, std::span<const std::string>& words) {
  Scan out;
  Result<After> after = take_options(dialect, words, out);
  if (!after) return after.error();
  if (dialect == Dialect::Mpirun) join_hosts(out.options);
  if (*after == After::Anything && dialect == Dialect::Own) {
    const Result<Mode> mode = take_mode(words);
    if (!mode) return mode.error();
    out.mode = *mode;
    if (*mode == Mode::Train) after = take_options(dialect, words, out);
    if (!after) return after.error();
  }
  if (Result<void> taken = take_program(words, *after, out); !taken) return taken.error();
  if (out.mode == Mode::Train && out.another_follows) {
    return Error(ErrorKind::Usage, "train: the job has one program; \":\" begins another");
  }
  return out;
}

// A program after a ":", with the options that it may have of its own.
Result<Scan> scan_further(Dialect dialect, std::span<const std::string>& words) {
  constexpr SetOption kOfPrograms[] = {set_np,   set_hosts, set_working_directory, add_export_word, add_env_file,
                                       set_role, set_helper};
  Scan out;
  const Result<After> after = take_options(dialect, words, out);
  if (!after) return after.error();
  for (const Occurrence& o : out.options) {
    if (std::find(std::begin(kOfPrograms), std::end(kOfPrograms), o.row->set) != std::end(kOfPrograms)) continue;
    return Error(ErrorKind::Usage,
                 fmt::format("{} holds for the whole job; give it before the first program", o.spelling));
  }
  if (Result<void> taken = take_program(words, *after, out); !taken) return taken.error();
  return out;
}

// ---- parsing: CLI11 knows no single-dash long options, so it sees each option under one long name

std::string parser_name(const OptionRow& row) { return "--" + std::string(without_dashes(main_spelling(row))); }

class Parser {
 public:
  // Every value is checked, also where a later one replaces it.
  explicit Parser(std::span<const Occurrence> given) : given_(given) {
    app_.set_help_flag();
    for_each_row([this](const OptionRow& row) { add(row); });
  }

  Result<Options> parse() {
    std::vector<std::string> words;
    for (const Occurrence& o : given_) words.push_back(parser_name(*o.row) + (o.row->is_flag() ? "" : "=" + o.value));
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      return Error(ErrorKind::Usage, error.what());
    }
    const auto forward =
        app_.get_option("--forward-signals")->count() > 0 ? ForwardSignals::Given : ForwardSignals::Default;
    if (Result<void> settled = settle_status_signal(options_, forward); !settled) return settled.error();
    if (options_.dry_run) options_.dry_run = options_.format;
    return std::move(options_);
  }

 private:
  void add(const OptionRow& row) {
    // Called at each occurrence in its order, so that the last value wins and repeated options add up.
    const auto set = [this](const std::string& value) { set_next(value); };
    if (row.is_flag()) {
      app_.add_flag_callback(parser_name(row), [set] { set(""); })->trigger_on_parse();
    } else {
      app_.add_option_function<std::string>(parser_name(row), set)->trigger_on_parse();
    }
  }
  void set_next(string_view value) {
    const Occurrence& occurrence = given_[next_++];
    const Result<void> done = occurrence.row->set(options_, value);
    if (!done) throw CLI::ValidationError(occurrence.spelling + ": " + done.error().message());
  }

  std::span<const Occurrence> given_;
  std::size_t next_ = 0;
  Options options_;
  CLI::App app_;
};

// ---- options that mean nothing without another

struct Need {
  string_view option;
  string_view needed;  // any of these
};
constexpr std::array kNeeds{
    Need{"--format", "--dry-run --explain --check"},
    Need{"--show-env", "--dry-run"},
    Need{"--array-file", "--array-vars"},
    Need{"--array-vars", "--array-file"},
    Need{"--array-index", "--array-file"},
    Need{"--array-base", "--array-file"},
    Need{"--array-all", "--array-file"},
    Need{"--jobs", "--array-all"},
    Need{"--pipe-epochs", "--pipe --pipe-fanout"},
    Need{"--log-layout", "--log-dir"},
    Need{"--log-on-host", "--log-dir"},
    Need{"--redirects", "--log-dir"},
    Need{"--tee", "--log-dir"},
    Need{"--tee-tag", "--tee"},
};

std::vector<string_view> words_of(string_view text) {
  std::vector<string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool is_met(const Need& need, std::span<const Occurrence> given) {
  const std::vector<string_view> needed = words_of(need.needed);
  return std::any_of(given.begin(), given.end(), [&](const Occurrence& o) {
    return std::find(needed.begin(), needed.end(), main_spelling(*o.row)) != needed.end();
  });
}

const Need* unmet_need(const Occurrence& o, std::span<const Occurrence> given) {
  const auto unmet = [&](const Need& need) { return need.option == main_spelling(*o.row) && !is_met(need, given); };
  const auto* need = std::find_if(kNeeds.begin(), kNeeds.end(), unmet);
  return need == kNeeds.end() ? nullptr : need;
}

// What is not on the command line is there for the runs that need it.
std::vector<Occurrence> without_idle(std::span<const Occurrence> given) {
  std::vector<Occurrence> out;
  for (const Occurrence& o : given) {
    if (o.layer == Layer::CommandLine || unmet_need(o, given) == nullptr) out.push_back(o);
  }
  return out;
}

Result<void> check_needs(std::span<const Occurrence> given) {
  for (const Occurrence& o : given) {
    const Need* need = unmet_need(o, given);
    if (need == nullptr) continue;
    return Error(ErrorKind::Usage,
                 fmt::format("{} requires {}", need->option, fmt::join(words_of(need->needed), " or ")));
  }
  return {};
}

// ---- the other layers

const Occurrence* last_of(std::span<const Occurrence> given, string_view option) {
  const Occurrence* last = nullptr;
  for (const Occurrence& o : given) {
    if (main_spelling(*o.row) == option) last = &o;
  }
  return last;
}

Result<std::vector<Occurrence>> read_config(const Occurrence& named, const Surroundings& around) {
  const Result<std::string> text = around.read_file(named.value, plan::kMaxSettingsBytes);
  if (text) return options_of_file(*text, named.value);
  return Error(ErrorKind::Config, fmt::format("{} {}: {}", named.spelling, show(named.value), text.error().message()));
}

// As dialects see options, those of variables first.
std::vector<dialects::Given> given_to(const Scan& scanned) {
  std::vector<dialects::Given> given;
  for (const std::vector<Occurrence>* some : {&scanned.of_variables, &scanned.options}) {
    for (const Occurrence& o : *some) given.push_back({std::string(main_spelling(*o.row)), o.value});
  }
  return given;
}

// What the launcher whose name we are called by does by itself.
std::vector<Occurrence> dialect_layer(Dialect dialect, const Scan& scanned, const Surroundings& around) {
  const std::vector<dialects::Given> given = given_to(scanned);
  std::vector<Occurrence> out;
  const std::string name(dialects::name_of(dialect));
  for (dialects::Given& own : dialects::defaults_of(dialect, {given, scanned.meeting, around.environment})) {
    out.push_back({find_row(own.option), name, std::move(own.value), Layer::Dialect, name});
  }
  out.insert(out.end(), scanned.of_variables.begin(), scanned.of_variables.end());
  return out;
}

Result<std::vector<dialects::OfVariable>> read_horovod_config(const std::string& path, const Surroundings& around) {
  if (path.empty() || !around.read_file) return std::vector<dialects::OfVariable>();
  const Result<std::string> text = around.read_file(path, plan::kMaxSettingsBytes);
  if (text) return dialects::options_of_horovod_config(*text, path);
  return Error(ErrorKind::Config, fmt::format("--config-file {}: {}", show(path), text.error().message()));
}

// What that launcher's own variables and file say, as far as the command line says nothing.
Result<void> add_dialect_variables(Dialect dialect, const Surroundings& around, Scan& scanned) {
  Scan variables;
  Result<std::vector<dialects::OfVariable>> others = read_horovod_config(scanned.config_file, around);
  if (!others) return others.error();
  for (dialects::OfVariable& option : dialects::options_of_variables(dialect, around.environment)) {
    others->push_back(std::move(option));
  }
  for (const auto& [variable, written] : *others) {
    const std::size_t known = variables.options.size();
    const std::size_t refused = variables.meeting.refused.size();
    std::span<const std::string> words(written);
    if (Result<bool> taken = take_foreign(dialect, words, variables); !taken) return Error(taken.error()).in(variable);
    for (std::size_t i = known; i < variables.options.size(); ++i) {
      variables.options[i].spelling = fmt::format("{}: {}", variable, variables.options[i].spelling);
      variables.options[i].layer = Layer::Dialect;
      variables.options[i].where = variable;
    }
    for (std::size_t i = refused; i < variables.meeting.refused.size(); ++i) {
      variables.meeting.refused[i] = fmt::format("{}: {}", variable, variables.meeting.refused[i]);
    }
  }
  scanned.of_variables = std::move(variables.options);
  dialects::merge(variables.meeting, scanned.meeting);
  scanned.meeting = std::move(variables.meeting);
  if (scanned.program_is == dialects::Program::Unchanged) scanned.program_is = variables.program_is;
  return {};
}

struct Given {
  std::vector<Occurrence> options;  // of all layers
  std::vector<std::string> warnings;
};

Result<Given> gather(Dialect dialect, const Scan& scanned, const Surroundings& around) {
  Result<EnvironmentLayer> environment = options_of_environment(around.environment);
  if (!environment) return environment.error();
  std::vector<Occurrence> file;
  const Occurrence* named = last_of(scanned.options, "--config");
  if (named == nullptr) named = last_of(environment->options, "--config");
  if (named != nullptr && around.read_file) {
    Result<std::vector<Occurrence>> read = read_config(*named, around);
    if (!read) return read.error();
    file = std::move(*read);
  }
  const std::array<std::vector<Occurrence>, 4> layers{dialect_layer(dialect, scanned, around), std::move(file),
                                                      std::move(environment->options), scanned.options};
  return Given{merge_layers(layers), std::move(environment->warnings)};
}

// Our --nnodes for a program that is started once means the hosts of the job, as other launchers' options do, and not
// that each of them calls: 1 is this machine, and where hosts are named nothing says which of them this one is.
bool is_started_once(const std::vector<Occurrence>& given, dialects::HostsNamed named) {
  const Occurrence* count = last_of(given, "--nnodes");
  if (count == nullptr) return false;
  const bool calls = last_of(given, "--node-rank") != nullptr || last_of(given, "--head") != nullptr;
  return count->value == "1" || (named == dialects::HostsNamed::Yes && !calls);
}

void add_own(dialects::Meeting& meeting, const std::vector<Occurrence>& given) {
  for (const auto& [member, option] : {std::pair(&dialects::Meeting::hosts, string_view("--nnodes")),
                                       std::pair(&dialects::Meeting::place, string_view("--node-rank")),
                                       std::pair(&dialects::Meeting::address, string_view("--master-addr"))}) {
    const Occurrence* own = last_of(given, option);
    if (own != nullptr && !(meeting.*member)) meeting.*member = {own->spelling, own->value};
  }
}

// What other launchers' options tell of the hosts, now that all is known that could name them.
// What to do about a secret that is missing; empty: nothing, or an option says it.
std::string secret_advice(const std::vector<Occurrence>& given, const Surroundings& around) {
  const bool said = last_of(given, "--secret-file") != nullptr || last_of(given, "--insecure-job-key") != nullptr;
  return said || !around.secret_advice ? std::string() : std::string(around.secret_advice());
}

Result<void> settle_hosts(Scan& scanned, std::vector<Occurrence>& given, const Surroundings& around) {
  const auto is_named = [&](string_view option) { return last_of(given, option) != nullptr; };
  const bool any_named = is_named("--hosts") || is_named("--hostfile") || is_named("--resource-config");
  const auto named = any_named ? dialects::HostsNamed::Yes : dialects::HostsNamed::No;
  if (!any_named && !scanned.needs_hosts.empty()) return Error(ErrorKind::Usage, scanned.needs_hosts.front());
  for (Occurrence& o : given) {
    if (main_spelling(*o.row) != "--nnodes") continue;
    Result<std::string> count = dialects::fixed_count(o.value);
    if (!count) return Error(count.error()).in(o.spelling);
    o.value = std::move(*count);
  }
  dialects::Meeting& meeting = scanned.meeting;
  if (meeting == dialects::Meeting() && !is_started_once(given, named)) return {};
  add_own(meeting, given);
  Result<dialects::Settled> settled = dialects::settle(meeting, {named, secret_advice(given, around)});
  if (!settled) return settled.error();
  // What settles them takes the place of ours, but not of a source that the user has named.
  std::erase_if(given, [](const Occurrence& o) {
    const string_view name = main_spelling(*o.row);
    return name == "--nnodes" || name == "--node-rank";
  });
  const Occurrence* source = last_of(given, "--host-source");
  const bool source_named = source != nullptr && source->layer != Layer::Dialect;
  const bool timed = last_of(given, "--start-timeout") != nullptr;
  for (dialects::Given& option : settled->options) {
    if (option.option == "--host-source" && source_named) continue;
    if (option.option == "--start-timeout" && timed) continue;
    given.push_back({find_row(option.option), option.option, std::move(option.value), Layer::CommandLine, ""});
  }
  for (std::string& note : settled->notes) add_note(scanned.notes, std::move(note));
  return {};
}

// ---- --explain

std::string unmasked_part(const Occurrence& o) {
  if (o.row->is_flag()) return o.value == kNo ? std::string(kNo) : "yes";
  const bool variable = main_spelling(*o.row) == "-x" && o.value.find('=') != std::string::npos;
  if (variable && plan::names_a_secret(plan::name_of(o.value)))
    return std::string(plan::name_of(o.value)) + "=(hidden)";
  return o.value;
}

report::ValueSource source_of(Layer layer) {
  switch (layer) {
    case Layer::Dialect: return report::ValueSource::Launcher;
    case Layer::File: return report::ValueSource::File;
    case Layer::Environment: return report::ValueSource::Environment;
    case Layer::CommandLine: return report::ValueSource::CommandLine;
  }
  return report::ValueSource::BuiltIn;
}

std::vector<report::ExplainedValue> explained(std::span<const Occurrence> given) {
  std::vector<report::ExplainedValue> out;
  for_each_row([&](const OptionRow& row) {
    if (row.set == nullptr) return;
    const std::string name(main_spelling(row));
    std::vector<report::ExplainedValue> values;
    for (const Occurrence& o : given) {
      if (o.row != &row) continue;
      if (row.repeat == Repeat::LastCounts) values.clear();
      values.push_back({name, unmasked_part(o), source_of(o.layer), o.where.empty() ? o.spelling : o.where});
    }
    if (values.empty()) {
      const string_view value = row.is_flag() ? kNo : row.built_in;
      values.push_back({name, std::string(value), report::ValueSource::BuiltIn, ""});
    }
    std::move(values.begin(), values.end(), std::back_inserter(out));
  });
  return out;
}

// ---- help

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kHelpColumn = 35;

// Words of `text` in lines that begin at kHelpColumn; the first line begins where `out` ends.
void append_wrapped(std::string& out, std::size_t column, string_view text) {
  if (column + 2 > kHelpColumn) {
    out += '\n';
    column = 0;
  }
  out.append(kHelpColumn - column, ' ');
  column = kHelpColumn;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const bool first = column == kHelpColumn;
    if (!first && column + 1 + end - at > kHelpWidth) {
      out += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  out += '\n';
}

std::string joined(std::span<const string_view> words) {
  std::string out;
  for (string_view word : words) out += (out.empty() ? "" : " ") + std::string(word);
  return out;
}

// "  -p, --ssh-port PORT  What it does. Also OTHER SPELLINGS."
void append_row(std::string& out, const OptionRow& row) {
  constexpr std::size_t kLongestShort = 3;
  const std::vector<string_view> spellings = spellings_of(row);
  std::span<const string_view> aliases(spellings.begin() + 1, spellings.end());
  std::string head = spellings.front().starts_with("--") ? "       " : "   ";
  if (!aliases.empty() && aliases.front().size() <= kLongestShort) {
    head = fmt::format("{:>5}, ", aliases.front());
    aliases = aliases.subspan(1);
  }
  head += spellings.front();
  if (!row.value.empty()) head += fmt::format(" {}", row.value);
  out += head;
  append_wrapped(out, head.size(),
                 aliases.empty() ? std::string(row.help) : fmt::format("{} Also {}.", row.help, joined(aliases)));
}

std::string help_text() {
  std::string out =
      "Usage: sml-run [options] [--] PROGRAM [ARGS...]\n"
      "       sml-run [options] PROGRAM [ARGS...] : [options] PROGRAM [ARGS...] ...\n"
      "       sml-run [options] train [options] [-- PROGRAM [ARGS...]]\n\n"
      "Starts one job of many workers, here and over SSH on other hosts: tells every worker its rank,\n"
      "merges their output, and when one fails stops all of them and leaves with its exit status.\n"
      "The first word that is no option is the program; everything after it is the program's.\n"
      "train runs the program of a SageMaker training job, as the entry point of its container.\n";
  for (const OptionGroup& group : option_groups()) {
    out += fmt::format("\n{}:\n", group.title);
    for (const OptionRow& row : group.rows) append_row(out, row);
  }
  out +=
      "\nExamples:\n"
      "  Four workers on this machine:\n"
      "    sml-run -np 4 python3 train.py\n"
      "  Eight workers on each of two hosts, one variable passed to all of them:\n"
      "    sml-run -H node-[1-2]:8 -x WANDB_MODE python3 train.py\n"
      "  See what would run where; in a SageMaker job the hosts are those of the job:\n"
      "    sml-run --dry-run --nproc-per-node 2 python3 train.py\n";
  return out;
}

}  // namespace

namespace {

bool in_path(string_view program, const Surroundings& around) {
  const std::string* path = plan::find_variable(around.environment, "PATH");
  const string_view folders = path == nullptr ? "" : plan::value_of(*path);
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    if (around.exists(fmt::format("{}/{}", folders.substr(at, end - at), program))) return true;
    at = end + 1;
  }
  return false;
}

// What runs scripts and modules.
std::string python(const Surroundings& around) {
  const std::string* named = plan::find_variable(around.environment, "PYTHON_EXEC");
  if (named != nullptr && !plan::value_of(*named).empty()) return std::string(plan::value_of(*named));
  return around.exists && !in_path("python", around) && in_path("python3", around) ? "python3" : "python";
}

// As torchrun's users write it: a file of this folder that nothing else could start.
bool is_script(std::span<const std::string> program, const Surroundings& around) {
  if (program.empty() || !program.front().ends_with(".py") || !around.exists || !around.executable) return false;
  const std::string& word = program.front();
  const bool of_path = word.find('/') == std::string::npos && in_path(word, around);
  return around.exists(word) && !around.executable(word) && !of_path;
}

dialects::Program kind_of_program(Dialect dialect, const Scan& scanned, const Surroundings& around) {
  const bool told = dialect != Dialect::Own || scanned.program_is != dialects::Program::Unchanged;
  return !told && is_script(scanned.program, around) ? dialects::Program::Script : scanned.program_is;
}

// Open MPI and Slurm look for a program in the working directory too, behind PATH.
bool is_here_only(Dialect dialect, const std::vector<std::string>& program, const Surroundings& around) {
  const bool looks = dialect == Dialect::Mpirun || dialect == Dialect::Srun;
  if (!looks || program.empty() || !around.exists || !around.executable) return false;
  const std::string& word = program.front();
  return word.find('/') == std::string::npos && around.exists(word) && around.executable(word) &&
         !in_path(word, around);
}

// The program of `scanned`; what horovodrun takes for variables becomes options.
std::vector<std::string> take_command(Dialect dialect, Scan& scanned, const Surroundings& around) {
  dialects::Command command =
      dialects::command_of(dialect, kind_of_program(dialect, scanned, around), scanned.program, python(around));
  for (dialects::Given& variable : command.variables) {
    std::string spelling = std::string(plan::name_of(variable.value)) + "=";
    scanned.options.push_back({find_row(variable.option), std::move(spelling), std::move(variable.value)});
  }
  if (is_here_only(dialect, command.words, around)) command.words.front().insert(0, "./");
  return std::move(command.words);
}

Error no_program(std::size_t number) {
  return Error(ErrorKind::Usage, fmt::format("program {} is missing; \":\" stands between two programs, as in sml-run "
                                             "-np 1 A : -np 4 B, and after -- it is the program's own",
                                             number));
}

Result<void> check_command(const std::vector<std::string>& command) {
  if (!command.empty() && !command.front().empty()) return {};
  if (!command.empty()) return Error(ErrorKind::Usage, "the program's name is empty; give one after the options");
  return Error(ErrorKind::Usage,
               "no program to start; give one after the options, as in sml-run -np 2 python3 train.py");
}

// The programs after the first ":".
Result<void> add_programs(Dialect dialect, std::span<const std::string> words, const Surroundings& around,
                          Options& options) {
  for (bool more = true; more;) {
    const std::size_t number = options.more_programs.size() + 2;
    const auto refused = [number](const Error& error) { return Error(error).in(fmt::format("program {}", number)); };
    Result<Scan> scanned = scan_further(dialect, words);
    if (!scanned) return refused(scanned.error());
    if (scanned->program.empty()) return no_program(number);
    std::vector<std::string> command = take_command(dialect, *scanned, around);
    Result<Options> parsed = Parser(scanned->options).parse();
    if (!parsed) return refused(parsed.error());
    parsed->command = std::move(command);
    if (Result<void> checked = check_command(parsed->command); !checked) return refused(checked.error());
    options.more_programs.push_back(static_cast<const ProgramOptions&>(*parsed));
    std::move(scanned->notes.begin(), scanned->notes.end(), std::back_inserter(options.without_effect));
    more = scanned->another_follows;
  }
  return {};
}

}  // namespace

Result<ProgramOptions> parse_program(std::span<const std::string> words) {
  const Result<Scan> scanned = scan_further(Dialect::Own, words);
  if (!scanned) return scanned.error();
  if (scanned->another_follows) return Error(ErrorKind::Usage, "a line names one program; \":\" begins another");
  Result<Options> parsed = Parser(scanned->options).parse();
  if (!parsed) return parsed.error();
  parsed->command.assign(scanned->program.begin(), scanned->program.end());
  if (Result<void> checked = check_command(parsed->command); !checked) return checked.error();
  return static_cast<const ProgramOptions&>(*parsed);
}

namespace {

// What is printed instead of a job.
std::optional<Printed> printed_instead(const Options& options, std::span<const Occurrence> given) {
  if (options.completion) return Printed{completion_script(*options.completion)};
  if (options.explain == Explain::No) return std::nullopt;
  const std::vector<report::ExplainedValue> values = explained(given);
  const bool json = options.format == PlanFormat::Json;
  return Printed{json ? report::explain_json(values) + "\n" : report::explain_table(values)};
}

// The programs behind the first, and whether all is there that must be.
Result<void> complete_programs(Dialect dialect, const Scan& scanned, std::span<const std::string> words,
                               const Surroundings& around, Options& options) {
  if (options.mode == Mode::Train && !options.app_file.empty()) {
    return Error(ErrorKind::Usage, "train: the job has one program; --app names several");
  }
  const bool needs_none = options.mode == Mode::Train || (options.check == Preflight::Yes && !scanned.another_follows);
  if (needs_none && options.command.empty()) return {};
  const bool of_file = !options.app_file.empty();
  if (of_file && (!options.command.empty() || scanned.another_follows || options.np)) {
    return Error(ErrorKind::Usage, fmt::format("--app {} names the programs, with -np for each; give none of them on "
                                               "the command line",
                                               show(options.app_file)));
  }
  if (of_file) return {};
  if (options.command.empty() && scanned.another_follows) return no_program(1);
  if (Result<void> checked = check_command(options.command); !checked) return checked;
  return scanned.another_follows ? add_programs(dialect, words, around, options) : Result<void>();
}

}  // namespace

Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments,
                                                          const Surroundings& around) {
  using Parsed = std::variant<Options, Printed>;
  const Dialect dialect = dialects::dialect_called(around.called);
  const std::vector<std::string> single = dialects::without_groups(dialect, arguments);
  std::span<const std::string> words = single;
  Result<Scan> scanned = scan(dialect, words);
  if (!scanned) return scanned.error();
  if (!scanned->options.empty() && scanned->options.back().row->set == nullptr) {
    const bool version = main_spelling(*scanned->options.back().row) == "--version";
    return Parsed(Printed{version ? "sml-run " SML_VERSION "\n" : help_text()});
  }
  if (Result<void> added = add_dialect_variables(dialect, around, *scanned); !added) return added.error();
  for (std::string& idle : dialects::idle_options(dialect, given_to(*scanned))) {
    add_note(scanned->notes, std::move(idle));
  }
  std::vector<std::string> command = take_command(dialect, *scanned, around);
  Result<Given> given = gather(dialect, *scanned, around);
  if (!given) return given.error();
  if (Result<void> settled = settle_hosts(*scanned, given->options, around); !settled) return settled.error();
  const std::vector<Occurrence> counting = without_idle(without_refused_flags(given->options));
  Result<Options> options = Parser(counting).parse();
  if (!options) return options.error();
  if (Result<void> met = check_needs(counting); !met) return met.error();
  const Occurrence* count = last_of(counting, "--nproc-per-node");
  if (count != nullptr && count->layer == Layer::CommandLine) options->slots_hold = SlotsHold::OnEveryHost;
  if (options->dial_in.make_secret == MakeSecret::Yes) return Parsed(std::move(*options));
  if (std::optional<Printed> printed = printed_instead(*options, given->options)) return Parsed(std::move(*printed));
  options->mode = scanned->mode;
  if (dialect == Dialect::Mpirun || dialect == Dialect::Hydra) options->lone_mpi = LoneMpi::Refused;
  options->command = std::move(command);
  options->warnings = std::move(given->warnings);
  options->without_effect = std::move(scanned->notes);
  if (Result<void> whole = complete_programs(dialect, *scanned, words, around, *options); !whole) return whole.error();
  return Parsed(std::move(*options));
}

std::vector<std::string> long_options() {
  std::vector<std::string> out;
  for_each_row([&](const OptionRow& row) {
    const string_view name = main_spelling(row);
    if (name.starts_with("--")) out.emplace_back(without_dashes(name));
  });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace sml
