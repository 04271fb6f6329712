#include "launcher/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "launcher/option_values.h"

namespace sml {

namespace {

using std::string_view;

// ---- the table: everything that is known about an option

struct OptionRow {
  string_view spellings;  // the documented form first
  string_view value;      // empty: the option takes none
  SetOption set;          // null: --help and --version
  string_view help;
};

struct OptionGroup {
  string_view title;
  std::vector<OptionRow> rows;
};

// What runs where, and until when.
std::vector<OptionGroup> options_of_the_job() {
  return {
      {"Workers",
       {{"--np -np -n -c --num-proc --n", "N", set_np, "Number of workers; default: one for every slot."},
        {"--nproc-per-node -N -ppn --npernode --nproc_per_node --slots-per-host", "N|auto|gpu|cpu", set_nproc_per_node,
         "Slots of each host whose slots are not named: a number, or the GPUs or CPUs of this machine. The default, "
         "auto, is the GPUs, else the Neuron cores, else 1."},
        {"--oversubscribe -oversubscribe", "", set_oversubscribe,
         "Allow more workers than slots; the rest is dealt evenly."},
        {"--wdir -wd -wdir --chdir", "DIR", set_working_directory,
         "Working directory on every host; default: the one in which sml-run is started."}}},
      {"Hosts",
       {{"--hosts -H -host --host", "LIST", set_hosts,
         "[USER@]HOST[:SLOTS],... or [USER@]HOST:PORT/SLOTS, with ranges such as algo-[1-4]:8; an IPv6 address stands "
         "in "
         "brackets."},
        {"--hostfile -f -hostfile -machinefile --machinefile", "FILE", set_hostfile,
         "Read the hosts from FILE, one a line: HOST slots=N, HOST:N, or HOST again for each slot."},
        {"--resource-config", "FILE", set_resource_config,
         "Read the hosts from this resourceconfig.json. Without any of these they come from SageMaker's own file or "
         "from "
         "the batch system when there is one; else the job runs on this machine."},
        {"--group", "NAME[:SLOTS],...", set_group,
         "Of the hosts of resourceconfig.json use those of these instance groups only."},
        {"--include", "FILTER", set_include,
         "Use these hosts only, or these slots of them, as DeepSpeed does: HOST[:SLOT,...][@HOST...]."},
        {"--exclude", "FILTER", set_exclude, "Leave these hosts out, or these slots of them."},
        {"--host-order", "given|natural", set_host_order,
         "Give ranks to the hosts in the order of their source, or by name with algo-2 before algo-10. Default: "
         "given."},
        {"--host-source", "NAME", set_host_source,
         "Take the hosts from there and nowhere else: hosts, hostfile, resource-config, sagemaker, slurm, pbs, lsf, "
         "sge, "
         "flux, oar, cobalt, aws-batch, pytorchjob, kubernetes, mpi, rankfile or local."}}},
      {"Environment of the workers",
       {{"-x", "NAME[=VALUE]", add_export_word,
         "Set a variable, or pass the one that sml-run has; 'PREFIX_*' passes all that begin so. Repeatable."},
        {"--env-file", "FILE", add_env_file,
         "Set the variables of a file, one NAME=VALUE a line. Repeatable; -x wins over it."},
        {"--export", "all|none", set_export,
         "What workers on other hosts inherit from sml-run: everything but what belongs to this host or log-in, or "
         "nothing. Default: all."}}},
      {"Rendezvous of the workers",
       {{"--master-addr --master_addr", "ADDRESS", set_master_address,
         "Numeric address of rank 0's host at which the workers meet; default: the first that every host can reach."},
        {"--interface --network-interface --network-interfaces -iface", "LIST", set_interface,
         "Interfaces that the workers use on each host, by name or network: eth0,10.0.0.0/8. They meet at the first "
         "that rank 0's host has. Default: by the routes between the hosts."},
        {"--preset", "NAME,...", set_preset,
         "Set the variables of these frameworks too: tf, jax, deepspeed, dmlc, accelerate, slurm. torch, Horovod and "
         "programs that read Open MPI's variables need none."},
        {"--no-torch-store", "", set_no_torch_store,
         "Leave MASTER_PORT to the program: rank 0 opens torch's store, instead of finding it there."},
        {"--join-warn", "D", set_join_warn,
         "Name the workers that have not joined the process group so long after the first; 0: never. Default: 60s."}}},
      {"Supervision",
       {{"--on-failure", "abort|continue", set_on_failure,
         "What to do when a worker fails: stop all others, or let them finish. Default: abort."},
        {"--forward-signals", "none|LIST", set_forward_signals,
         "Signals to sml-run that are passed on to every worker and stop nothing; default: USR1,USR2,WINCH."},
        {"--stdin -stdin", "none|all|RANK", set_stdin, "Which workers get the input of sml-run; default: rank 0."},
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
             "Repeatable."},
            {"--log-dir", "DIR", set_log_dir,
             "Write what each rank prints to files of its own, byte for byte: DIR/rank.R/stdout and stderr."},
            {"--log-layout", "TEMPLATE", set_log_layout,
             "Name the files of --log-dir otherwise, with {rank}, {local_rank}, {host}, {stream} and {job}; default: "
             "rank.{rank}/{stream}."},
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
          {{"--map-by -map-by", "slot|host|ppr:N:host", set_map_by,
            "Fill the slots host after host, which is the default, give each host one worker in turn, or start N on "
            "each host. \":oversubscribe\" may follow; node is host."},
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
      {{"--bind-to -bind-to", "none|core|l3|numa|socket", set_bind_to,
        "Let each worker run on cores of its own only, or on the L3 cache, NUMA node or socket to which the workers "
        "are spread. Default: none."},
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
        "Take a line of this file, with commas between its fields: that of the array index of AWS Batch, Slurm, PBS, "
        "Grid Engine, LSF or Kubernetes. {array_index} and {NAME} stand for it in the program's arguments."},
       {"--array-vars", "NAME,...", set_array_vars, "Names of the fields; workers get them as variables."},
       {"--array-index", "I", set_array_index, "Take the line of this index instead of the batch system's."},
       {"--array-base", "0|1", set_array_base,
        "Index of the file's first line; default: 0, and 1 for Grid Engine and LSF."},
       {"--array-all", "", set_array_all, "Run all lines on this machine, one after the other or --jobs at a time."},
       {"--jobs", "K", set_array_jobs, "How many of --array-all run at the same time; default 1."}}};
}

OptionGroup options_of_sagemaker() {
  return {"SageMaker",
          {{"--hp-style", "toolkit|v3", set_hp_style,
            "How train makes arguments of hyperparameters: as the training toolkit does, which is the default, or as "
            "version 3 of the Python SDK."},
           {"--no-install", "", set_no_install, "Install neither requirements.txt nor the package of the sources."},
           {"--failure-file", "FILE", set_failure_file,
            "Leave the reason of a failure in FILE, unless somebody has written to it; default: SageMaker's own."},
           {"--no-failure-file", "", set_no_failure_file, "Leave no such file."}}};
}

// How it is done, and what is said.
std::vector<OptionGroup> options_of_the_launcher() {
  return {
      {"Time limits (D is 90, 90s, 1.5m, 2h or 250ms)",
       {{"--grace", "D", set_grace, "Time between TERM and KILL when the job is stopped; default 10s."},
        {"--timeout", "D", set_timeout, "Stop the job, with status 124, when its workers have run so long."},
        {"--start-timeout", "D", set_start_timeout, "Give up when not all hosts are ready by then; default 60s."},
        {"--heartbeat-timeout", "D", set_heartbeat_timeout, "A host silent for so long is lost; default 30s."},
        {"--connect-timeout", "D", set_connect_timeout,
         "Limit for each host's connection, and again for its log-in; default 15s."}}},
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
        {"--fanout", "N", set_fanout, "Log-ins under way at the same time; default 64."},
        {"--agent-path", "FILE", set_agent_path, "Send this sml-run-agent instead of the one built in."}}},
      {"Output of the workers",
       {{"--tag", "TEMPLATE", set_tag,
         "Put this before each line of a worker, with {rank}, {local_rank}, {host}, {stream} and {time}; {rank:4} has "
         "at "
         "least four digits, {rank:0} as many as the largest rank. Default: \"[{rank}] \" for more than one worker."},
        {"--tag-output -tag-output", "", set_tag_output, "The same as --tag '[1,{rank}]<{stream}>:', Open MPI's."},
        {"--prepend-rank -prepend-rank -l", "", set_prepend_rank, "The same as --tag '[{rank}] ', for one worker too."},
        {"--no-tag", "", set_no_tag, "Put nothing before the lines of workers."},
        {"--color", "auto|always|never", set_color,
         "Colour the tags, one colour for each rank; default: auto, on a terminal unless NO_COLOR is set."},
        {"--show-ranks", "LIST", set_show_ranks, "Print the output of these ranks only, such as 0,8-15."},
        {"--quiet-workers", "", set_quiet_workers, "Print no output of workers."},
        {"--dedup", "", set_dedup,
         "Print lines that workers have in common once, with all their ranks in the tag; lines wait half a second for "
         "their like."},
        {"--collapse-cr", "", set_collapse_cr,
         "Of progress bars print only the last state of each second, unless the output is a terminal."},
        {"--sanitize", "auto|always|never", set_sanitize,
         "Show control characters of workers, all but colours, as \\xNN instead of passing them on: when the output "
         "goes to a terminal, always, or never. Default: auto."},
        {"--keep-going-without-output", "", set_keep_going_without_output,
         "Go on, and drop the output, when nobody reads it any more. Without this the job ends with status 141."}}},
      {"Information",
       {{"--dry-run --plan", "", set_dry_run, "Print which rank would run where; start and connect to nothing."},
        {"--show-env", "RANK", set_show_env, "With --dry-run: print the variables that are set for this rank instead."},
        {"--format", "text|json", set_format, "Format of --dry-run; default text."},
        {"--verbose -v", "", set_verbose, "Say what is being done."},
        {"--quiet -q", "", set_quiet, "Say nothing but errors."},
        {"--version", "", nullptr, "Print the version and leave."},
        {"--help -h", "", nullptr, "Print this text and leave."}}}};
}

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups = [] {
    std::vector<OptionGroup> all = options_of_the_job();
    all.push_back(options_of_the_progress());
    all.push_back(options_of_programs());
    all.push_back(options_of_placement());
    all.push_back(options_of_shares());
    all.push_back(options_of_arrays());
    for (OptionGroup& group : options_of_the_records()) all.push_back(std::move(group));
    all.push_back(options_of_sagemaker());
    for (OptionGroup& group : options_of_the_launcher()) all.push_back(std::move(group));
    return all;
  }();
  return groups;
}

template <class Visit>
void for_each_row(Visit visit) {
  for (const OptionGroup& group : option_groups()) {
    for (const OptionRow& row : group.rows) visit(row);
  }
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

struct Occurrence {
  const OptionRow* row;
  std::string spelling;  // as the user wrote it
  std::string value;
};

struct Scan {
  std::vector<Occurrence> options;
  Mode mode = Mode::Program;
  std::span<const std::string> program;
  bool another_follows = false;  // a ":" stood after the program
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

// Takes one option off the front of `words`, with its value.
Result<Occurrence> take_option(std::span<const std::string>& words) {
  const Word word = cut_word(words.front());
  words = words.subspan(1);
  if (word.row == nullptr) return unknown_option(word.spelling);
  Occurrence out{word.row, std::string(word.spelling), ""};
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
Result<After> take_options(std::span<const std::string>& words, Scan& out) {
  while (!words.empty() && is_option(words.front())) {
    if (words.front() == "--") {
      words = words.subspan(1);
      return After::Program;
    }
    Result<Occurrence> option = take_option(words);
    if (!option) return option.error();
    out.options.push_back(std::move(*option));
    if (out.options.back().row->set == nullptr) return After::Program;  // --help, --version: nothing after it counts
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

Result<Scan> scan(std::span<const std::string>& words) {
  Scan out;
  Result<After> after = take_options(words, out);
  if (!after) return after.error();
  if (*after == After::Anything) {
    const Result<Mode> mode = take_mode(words);
    if (!mode) return mode.error();
    out.mode = *mode;
    if (*mode == Mode::Train) after = take_options(words, out);
    if (!after) return after.error();
  }
  if (Result<void> taken = take_program(words, *after, out); !taken) return taken.error();
  if (out.mode == Mode::Train && out.another_follows) {
    return Error(ErrorKind::Usage, "train: the job has one program; \":\" begins another");
  }
  return out;
}

// A program after a ":", with the options that it may have of its own.
Result<Scan> scan_further(std::span<const std::string>& words) {
  constexpr SetOption kOfPrograms[] = {set_np,   set_hosts, set_working_directory, add_export_word, add_env_file,
                                       set_role, set_helper};
  Scan out;
  const Result<After> after = take_options(words, out);
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
  explicit Parser(const Scan& scanned) : scanned_(scanned) {
    app_.set_help_flag();
    for_each_row([this](const OptionRow& row) { add(row); });
    for (const char* name : {"--format", "--show-env"}) app_.get_option(name)->needs(app_.get_option("--dry-run"));
    app_.get_option("--array-file")->needs(app_.get_option("--array-vars"));
    for (const char* name : {"--array-vars", "--array-index", "--array-base", "--array-all"}) {
      app_.get_option(name)->needs(app_.get_option("--array-file"));
    }
    app_.get_option("--jobs")->needs(app_.get_option("--array-all"));
    for (const char* name : {"--log-layout", "--log-on-host"})
      app_.get_option(name)->needs(app_.get_option("--log-dir"));
  }

  Result<Options> parse() {
    std::vector<std::string> words;
    for (const Occurrence& o : scanned_.options) {
      words.push_back(parser_name(*o.row) + (o.row->value.empty() ? "" : "=" + o.value));
    }
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      return Error(ErrorKind::Usage, error.what());
    }
    const auto forward =
        app_.get_option("--forward-signals")->count() > 0 ? ForwardSignals::Given : ForwardSignals::Default;
    if (Result<void> settled = settle_status_signal(options_, forward); !settled) return settled.error();
    options_.mode = scanned_.mode;
    options_.command.assign(scanned_.program.begin(), scanned_.program.end());
    return std::move(options_);
  }

 private:
  void add(const OptionRow& row) {
    // Called at each occurrence in its order, so that the last value wins and repeated options add up.
    const auto set = [this](const std::string& value) { set_next(value); };
    if (row.value.empty()) {
      app_.add_flag_callback(parser_name(row), [set] { set(""); })->trigger_on_parse();
    } else {
      app_.add_option_function<std::string>(parser_name(row), set)->trigger_on_parse();
    }
  }
  void set_next(string_view value) {
    const Occurrence& occurrence = scanned_.options.at(next_++);
    const Result<void> done = occurrence.row->set(options_, value);
    if (!done) throw CLI::ValidationError(occurrence.spelling + ": " + done.error().message());
  }

  const Scan& scanned_;
  std::size_t next_ = 0;
  Options options_;
  CLI::App app_;
};

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
Result<void> add_programs(std::span<const std::string> words, Options& options) {
  for (bool more = true; more;) {
    const std::size_t number = options.more_programs.size() + 2;
    const auto refused = [number](const Error& error) { return Error(error).in(fmt::format("program {}", number)); };
    const Result<Scan> scanned = scan_further(words);
    if (!scanned) return refused(scanned.error());
    if (scanned->program.empty()) return no_program(number);
    const Result<Options> parsed = Parser(*scanned).parse();
    if (!parsed) return refused(parsed.error());
    if (Result<void> checked = check_command(parsed->command); !checked) return refused(checked.error());
    options.more_programs.push_back(static_cast<const ProgramOptions&>(*parsed));
    more = scanned->another_follows;
  }
  return {};
}

}  // namespace

Result<ProgramOptions> parse_program(std::span<const std::string> words) {
  const Result<Scan> scanned = scan_further(words);
  if (!scanned) return scanned.error();
  if (scanned->another_follows) return Error(ErrorKind::Usage, "a line names one program; \":\" begins another");
  const Result<Options> parsed = Parser(*scanned).parse();
  if (!parsed) return parsed.error();
  if (Result<void> checked = check_command(parsed->command); !checked) return checked.error();
  return static_cast<const ProgramOptions&>(*parsed);
}

Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments) {
  using Parsed = std::variant<Options, Printed>;
  std::span<const std::string> words = arguments;
  const Result<Scan> scanned = scan(words);
  if (!scanned) return scanned.error();
  if (!scanned->options.empty() && scanned->options.back().row->set == nullptr) {
    const bool version = main_spelling(*scanned->options.back().row) == "--version";
    return Parsed(Printed{version ? "sml-run " SML_VERSION "\n" : help_text()});
  }
  Result<Options> options = Parser(*scanned).parse();
  if (!options) return options.error();
  if (options->mode == Mode::Train && !options->app_file.empty()) {
    return Error(ErrorKind::Usage, "train: the job has one program; --app names several");
  }
  if (options->mode == Mode::Train && options->command.empty()) return Parsed(std::move(*options));
  const bool of_file = !options->app_file.empty();
  if (of_file && (!options->command.empty() || scanned->another_follows || options->np)) {
    return Error(ErrorKind::Usage, fmt::format("--app {} names the programs, with -np for each; give none of them on "
                                               "the command line",
                                               show(options->app_file)));
  }
  if (of_file) return Parsed(std::move(*options));
  if (options->command.empty() && scanned->another_follows) return no_program(1);
  if (Result<void> checked = check_command(options->command); !checked) return checked.error();
  if (scanned->another_follows) {
    if (Result<void> added = add_programs(words, *options); !added) return added.error();
  }
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
