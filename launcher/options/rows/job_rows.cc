#include "launcher/options/rows/option_rows.h"

#include <utility>

#include "common/core/interfaces.h"
#include "common/plan/environment/presets.h"
#include "common/plan/machine/host.h"
#include "common/plan/program/preload.h"
#include "launcher/options/values/value_binders.h"
#include "launcher/plan/env_file.h"

namespace sml {

using std::string_view;

namespace {

constexpr string_view kAllSlots = "; leave it out to use every slot";
constexpr TextRule kMasterAddress{
    is_numeric_address, "the numeric address of rank 0's host, such as 10.0.0.1; leave it out and sml-run finds one"};
constexpr TextRule kPmixLibrary{[](string_view text) { return text.starts_with('/'); },
                                "the path of a libpmix.so.2 from / on"};
constexpr TextRule kRole{[](string_view text) { return plan::valid_variable_name(text) && text.size() <= 64; },
                         "a name of letters, digits, _, - and . that begins with a letter"};
constexpr TextRule kRunId{[](string_view text) { return text.size() <= 128 && text.find('\0') == string_view::npos; },
                          "a name of at most 128 characters"};
constexpr TextRule kTimelineFile{[](string_view text) { return text.ends_with(".html") || text.ends_with(".json"); },
                                 "a file that ends in .html, for a browser, or .json, for Perfetto"};
constexpr Choice<HostOrder> kHostOrders[] = {{"given", HostOrder::Given}, {"natural", HostOrder::Natural}};
constexpr Choice<plan::ExportPolicy> kExportPolicies[] = {{"all", plan::ExportPolicy::All},
                                                          {"none", plan::ExportPolicy::None}};
constexpr Choice<OnFailure> kOnFailure[] = {{"abort", OnFailure::Abort}, {"continue", OnFailure::Continue}};
constexpr Choice<SignalTarget> kSignalTargets[] = {{"worker", SignalTarget::Worker}, {"group", SignalTarget::Group}};
constexpr Choice<Elastic> kElastic[] = {{"horovod", Elastic::Horovod}};

}  // namespace

OptionGroup options_of_workers() {
  return {
      "Workers",
      "workers",
      {of_program({"--np -np -n -c --num-proc --n", "N",
                   advised_number<kAllSlots, 1, plan::kMaxWorldSize, &Options::np>,
                   "Number of workers; default: one for every slot."}),
       {"--nproc-per-node -N -ppn --npernode --nproc_per_node --slots-per-host", "N|auto|gpu|cpu|gpu-or-cpu|core",
        set_nproc_per_node,
        "Slots of each host, whatever a list has: a number, or the GPUs, CPUs or cores of this machine. The default, "
        "auto, is what the list has, else the GPUs, else the Neuron cores, else 1.",
        "auto"},
       {"--oversubscribe -oversubscribe", "",
        constant<plan::Oversubscribe::Yes, &Options::layout, &plan::RankLayout::oversubscribe>,
        "Allow more workers than slots; the rest is dealt evenly."},
       of_program(
           rare({"--local-rank-argument", "", constant<LocalRankArgument::Yes, &Options::local_rank_argument>,
                 "Give each worker --local_rank=N as the first argument of its script, as DeepSpeed's launcher and "
                 "torch.distributed.launch do."})),
       of_program({"--wdir -wd -wdir --chdir", "DIR", text<&Options::working_directory>,
                   "Working directory on every host; default: the one in which sml-run is started."})}};
}

OptionGroup options_of_hosts() {
  return {
      "Hosts",
      "hosts",
      {of_program({"--hosts -H -host --host", "LIST", text<&Options::hosts>,
                   "[USER@]HOST[:SLOTS],... or [USER@]HOST:PORT/SLOTS, with ranges such as algo-[1-4]:8; an IPv6 "
                   "address stands in brackets."}),
       {"--hostfile -f -hostfile -machinefile --machinefile", "FILE", text<&Options::hostfile>,
        "Read the hosts from FILE, one a line: HOST slots=N, HOST:N, or HOST again for each slot."},
       {"--resource-config", "FILE", text<&Options::resource_config>,
        "Read the hosts from this resourceconfig.json. Without any of these they come from SageMaker's own file or "
        "from the batch system when there is one; else the job runs on this machine."},
       {"--group", "NAME[:SLOTS],...", text<&Options::groups>,
        "Use the hosts of these instance groups of resourceconfig.json only."},
       {"--include", "FILTER", text<&Options::include_hosts>,
        "Use these hosts only, or these slots of them, as DeepSpeed does: HOST[:SLOT,...][@HOST...]."},
       {"--exclude", "FILTER", text<&Options::exclude_hosts>, "Leave these hosts out, or these slots of them."},
       {"--host-order", "given|natural", choice<kHostOrders, &Options::host_order>,
        "Give ranks to the hosts in the order of their source, or by name with algo-2 before algo-10. Default: given.",
        "given"},
       {"--host-count", "N", whole_number<1, plan::kMaxHosts, &Options::host_count>,
        "Use the first N of these hosts only; fewer are an error."},
       of_these("hosts discovery hostfile resource-config nnodes step sagemaker slurm pbs lsf sge flux oar aws-batch "
                "skypilot dstack lws volcano pytorchjob kubernetes mpi rankfile local",
                {"--host-source", "NAME", set_host_source,
                 "Take the hosts from there and nowhere else: hosts, discovery, hostfile, resource-config, nnodes, "
                 "step, sagemaker, slurm, pbs, lsf, sge, flux, oar, aws-batch, skypilot, dstack, lws, volcano, "
                 "pytorchjob, kubernetes, mpi, rankfile or local."})}};
}

OptionGroup options_of_worker_environment() {
  return {
      "Environment of the workers",
      "environment",
      {of_program({"-x", "NAME[=VALUE]", add_export_word,
                   "Set a variable, or pass the one that sml-run has; 'PREFIX_*' passes all that begin so. Repeatable.",
                   "", Repeat::AddsUp}),
       of_program({"--env-file", "FILE", text<&Options::env_files>,
                   "Set the variables of a file, one NAME=VALUE a line. Repeatable; -x wins over it.", "",
                   Repeat::AddsUp}),
       {"--export", "all|none", choice<kExportPolicies, &Options::export_policy>,
        "Give workers on other hosts the variables of sml-run, except those of this host or log-in, or give them "
        "none. Default: all. Secrets stay here, see --export-secrets. Workers on this machine inherit every variable.",
        "all"},
       {"--export-secrets", "", constant<plan::SecretExport::Sent, &Options::secrets>,
        "Let variables whose names look like those of secrets (*_TOKEN, *_API_KEY, ...) go to other hosts with the "
        "rest. Default: only those that -x or --env-file names."}}};
}

namespace {

OptionGroup options_of_the_rendezvous() {
  return {
      "Rendezvous of the workers",
      "rendezvous",
      {{"--master-addr --master_addr", "ADDRESS", valid_text<kMasterAddress, &Options::master_address>,
        "Numeric address of rank 0's host at which the workers meet; default: the first that every host can reach."},
       {"--interface --network-interface --network-interfaces -iface", "LIST",
        parsed<parse_interface_list, &Options::interfaces>,
        "Interfaces that the workers use on each host, by name or network: eth0,10.0.0.0/8. They meet at the first "
        "that rank 0's host has. Default: by the routes between the hosts."},
       of_these("tf jax deepspeed accelerate slurm hydra openmpi virtual-local-rank",
                {"--preset", "NAME,...", add_to<plan::parse_presets, &Options::presets>,
                 "Set the variables of these frameworks too: tf, jax, deepspeed, accelerate, slurm, hydra, "
                 "openmpi; or LOCAL_RANK=0: virtual-local-rank. torch, Horovod and programs that read Open MPI's "
                 "variables need none."}),
       {"--mpi", "auto|pmi1|pmi2|pmix|none", set_mpi,
        "How ranks of an MPI program find each other: by what its library supports, by one of these only, or not at "
        "all. Default: auto.",
        "auto"},
       rare({"--pmix", "FILE", valid_text<kPmixLibrary, &Options::pmix_library>,
             "The hosts' libpmix.so.2, which serves programs of Open MPI; default: the one that each host has for "
             "them."}),
       under_other_names({"--run-id", "ID", valid_text<kRunId, &Options::run_id>,
                          "Value of TORCHELASTIC_RUN_ID; default: an id of the job's own."}),
       {"--torch-store", "",
        both<constant<plan::TorchStore::OfAgent, &Options::torch_store>,
             constant<SetByUser::Yes, &Options::torch_store_set>>,
        "Serve torch's store at MASTER_PORT, for the job's hosts and user alone, also to a program that seems to name "
        "an address of its own (tcp://, MASTER_PORT); others are served without this option."},
       rare({"--no-torch-store", "",
             both<constant<plan::TorchStore::OfRank0, &Options::torch_store>,
                  constant<SetByUser::Yes, &Options::torch_store_set>>,
             "Leave MASTER_PORT to the program: rank 0 opens torch's store, as it does for a program that seems to "
             "name an address of its own."}),
       {"--join-warn", "D", time_span<0, &Options::join_warn>,
        "Warn about workers that have not joined the process group D after the first did; 0: never. Default: 60s.",
        "60s"}}};
}

OptionGroup options_of_supervision() {
  return {
      "Supervision",
      "supervision",
      {{"--on-failure", "abort|continue", choice<kOnFailure, &Options::on_failure>,
        "Stop all other workers when one fails, or let them finish. Default: abort.", "abort"},
       {"--forward-signals", "none|LIST", set_forward_signals,
        "Signals to sml-run that are passed on to every worker and stop nothing; default: USR1,USR2,WINCH.",
        "USR1,USR2,WINCH"},
       {"--stop-signal", "SIG", signal_among<kSignalsForWorkers, &Options::stop, &StopOptions::signal>,
        "End workers by this signal in the place of TERM, such as INT or USR1; KILL still comes after the grace.",
        "TERM"},
       {"--signal-target", "worker|group", choice<kSignalTargets, &Options::stop, &StopOptions::target>,
        "Send signals to the process of each worker alone, or to its process group, data loaders included; default: "
        "group. KILL is for all."},
       {"--checkpoint-signal", "SIG,D", set_checkpoint_signal,
        "Before workers are ended because another has failed, a host is lost, ranks hang or --timeout is over, send "
        "them SIG and give them up to D to save what they have and end."},
       {"--stdin -stdin", "none|all|RANK", set_stdin, "Workers that get the input of sml-run; default: rank 0.", "0"},
       {"--report", "FILE", valid_text<kFileName, &Options::report_file>,
        "Write how the job ended to FILE, as JSON; man sml-run-json has its keys."},
       rare({"--results", "FILE", valid_text<kFileName, &Options::results, &ResultOptions::file>,
             "Give each worker a descriptor (SML_RESULTS_FD) beside its output; what workers write there goes to FILE, "
             "as records of \"ATTEMPT RANK BYTES\", a line, and as many bytes."}),
       needing("--results",
               rare({"--results-limit", "SIZE", parsed<size_from<1>, &Options::results, &ResultOptions::limit>,
                     "Bytes that a rank may write there in an attempt (64K, 10M, 2G); more is dropped, with a warning. "
                     "Default: 64M.",
                     "64M"})),
       under_other_names(
           {"--error-file", "FILE", text<&Options::failure, &FailureOptions::json_path>,
            "Copy the TORCHELASTIC_ERROR_FILE of the worker that failed first to FILE, with its exit code, as "
            "torchrun does."})}};
}

}  // namespace

std::vector<OptionGroup> options_of_the_run() { return {options_of_the_rendezvous(), options_of_supervision()}; }

namespace {

// Options that choose the hosts of restarts.
std::vector<OptionRow> options_of_hosts_of_restarts() {
  return {
      needing("--max-restarts",
              {"--spares", "K", whole_number<0, plan::kMaxHosts, &Options::restart, &RestartOptions::spares>,
               "The last K hosts of the list have no workers: they are connected to and checked, and at a restart "
               "each takes the place of a host that has been lost, with its ranks. Default: 0.",
               "0"}),
      {"--health-check", "CMD", valid_text<kShellCommand, &Options::restart, &RestartOptions::health_check>,
       "Before each attempt run CMD, as for sh, on every host, spares too. Where it does not exit with 0 within 10 s, "
       "or memory or space is short, the job does without that host: a spare takes its place, or it goes on smaller "
       "where it may, or ends with 125."},
      needing(
          "--max-restarts",
          {"--exclude-after", "K[/D]",
           read_by<&ExcludeOptions::read_after, &Options::restart, &RestartOptions::exclude>,
           "Do without a host after K attempts whose root cause was there, within D: a spare takes its place, or the "
           "job goes on smaller where it may."}),
      needing("--exclude-after --exclude-file",
              {"--exclude-for", "D[:MAX]",
               read_by<&ExcludeOptions::read_cool_down, &Options::restart, &RestartOptions::exclude>,
               "Time for which --exclude-after leaves a host out, twice as long the "
               "next time, up to MAX; then it is a spare. Default: for good."}),
      {"--exclude-file", "FILE",
       valid_text<kFileName, &Options::restart, &RestartOptions::exclude, &ExcludeOptions::file>,
       "Do not use the hosts that FILE names, one a line; what --exclude-after excludes is added to it."},
      {"--min-hosts", "N",
       whole_number<1, plan::kMaxHosts, &Options::restart, &RestartOptions::least, &plan::LeastSize::hosts>,
       "When hosts are lost and no spare is left, go on with fewer hosts and ranks, down to N hosts."},
      {"--min-np --min-num-proc", "N",
       whole_number<1, plan::kMaxWorldSize, &Options::restart, &RestartOptions::least, &plan::LeastSize::ranks>,
       "The same, down to N ranks. If both are given, both hold."},
      needing(
          "--max-restarts",
          rare({"--elastic", "horovod", choice<kElastic, &Options::restart, &RestartOptions::elastic>,
                "Workers of hvd.elastic keep what they have committed in memory when others fail, or hosts come or go, "
                "and go on with those that are there, as --min-np or --min-hosts allows. Each time counts as a "
                "restart."}))};
}

// Options for hosts that come and go while the job runs.
std::vector<OptionRow> options_of_changing_hosts() {
  return {
      {"--max-hosts", "N", whole_number<1, plan::kMaxHosts, &Options::restart, &RestartOptions::most_hosts>,
       "Only the first N hosts have workers; the others are spares."},
      needing("--max-restarts",
              {"--host-discovery-script", "CMD",
               valid_text<kShellCommand, &Options::restart, &RestartOptions::discovery, &DiscoveryOptions::script>,
               "The hosts are what CMD, run by sh each second, prints: HOST[:SLOTS] a line. New hosts are "
               "connected to and checked, and have workers from the next restart on; without those that go the "
               "workers start anew."}),
      needing("--hostfile", {"--watch-hosts", "",
                             constant<DiscoveryOptions::Watch::Yes, &Options::restart, &RestartOptions::discovery,
                                      &DiscoveryOptions::watch_hosts>,
                             "The same with the file of --hostfile, read again each second."}),
      needing("--host-discovery-script --watch-hosts",
              {"--discovery-interval", "D",
               time_span<10, &Options::restart, &RestartOptions::discovery, &DiscoveryOptions::interval>,
               "How often the list is looked at. Default: 1s.", "1s"}),
      needing("--host-discovery-script --watch-hosts --nnodes",
              rare({"--elastic-timeout", "D",
                    time_span<0, &Options::restart, &RestartOptions::discovery, &DiscoveryOptions::wait>,
                    "Wait up to D for hosts where they are too few, at the start and before a restart. Default: 10m.",
                    "10m"})),
      needing("--host-discovery-script --watch-hosts --nnodes",
              {"--grow-after", "D",
               time_span<0, &Options::restart, &RestartOptions::discovery, &DiscoveryOptions::grow_after>,
               "When the list has been the same for D and more ranks could run, end the workers and start anew with "
               "these, which is no restart of --max-restarts. Default: at restarts only."}),
      {"--max-np --max-num-proc", "N",
       whole_number<1, plan::kMaxWorldSize, &Options::restart, &RestartOptions::discovery,
                    &DiscoveryOptions::most_ranks>,
       "Have a rank for each slot, up to N, at the start and after restarts; --np is then the least to begin with."}};
}

}  // namespace

// Options for failed jobs.
OptionGroup options_of_restarts() {
  OptionGroup group{
      "Restarts",
      "restarts",
      {{"--max-restarts", "N", whole_number<0, 1'000'000, &Options::restart, &RestartOptions::max>,
        "When a worker fails, end all others and start all anew, up to N times in all. Hosts stay connected; input "
        "goes to the first attempt only. Not after status 2, 126 or 127, a stop by the user, or --timeout. Default: 0.",
        "0"},
       needing("--max-restarts", {"--restart-window", "D", time_span<1, &Options::restart, &RestartOptions::window>,
                                  "Count only the restarts of the last D."}),
       needing("--max-restarts",
               {"--restart-delay", "D[:MAX]", parsed<RestartDelay::parse, &Options::restart, &RestartOptions::delay>,
                "Wait D before a restart, and twice as long each time while attempts last less than "
                "a minute, up to MAX. Default: 0s:30s, where the second wait is 1s.",
                "0s:30s"}),
       needing(
           "--max-restarts",
           {"--give-up", "RULES", add_to<GiveUpRule::parse, &Options::restart, &RestartOptions::give_up>,
            "End the job after such failures: [N[/D]:]LIST is N of them (default 1) within D, where LIST names exit "
            "codes, ranges and signals, such as 5/60s:1,101-103,SIGSEGV; N/D counts any. Several with ; between "
            "them. Repeatable.",
            "", Repeat::AddsUp}),
       needing("--max-restarts",
               {"--max-fruitless", "N",
                whole_number<0, 1'000'000, &Options::restart, &RestartOptions::most_without_progress>,
                "End the job, whatever restarts are left, after so many attempts in a row without progress; 0: never. "
                "Progress is that all ranks have joined or a minute has passed; with --progress-file or --watch it is "
                "theirs. Default: 2; 0 for a program whose ranks do not join: they use neither torch's process group "
                "nor MPI."}),
       needing("--max-restarts",
               {"--progress-file", "FILE", valid_text<kFileName, &Options::restart, &RestartOptions::progress_file>,
                "An attempt has made progress when FILE, as seen from here, has been written in it."}),
       {"--preload", "MODULE,...", parsed<plan::parse_modules, &Options::preload>,
        "Import these modules of Python once on each host, in a process of which the workers are forks, after a "
        "restart too. For python3 FILE and python3 -m; where a fork would not be the same, workers are started as "
        "ever, and one line gives the reason."}}};
  return with(with(std::move(group), options_of_hosts_of_restarts()), options_of_changing_hosts());
}

// Options of jobs with several programs.
OptionGroup options_of_programs() {
  return {
      "Several programs, with \":\" between them; each has its own -np, -H, -x, --env-file and --wdir",
      "programs",
      {{"--app -app -configfile", "FILE", text<&Options::app_file>,
        "Read the programs from FILE, one a line with its options. Lines that begin with # are comments."},
       of_program(
           {"--role", "NAME", valid_text<kRole, &Options::role>,
            "Role of the program's workers, which get it as ROLE_NAME; some presets ask for roles. Default: default."}),
       of_program(
           {"--helper", "", constant<plan::Part::Helper, &Options::part>,
            "The program serves the others: its processes are no ranks of theirs, and are stopped when all others "
            "have ended."})}};
}

namespace {

std::vector<OptionRow> options_of_logs() {
  return {
      {"--log-dir", "DIR", text<&Options::logs, &LogOptions::directory>,
       "Write what each rank prints to files of its own, byte for byte: DIR/rank.R/stdout and stderr. Files of an "
       "earlier job are replaced with --log-overwrite."},
      needing("--log-dir", {"--log-layout", "TEMPLATE", parsed<log_layout, &Options::logs, &LogOptions::layout>,
                            "Name the files of --log-dir otherwise, with {rank}, {local_rank}, {host}, {stream}, "
                            "{job} and {restart}; default: rank.{rank}/{stream}.",
                            "rank.{rank}/{stream}"}),
      needing("--log-dir",
              under_other_names({"--redirects", "STREAMS",
                                 parsed<output::StreamChoice::parse, &Options::output, &OutputOptions::routes,
                                        &output::StreamRoutes::redirected>,
                                 "As torchrun does: write these streams to files only, and no others. 0 none, 1 "
                                 "stdout, 2 stderr, 3 both; or by local rank, 0:3,1:1."})),
      needing("--log-dir", under_other_names({"--tee", "STREAMS",
                                              parsed<output::StreamChoice::parse, &Options::output,
                                                     &OutputOptions::routes, &output::StreamRoutes::teed>,
                                              "The same for streams that are written to files and printed too."})),
      needing("--tee",
              under_other_names({"--tee-tag", "TEMPLATE",
                                 parsed<output::TagTemplate::parse, &Options::output, &OutputOptions::teed_tag>,
                                 "Put this before the lines of --tee, instead of the prefix of --tag."})),
      needing("--log-dir",
              {"--log-on-host", "", constant<LogPlace::Hosts, &Options::logs, &LogOptions::place>,
               "Write the files of --log-dir on the host of each rank instead of here. The output comes here too."}),
      needing(
          "--log-dir",
          rare({"--log-match-stdout", "WORDS",
                parsed<words_between_commas, &Options::logs, &LogOptions::matched, &MatchedLineOptions::stdout_words>,
                "Also write the lines of stdout that contain one of these words (a,b) to one file for all ranks, "
                "DIR/matched.stdout, with their tags."})),
      needing(
          "--log-dir",
          rare({"--log-match-stderr", "WORDS",
                parsed<words_between_commas, &Options::logs, &LogOptions::matched, &MatchedLineOptions::stderr_words>,
                "The same for stderr, to DIR/matched.stderr."})),
      needing("--log-dir", rare({"--log-match-layout", "TEMPLATE",
                                 parsed<log_layout, &Options::logs, &LogOptions::matched, &MatchedLineOptions::layout>,
                                 "Name those files otherwise, with the words of --log-layout; ranks that have the "
                                 "same path share a file. Default: matched.{stream}.",
                                 "matched.{stream}"})),
      {"--log-max-size", "SIZE", parsed<size_from<1024>, &Options::logs, &LogOptions::rules, &os::LogRules::max_size>,
       "Begin a new file when one would grow beyond SIZE (64K, 10M, 2G); the last four older ones are kept."},
      {"--log-overwrite", "",
       constant<os::Overwrite::Yes, &Options::logs, &LogOptions::rules, &os::LogRules::overwrite>,
       "Replace files of an earlier job, which is refused otherwise."},
      {"--log-strict", "", constant<OnLogFault::EndJob, &Options::logs, &LogOptions::on_fault>,
       "End the job, with status 125, when a log cannot be written, instead of warning."},
      under_other_names(
          {"--output-filename -output-filename", "DIR[:nocopy]", set_output_filename,
           "As Open MPI does: write DIR/1/rank.R/stdout and stderr, over those of an earlier job; with :nocopy print "
           "nothing of it here."})};
}

}  // namespace

// Options for the files that a job writes.
OptionGroup options_of_the_records() {
  return with(
      {"Records of the job",
       "records",
       {{"--events", "FILE", text<&Options::events_file>, "Write what happens to FILE as it happens, as JSON Lines."},
        rare({"--trace-protocol", "FILE", text<&Options::protocol_file>,
              "Write each message between sml-run and its agents to FILE, for who works on the protocol: JSON Lines "
              "with the lengths of texts in place of these."}),
        {"--timeline", "FILE", valid_text<kTimelineFile, &Options::timeline_files>,
         "Draw the job: a page for a browser when FILE ends in .html, a trace for Perfetto when it ends in .json. "
         "Repeatable.",
         "", Repeat::AddsUp},
        {"--trace", "FILE", text<&Options::observers, &ObserverOptions::trace_file>,
         "Write how the start went to FILE, as a trace for Perfetto: for each host how long it took to connect, to "
         "send the agent, to prepare, and until its ranks ran and printed."}}},
      options_of_logs());
}

}  // namespace sml
