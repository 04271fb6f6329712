#include "launcher/sagemaker/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "common/plan/environment/kept_back.h"
#include "launcher/inputs/stop_grace.h"
#include "launcher/report/outcome/last_lines.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/distribution.h"
#include "launcher/sagemaker/entry_point.h"
#include "launcher/sagemaker/frameworks.h"
#include "launcher/sagemaker/shared_facts.h"
#include "launcher/sagemaker/sm_environment.h"

namespace sml {

namespace {

using sagemaker::Framework;

std::string join(const std::string& folder, const std::string& name) { return folder + "/" + name; }

// The program of the job; or that of the command line, which keeps the usual working directory.
Result<sagemaker::EntryPoint> choose_entry(Options& options, Training& training, const sagemaker::Contract& contract,
                                           const ThisHost& here) {
  if (!options.command.empty()) {
    return sagemaker::EntryPoint{sagemaker::EntryKind::Executable, options.command.front(),
                                 here.process.working_directory};
  }
  Result<sagemaker::EntryPoint> entry = sagemaker::find_entry_point(contract, here.process.environment, here.files);
  if (!entry) return entry.error();
  const bool v3 = contract.sdk == sagemaker::Sdk::V3;
  const auto usual = v3 ? HyperparameterStyle::V3 : HyperparameterStyle::Toolkit;
  const auto style = options.training.style.value_or(usual) == HyperparameterStyle::V3
                         ? sagemaker::ArgumentStyle::V3
                         : sagemaker::ArgumentStyle::Toolkit;
  options.command = sagemaker::command_of(*entry, sagemaker::arguments_of(contract.hyperparameters, style));
  if (options.working_directory.empty()) options.working_directory = entry->folder;
  training.folder = entry->folder;
  if (entry->kind == sagemaker::EntryKind::Executable) training.program = join(entry->folder, entry->name);
  if (options.training.install == Installation::Yes && !v3)
    training.installations = sagemaker::installations_of(*entry, here.files);
  return entry;
}

Result<void> check_arguments(const std::vector<std::string>& words) {
  const auto holds_nul = [](const std::string& word) { return word.find('\0') != std::string::npos; };
  if (std::none_of(words.begin(), words.end(), holds_nul)) return {};
  return Error(ErrorKind::Config, "hyperparameters.json: a value holds a NUL byte, which no argument of a program can");
}

// One worker for the whole host if the program starts its own, or uses no others.
bool one_worker_each(Framework framework) {
  return framework == Framework::None || framework == Framework::ParameterServer ||
         framework == Framework::MirroredStrategy;
}

// Hosts brought together by another platform than SageMaker are meant to form one world.
bool is_job_of_another_platform(const sagemaker::Contract& contract) {
  return contract.source.empty() && contract.hosts.size() > 1;
}

void choose_workers(Options& options, const sagemaker::Distribution& distribution,
                    const sagemaker::Contract& contract) {
  const bool slots_are_said = options.nproc_per_node || options.slots_rule != SlotsRule::Auto || options.np;
  const bool is_alone = one_worker_each(distribution.framework) && options.nproc_said == SetByUser::No;
  // As with the training toolkit, a program that each host runs by itself gets no variables about ranks.
  if (is_alone && !options.np && !is_job_of_another_platform(contract)) {
    options.world = plan::WorldTold::No;
    if (options.mpi == plan::PmiMode::Auto) options.mpi = plan::PmiMode::None;
  }
  if (!options.np) options.np = distribution.processes;
  if (!slots_are_said) options.nproc_per_node = distribution.per_host;
  if (!slots_are_said && is_alone) options.nproc_per_node = 1;
  if (distribution.framework == Framework::Mpi) options.mpi_singleton = MpiSingleton::Refused;
  const bool torchrun = distribution.framework == Framework::TorchDistributed;
  if (torchrun && options.torch_store_set == SetByUser::No) options.torch_store = plan::TorchStore::OfAgent;
  if (distribution.mpi.oversubscribe) options.layout.oversubscribe = plan::Oversubscribe::Yes;
  if (distribution.mpi.verbose && options.verbosity == Verbosity::Normal) options.verbosity = Verbosity::Verbose;
  const std::vector<std::string>& words = distribution.mpi.export_words;
  options.export_variables.insert(options.export_variables.begin(), words.begin(), words.end());
}

// Hosts named by the user are connected to by SSH, which the hosts of the job do not support.
bool names_hosts(const Options& options) { return !options.hosts.empty() || !options.hostfile.empty(); }

// True for variables that are valid on this host only, and must not be sent to others.
bool of_one_host(std::string_view name) {
  return plan::bound_to_host(name) || name.starts_with("SM_NUM_") || name == "SM_TRAINING_ENV";
}

bool has_program(const std::string& name, const ThisHost& here) {
  const std::vector<std::string> files = os::program_candidates(name, here.process.environment);
  return std::any_of(files.begin(), files.end(), here.files.exists);
}

// Leaves out variables that are already set.
plan::Environment unless_set(plan::Environment variables, const ThisHost& here) {
  std::erase_if(variables, [&](const std::string& entry) {
    return plan::find_variable(here.process.environment, plan::name_of(entry)) != nullptr;
  });
  return variables;
}

// Variables by which launchers set a worker's place are normally not passed on; the job's own are if sml-run sets none.
plan::Environment own_place(const Options& options, const ThisHost& here) {
  plan::Environment out;
  if (options.world == plan::WorldTold::Yes) return out;
  std::copy_if(here.process.environment.begin(), here.process.environment.end(), std::back_inserter(out),
               [](const std::string& entry) { return plan::tells_of_world(plan::name_of(entry)); });
  return out;
}

// `further` are set in addition to the SM_* variables.
void add_variables(Options& options, Training& training, const sagemaker::Job& job, const plan::Environment& further,
                   const ThisHost& here) {
  const sagemaker::HostFacts host{.name = job.contract.current_host,
                                  .cpus = here.hardware.count_cpus(),
                                  .gpus = here.hardware.count_gpus(),
                                  .neuron_cores = here.hardware.count_neuron_cores(),
                                  .has_smddprun = has_program("smddprun", here),
                                  .has_smddpmprun = has_program("smddpmprun", here)};
  plan::Environment variables = sagemaker::sm_environment(job, host, here.process.environment);
  variables.insert(variables.end(), further.begin(), further.end());
  plan::Environment place = own_place(options, here);
  std::move(place.begin(), place.end(), std::back_inserter(options.extra_variables));
  if (training.hosts_call) {
    training.host_variables = std::move(variables);
    return;
  }
  if (names_hosts(options)) {
    std::erase_if(variables, [](const std::string& entry) { return of_one_host(plan::name_of(entry)); });
  }
  std::move(variables.begin(), variables.end(), std::back_inserter(options.extra_variables));
}

// --group takes precedence over the job's groups; its ":SLOTS" is not used here.
void take_groups(sagemaker::Distribution& distribution, std::string_view option) {
  if (option.empty()) return;
  distribution.groups_from = "--group";
  distribution.groups.clear();
  while (!option.empty()) {
    const std::string_view word = trim(take_until(option, ','));
    distribution.groups.emplace_back(word.substr(0, word.find(':')));
  }
}

bool takes_part(const sagemaker::Contract& contract, const std::vector<std::string>& hosts) {
  return std::find(hosts.begin(), hosts.end(), contract.current_host) != hosts.end();
}

// A host that works by itself does not call others; one outside of the groups of --group finds that it takes no part.
void choose_hosts(Options& options, Training& training, const sagemaker::Distribution& distribution,
                  const sagemaker::Contract& contract, const std::vector<std::string>& hosts) {
  if (contract.hosts.size() < 2 || names_hosts(options)) return;
  if (options.groups.empty()) options.groups = fmt::format("{}", fmt::join(distribution.groups, ","));
  if (!options.start_timeout_given) options.start_timeout = kContainersStart;
  training.hosts_call = hosts.size() > 1 || !takes_part(contract, hosts);
}

// True if this host is in none of the groups that the job's distribution names.
bool stands_aside(const Options& options, const sagemaker::Contract& contract, const std::vector<std::string>& hosts) {
  if (names_hosts(options) || !options.groups.empty()) return false;
  return !takes_part(contract, hosts);
}

void choose_preset(Options& options, Training& training, const sagemaker::Distribution& distribution, std::size_t hosts,
                   const ThisHost& here) {
  using plan::Preset;
  if (options.presets.contains(Preset::Tf)) return;
  const std::optional<Preset> preset = sagemaker::preset_of(distribution, here.process.environment, hosts);
  if (preset) options.presets.insert(*preset);
  if (distribution.framework != Framework::ParameterServer || hosts < 2) return;
  training.warnings.push_back(fmt::format("{}: sml-run train starts no parameter servers{}", distribution.source,
                                          preset ? "; TF_CONFIG names the hosts as workers" : ""));
}

// As with the training toolkit: such a host runs the program by itself, perhaps to serve the others.
void work_alone(Options& options, sagemaker::Distribution& distribution) {
  sagemaker::Distribution none;
  none.groups = std::move(distribution.groups);
  distribution = std::move(none);
  options.host_source = "local";
}

// If no file of SageMaker lists the hosts, takes them from the platform's job.
Result<void> take_hosts_that_call(sagemaker::Contract& contract, const Options& options, HostFinder& finder) {
  if (!contract.source.empty() || names_hosts(options)) return {};
  const Result<plan::HostList> found = finder.find(options);
  if (!found) return found.error();
  if (!found->calls || found->calls->own_name.empty()) return {};
  std::vector<std::string> names;
  for (const plan::Host& host : found->hosts) names.push_back(host.name);
  sagemaker::set_hosts(contract, std::move(names), found->calls->own_name);
  return {};
}

// ---- the failure file

constexpr std::string_view kFailure = "/output/failure";

std::string folder_of_platform(const ThisHost& here) {
  return sagemaker::contract_folder(here.process.environment, here.files);
}

// ---- installing

// pip gives its reason in a line "ERROR: ..."; notes about newer releases may follow.
std::string reason_in(const std::vector<std::string>& lines) {
  constexpr std::size_t kLongest = 300;
  const auto is_error = [](const std::string& line) { return line.starts_with("ERROR: "); };
  const auto error = std::find_if(lines.rbegin(), lines.rend(), is_error);
  if (error != lines.rend()) return show(*error, kLongest);
  return lines.empty() ? std::string() : show(lines.back(), kLongest);
}

bool has_ended(pid_t pid) {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT | WNOHANG) == 0 && ended.si_pid != 0;
}

// Copies a process's output from the pipe to stderr until the pipe or the process ends; returns the last lines.
std::vector<std::string> pass_on(int pipe, pid_t pid) {
  constexpr int kLookMs = 100;  // another process that it started may hold the pipe open
  report::LastLines last;
  std::array<char, 4096> piece;
  for (;;) {
    pollfd readable{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&readable, 1, kLookMs);
    if (ready == 0 && has_ended(pid)) break;
    if (ready <= 0) continue;
    const ssize_t size = ::read(pipe, piece.data(), piece.size());
    if (size <= 0) break;
    const std::string_view text(piece.data(), static_cast<std::size_t>(size));
    os::write_all(STDERR_FILENO, text);
    last.add(text);
  }
  return last.lines();
}

Error failed_step(const std::vector<std::string>& argv, const Training& training, const ExitStatus& status,
                  const std::string& reason) {
  const std::string shown = show(fmt::format("{}", fmt::join(argv, " ")));
  return Error(ErrorKind::Deploy, fmt::format("\"{}\" in {} {}{}{}", shown, show(training.folder), describe(status),
                                              reason.empty() ? "" : ": ", reason))
      .with_hint("--no-install leaves out what the image has already");
}

}  // namespace

Result<Training> prepare_training(Options& options, const ThisHost& here, HostFinder& finder) {
  Training training;
  Result<sagemaker::Contract> contract = sagemaker::read_contract(here.process.environment, here.files, here.names.own);
  if (!contract) return contract.error();
  if (Result<void> taken = take_hosts_that_call(*contract, options, finder); !taken) return taken.error();
  Result<sagemaker::Distribution> distribution =
      sagemaker::read_distribution(*contract, here.process.environment, here.files);
  if (!distribution) return distribution.error();
  take_groups(*distribution, options.groups);
  const Result<std::vector<std::string>> hosts = sagemaker::hosts_of(*contract, *distribution);
  if (!hosts) return hosts.error();
  if (stands_aside(options, *contract, *hosts)) {
    work_alone(options, *distribution);
  } else {
    choose_hosts(options, training, *distribution, *contract, *hosts);
  }
  const Result<sagemaker::EntryPoint> entry = choose_entry(options, training, *contract, here);
  if (!entry) return entry.error();
  if (Result<void> checked = check_arguments(options.command); !checked) return checked.error();
  choose_workers(options, *distribution, *contract);
  choose_preset(options, training, *distribution, hosts->size(), here);
  plan::Environment further =
      sagemaker::framework_variables(*contract, *distribution, *hosts, sagemaker::find_efa(here.files));
  add_variables(options, training, {*contract, *distribution, *entry}, unless_set(std::move(further), here), here);
  training.own_name = contract->current_host;
  for (const std::string& option : distribution->mpi.ignored) {
    training.warnings.push_back(fmt::format("custom_mpi_options: {} is for mpirun itself; ignored", show(option)));
  }
  return training;
}

void choose_failure_file(Options& options, const ThisHost& here) {
  if (options.failure.wanted == FailureFile::None || !options.failure.path.empty()) return;
  const std::string folder = folder_of_platform(here);
  const bool v3 =
      here.files.exists(folder + std::string(sagemaker::kV3Scripts));  // its drivers, too, start sml-run by name
  if (options.mode == Mode::Train || v3) {
    options.failure.path = folder + std::string(kFailure);
  } else if (here.files.exists(folder + "/config/resourceconfig.json")) {
    options.failure.path = folder + "/output/message";
    options.failure.kind = FailureKind::Message;
  }
}

void choose_progress_lines(Options& options, const ThisHost& here) {
  if (options.observers.progress_push == ProgressPush::No) return;
  const bool trains = options.mode == Mode::Train || sagemaker::is_training_job(here.process.environment, here.files);
  if (trains) options.observers.progress_lines = ProgressLines::Yes;
}

Result<void> remove_old_failure(const Options& options, const ThisHost& here) {
  if (options.mode != Mode::Train || options.dry_run || options.check == Preflight::Yes) return {};
  const std::string path = folder_of_platform(here) + std::string(kFailure);
  if (options.failure.path != path) return {};
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return sys_error(ErrorKind::Io, path + ", which an earlier job has left", errno);
}

Result<void> Installer::run() {
  constexpr mode_t kExecutable = 0111;
  struct stat status {};
  const std::string& program = training_.program;
  const bool is_file = !program.empty() && ::stat(program.c_str(), &status) == 0;
  // If this fails, the start of the workers reports why.
  if (is_file) static_cast<void>(::chmod(program.c_str(), status.st_mode | kExecutable));
  for (const std::vector<std::string>& argv : training_.installations) {
    if (Result<void> done = step(argv); !done) return done;
  }
  return {};
}

void Installer::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (running_ != 0) ::kill(-running_, SIGKILL);
}

Result<void> Installer::step(const std::vector<std::string>& argv) {
  const Result<os::UniqueFd> null = os::open_dev_null();
  if (!null) return null.error();
  Result<os::Pipe> errors = os::make_pipe();
  if (!errors) return errors.error();
  const Result<pid_t> pid = start(argv, null->get(), errors->write.get());
  if (!pid) return pid.error();
  errors->write.reset();
  const std::string reason = reason_in(pass_on(errors->read.get(), *pid));
  const Result<int> raw = await(*pid);
  if (!raw) return raw.error();
  if (*raw == 0) return {};
  const auto status =
      WIFSIGNALED(*raw) ? ExitStatus(Signaled{WTERMSIG(*raw), false}) : ExitStatus(Exited{WEXITSTATUS(*raw)});
  return failed_step(argv, training_, status, reason);
}

Result<pid_t> Installer::start(const std::vector<std::string>& argv, int null, int errors) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return Error(ErrorKind::Deploy, "the installation was not finished");
  // The first of that name or none: what another one installs the workers might not find.
  std::vector<std::string> candidates = os::program_candidates(argv.front(), here_.process.environment);
  for (std::string& file : candidates) {
    if (!file.starts_with('/')) file.insert(0, join(training_.folder, ""));
  }
  const os::TrustedProgram found = os::find_trusted_program(candidates);
  if (!found.passed_over.empty()) {
    return Error(ErrorKind::Deploy, fmt::format("the job's packages are not installed: {}", found.passed_over.front()))
        .with_hint("--no-install leaves out what the image has already");
  }
  if (found.file.empty()) return failed_step(argv, training_, SpawnFailed{SpawnStep::Exec, ENOENT}, {});
  plan::Environment environment = here_.process.environment;
  os::keep_trusted_lists(environment);
  const auto spawned = os::spawn_worker({.program = found.file,
                                         .argv = argv,
                                         .environment = environment,
                                         .working_directory = training_.folder,
                                         .stdin_fd = null,
                                         .stdout_fd = STDOUT_FILENO,
                                         .stderr_fd = errors,
                                         .descriptor_limit = 0,
                                         .ignored_signals = os::ignored_signals()});
  if (const auto* why = std::get_if<SpawnFailed>(&spawned)) return failed_step(argv, training_, *why, {});
  running_ = std::get<pid_t>(spawned);
  return running_;
}

// Reaps the process only under the lock, so that cancel() cannot signal a reused pid.
Result<int> Installer::await(pid_t pid) {
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) < 0) {
    if (errno != EINTR) return sys_error(ErrorKind::Deploy, "an installation", errno);
  }
  const std::lock_guard lock(mutex_);
  running_ = 0;
  int raw = 0;
  if (::waitpid(pid, &raw, 0) < 0) return sys_error(ErrorKind::Deploy, "an installation", errno);
  return raw;
}

}  // namespace sml
