#include "launcher/dialects/dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialects/rows.h"
#include "launcher/plan/env_file.h"

namespace sml::dialects {

namespace {

using std::string_view;

struct Name {
  string_view text;
  Dialect dialect;
};
constexpr std::array kNames{
    Name{"mpirun", Dialect::Mpirun},          Name{"mpiexec", Dialect::Mpirun},
    Name{"orterun", Dialect::Mpirun},         Name{"prterun", Dialect::Mpirun},
    Name{"mpiexec.openmpi", Dialect::Mpirun}, Name{"mpirun.openmpi", Dialect::Mpirun},
    Name{"mpiexec.hydra", Dialect::Hydra},    Name{"mpirun.mpich", Dialect::Hydra},
    Name{"mpiexec.mpich", Dialect::Hydra},    Name{"horovodrun", Dialect::Horovodrun},
    Name{"torchrun", Dialect::Torchrun},      Name{"srun", Dialect::Srun},
    Name{"deepspeed", Dialect::Deepspeed},    Name{"accelerate", Dialect::Accelerate},
};

const std::vector<Row>& table_of(Dialect dialect) {
  static const std::vector<Row> none;
  static const std::vector<Row> mpirun = mpirun_rows();
  static const std::vector<Row> hydra = hydra_rows();
  static const std::vector<Row> horovodrun = horovodrun_rows();
  static const std::vector<Row> torchrun = torchrun_rows();
  static const std::vector<Row> srun = srun_rows();
  static const std::vector<Row> deepspeed = deepspeed_rows();
  static const std::vector<Row> accelerate = accelerate_rows();
  switch (dialect) {
    case Dialect::Own: return none;
    case Dialect::Mpirun: return mpirun;
    case Dialect::Hydra: return hydra;
    case Dialect::Horovodrun: return horovodrun;
    case Dialect::Torchrun: return torchrun;
    case Dialect::Srun: return srun;
    case Dialect::Deepspeed: return deepspeed;
    case Dialect::Accelerate: return accelerate;
  }
  return none;
}

// The launchers whose long options are understood in addition: mpiexec may belong to either MPI. Excludes accelerate,
// whose --cpu, --env and --debug would be misread elsewhere.
std::span<const Dialect> relatives_of(Dialect dialect) {
  static constexpr std::array kAll{Dialect::Mpirun, Dialect::Horovodrun, Dialect::Torchrun,
                                   Dialect::Hydra,  Dialect::Deepspeed,  Dialect::Srun};
  static constexpr std::array kHydra{Dialect::Hydra};
  static constexpr std::array kMpirun{Dialect::Mpirun};
  if (dialect == Dialect::Own) return kAll;
  if (dialect == Dialect::Mpirun) return kHydra;
  if (dialect == Dialect::Hydra) return kMpirun;
  return {};
}

// True for launchers that use Python's argparse.
bool cuts_names_short(Dialect dialect) {
  return dialect == Dialect::Horovodrun || dialect == Dialect::Torchrun || dialect == Dialect::Deepspeed;
}

template <class Visit>
void for_each_name(const Row& row, Visit visit) {
  for (std::string_view names = row.names; !names.empty();) visit(take_until(names, ' '));
}

struct Word {
  std::size_t dashes = 0;
  std::string name;
};

Word cut(string_view word) {
  Word out;
  while (out.dashes < 2 && out.dashes < word.size() && word[out.dashes] == '-') ++out.dashes;
  out.name = word.substr(out.dashes);
  std::replace(out.name.begin(), out.name.end(), '_', '-');
  return out;
}

const Row* row_named(Dialect dialect, string_view name) {
  const Row* found = nullptr;
  for (const Row& row : table_of(dialect)) {
    for_each_name(row, [&](string_view known) {
      if (known == name) found = &row;
    });
  }
  return found;
}

// Splits "-lN2" into single options; empty if a letter is not an option.
std::vector<std::string> ungroup(Dialect dialect, string_view word) {
  std::vector<std::string> out;
  for (std::size_t at = 1; at < word.size(); ++at) {
    const Row* row = row_named(dialect, word.substr(at, 1));
    if (row == nullptr) return {};
    out.push_back("-" + std::string(word.substr(at, 1)));
    if (row->values == 0) continue;
    if (at + 1 < word.size()) out.emplace_back(word.substr(at + 1));
    break;
  }
  return out;
}

std::vector<SetOption> defaults_of_mpi(std::span<const SetOption> given, std::string_view timeout_status) {
  std::vector<SetOption> out{{"--no-tag", ""}, {"--timeout-status", std::string(timeout_status)}};
  if (is_given(given, {"--hosts"})) out.push_back({"--nproc-per-node", "1"});
  return out;
}

// Slurm distributes tasks as evenly as slots allow, whatever the distribution (_task_layout_block in its
// src/common/slurm_step_layout.c).
std::vector<SetOption> defaults_of_srun(std::span<const SetOption> given) {
  std::vector<SetOption> out{{"--no-tag", ""}, {"--stdin", "all"}, {"--on-failure", "continue"}, {"--preset", "slurm"}};
  if (!is_given(given, {"--rankfile"})) out.insert(out.end(), {{"--map-by", "host"}, {"--rank-by", "slot"}});
  // -n tasks on the hosts of -w, which have no slots.
  const bool dealt = is_given(given, {"--hosts"}) && is_given(given, {"--np"});
  if (dealt && !is_given(given, {"--nproc-per-node"})) {
    out.insert(out.end(), {{"--nproc-per-node", "1"}, {"--oversubscribe", ""}});
  }
  return out;
}

std::vector<SetOption> defaults_of_mpirun(std::span<const SetOption> given) {
  std::vector<SetOption> out = defaults_of_mpi(given, "110");
  out.push_back({"--bind-to", "openmpi"});
  out.push_back({"--preset", "openmpi"});
  out.push_back({"--pty", ""});
  out.push_back({"--nproc-per-node", is_given(given, {"--hosts"}) ? "1" : "core"});
  return out;
}

std::vector<SetOption> defaults_of_hydra(std::span<const SetOption> given) {
  std::vector<SetOption> out = defaults_of_mpi(given, "255");
  out.push_back({"--bind-to", "none"});  // even if -map-by sets where workers are placed
  out.push_back({"--preset", "hydra"});
  if (is_given(given, {"--hostfile"}) || !is_given(given, {"--np"})) out.push_back({"--nproc-per-node", "1"});
  // Hydra starts again with the first host when every host has its share.
  if (!is_given(given, {"--map-by", "--rankfile", "--ranks-per-host"})) {
    out.insert(out.end(), {{"--map-by", "rounds"}, {"--oversubscribe", ""}});
  }
  return out;
}

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && plan::valid_variable_name(string_view(word).substr(0, equals));
}

}  // namespace

Dialect dialect_called(string_view program) {
  const string_view name = program.substr(program.rfind('/') + 1);
  const auto* known = std::find_if(kNames.begin(), kNames.end(), [&](const Name& n) { return n.text == name; });
  return known == kNames.end() ? Dialect::Own : known->dialect;
}

string_view name_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::Own: return "sml-run";
    case Dialect::Mpirun: return "mpirun";
    case Dialect::Hydra: return "mpiexec.hydra";
    case Dialect::Horovodrun: return "horovodrun";
    case Dialect::Torchrun: return "torchrun";
    case Dialect::Srun: return "srun";
    case Dialect::Deepspeed: return "deepspeed";
    case Dialect::Accelerate: return "accelerate launch";
  }
  return "";
}

const Row* find_row(Dialect dialect, string_view word) {
  const Word cut_word = cut(word);
  const bool is_short = cut_word.name.size() == 1;
  if (cut_word.dashes == 0 || cut_word.name.empty() || (is_short && cut_word.dashes != 1)) return nullptr;
  if (const Row* row = row_named(dialect, cut_word.name)) return row;
  if (is_short) return nullptr;
  for (Dialect relative : relatives_of(dialect)) {
    if (const Row* row = row_named(relative, cut_word.name)) return row;
  }
  return nullptr;
}

const Row* find_cut_short(Dialect dialect, string_view word) {
  const Word cut_word = cut(word);
  if (!cuts_names_short(dialect) || cut_word.dashes != 2 || cut_word.name.empty()) return nullptr;
  const Row* found = nullptr;
  int names = 0;
  for (const Row& row : table_of(dialect)) {
    for_each_name(row, [&](string_view known) {
      if (known.size() == 1 || !known.starts_with(cut_word.name)) return;
      ++names;
      found = &row;
    });
  }
  return names == 1 ? found : nullptr;
}

namespace {

std::vector<std::string> without_groups(Dialect dialect, std::span<const std::string> words) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-' && words[at] != "--") {
    const std::string& word = words[at++];
    const Row* row = find_row(dialect, string_view(word).substr(0, word.find('=')));
    const bool grouped = row == nullptr && word.size() > 2 && word[1] != '-';
    std::vector<std::string> parts = grouped ? ungroup(dialect, word) : std::vector<std::string>();
    if (parts.empty()) parts = {word};
    if (grouped && parts.back().size() == 2) row = find_row(dialect, parts.back());
    out.insert(out.end(), parts.begin(), parts.end());
    const bool has_value = word.find('=') != std::string::npos;
    for (std::size_t n = has_value || row == nullptr ? 0 : row->values; n > 0 && at < words.size(); --n) {
      out.push_back(words[at++]);
    }
  }
  out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return out;
}

}  // namespace

Result<std::vector<std::string>> plain_words(Dialect dialect, std::span<const std::string> words) {
  if (dialect == Dialect::Srun) return without_groups(dialect, words);
  if (dialect == Dialect::Accelerate && !words.empty() && !words.front().starts_with('-')) {
    if (words.front() != "launch") {
      return Error(ErrorKind::Usage,
                   fmt::format("accelerate {}: of accelerate sml-run has launch only; call the program "
                               "itself, python3 -m accelerate.commands.accelerate_cli",
                               show(words.front(), 40)));
    }
    words = words.subspan(1);
  }
  return std::vector<std::string>(words.begin(), words.end());
}

namespace {

std::vector<SourcedOption> options_of_torchrun(std::span<const std::string> environment) {
  std::vector<SourcedOption> out;
  for (const std::string& entry : environment) {
    const std::string variable(plan::name_of(entry));
    const string_view value = plan::value_of(entry);
    if (!variable.starts_with("PET_") || value.empty()) continue;
    std::string name = variable.substr(4);
    for (char& c : name) c = c == '_' ? '-' : lower(c);
    const Row* row = name.size() > 1 ? row_named(Dialect::Torchrun, name) : nullptr;
    if (row == nullptr || (row->values == 0 && value != "1")) continue;  // the value of a flag is 0 or 1
    out.push_back({variable, {"--" + name + (row->values == 0 ? "" : "=" + std::string(value))}});
  }
  return out;
}

// How the value of a variable becomes that of its option. None: the option has none, and is given if the value is
// empty, "yes" or a number other than 0, as for srun(1).
enum class Value : std::uint8_t { NextWord, Joined, None };

// The variables that the MPI operator sets, and those documented in mpiexec(1) of MPICH and srun(1).
struct VariableOption {
  Dialect dialect;
  string_view variable;
  std::array<string_view, 2> words;  // before the value; empty: no option, and without effect
  Value value = Value::NextWord;
  string_view replaced_by{};  // a variable that counts instead if it is set; empty: none
};
constexpr std::array kVariableOptions{
    VariableOption{Dialect::Mpirun, "OMPI_MCA_plm_rsh_agent", {"--mca", "plm_rsh_agent"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_orte_rsh_agent", {"--mca", "orte_rsh_agent"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_plm_rsh_args", {"--mca", "plm_rsh_args"}},
    VariableOption{Dialect::Mpirun, "PRTE_MCA_plm_ssh_agent", {"--mca", "plm_ssh_agent"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_plm", {"--mca", "plm"}},
    VariableOption{Dialect::Mpirun, "PRTE_MCA_plm", {"--mca", "plm"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_plm_slurm_args", {"--mca", "plm_slurm_args"}},
    VariableOption{Dialect::Mpirun, "PRTE_MCA_plm_slurm_args", {"--mca", "plm_slurm_args"}},
    VariableOption{Dialect::Mpirun, "PRTE_MCA_plm_ssh_args", {"--mca", "plm_ssh_args"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_mca_base_env_list", {"--mca", "mca_base_env_list"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_rmaps_base_oversubscribe", {"--mca", "rmaps_base_oversubscribe"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_rmaps_base_mapping_policy", {"--mca", "rmaps_base_mapping_policy"}},
    VariableOption{Dialect::Mpirun, "OMPI_MCA_hwloc_base_binding_policy", {"--mca", "hwloc_base_binding_policy"}},
    VariableOption{Dialect::Mpirun, "MPIEXEC_TIMEOUT", {"--timeout", ""}},
    VariableOption{Dialect::Hydra, "HYDRA_LAUNCHER_EXEC", {"-launcher-exec", ""}},
    VariableOption{Dialect::Hydra, "HYDRA_LAUNCHER", {"-launcher", ""}},
    VariableOption{Dialect::Hydra, "HYDRA_BOOTSTRAP", {"-bootstrap", ""}},
    VariableOption{Dialect::Hydra, "HYDRA_LAUNCHER_EXTRA_ARGS", {"-launcher-extra-args", ""}},
    VariableOption{Dialect::Hydra, "I_MPI_HYDRA_BOOTSTRAP", {"-bootstrap", ""}},
    VariableOption{Dialect::Hydra, "I_MPI_HYDRA_BOOTSTRAP_EXEC", {"-bootstrap-exec", ""}},
    VariableOption{Dialect::Hydra, "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", {"-bootstrap-exec-args", ""}},
    VariableOption{Dialect::Hydra, "MPIEXEC_TIMEOUT", {"-timeout", ""}},
    VariableOption{Dialect::Srun, "SLURM_MPI_TYPE", {"--mpi", ""}},
    VariableOption{Dialect::Srun, "SLURM_KILL_BAD_EXIT", {"--kill-on-bad-exit", ""}, Value::Joined},
    VariableOption{Dialect::Srun, "SLURM_LABELIO", {"--label", ""}, Value::None},
    VariableOption{Dialect::Srun, "SLURM_OVERCOMMIT", {"--overcommit", ""}, Value::None},
    VariableOption{Dialect::Srun, "SLURM_EXPORT_ENV", {"--export", ""}, Value::NextWord, "SRUN_EXPORT_ENV"},
    VariableOption{Dialect::Srun, "SRUN_EXPORT_ENV", {"--export", ""}},
    VariableOption{Dialect::Srun, "SLURM_REMOTE_CWD", {"--chdir", ""}},
    VariableOption{Dialect::Srun, "SLURM_WORKING_DIR", {"--chdir", ""}},
    VariableOption{Dialect::Srun, "SLURM_DISTRIBUTION", {"--distribution", ""}},
    VariableOption{Dialect::Srun, "SRUN_CPUS_PER_TASK", {"--cpus-per-task", ""}},
    VariableOption{Dialect::Srun, "SLURM_GPUS_PER_TASK", {"--gpus-per-task", ""}},
    // without effect
    VariableOption{Dialect::Srun, "SLURM_WAIT", {"--wait", ""}},
    VariableOption{Dialect::Srun, "SLURM_CPU_BIND", {"--cpu-bind", ""}},
    VariableOption{Dialect::Srun, "SLURM_MEM_BIND", {"--mem-bind", ""}},
    VariableOption{Dialect::Srun, "SLURM_GPU_BIND", {"--gpu-bind", ""}},
    VariableOption{Dialect::Srun, "SLURM_HINT", {"--hint", ""}},
    VariableOption{Dialect::Srun, "SLURM_THREADS_PER_CORE", {"--threads-per-core", ""}},
    VariableOption{Dialect::Srun, "SLURM_NTASKS_PER_CORE", {"--ntasks-per-core", ""}},
    VariableOption{Dialect::Srun, "SLURM_CPUS_PER_GPU", {"--cpus-per-gpu", ""}},
    VariableOption{Dialect::Srun, "SLURM_STEP_GRES", {"--gres", ""}},
    VariableOption{Dialect::Srun, "SLURM_CONSTRAINT", {"--constraint", ""}},
    VariableOption{Dialect::Srun, "SLURM_SPREAD_JOB", {"--spread-job", ""}, Value::None},
    VariableOption{Dialect::Srun, "SLURM_USE_MIN_NODES", {"--use-min-nodes", ""}, Value::None},
    VariableOption{Dialect::Srun, "SLURM_TIMELIMIT", {"--time", ""}},
    VariableOption{Dialect::Srun, "SLURM_SIGNAL", {"--signal", ""}},
    VariableOption{Dialect::Srun, "SRUN_CONTAINER", {"--container", ""}},
    VariableOption{Dialect::Srun, "SLURM_EXIT_ERROR", {}, Value::None},
    VariableOption{Dialect::Srun, "SLURM_EXIT_IMMEDIATE", {}, Value::None},
    // refused
    VariableOption{Dialect::Srun, "SLURM_STDINMODE", {"--input", ""}},
    VariableOption{Dialect::Srun, "SLURM_STDOUTMODE", {"--output", ""}},
    VariableOption{Dialect::Srun, "SLURM_STDERRMODE", {"--error", ""}},
    VariableOption{Dialect::Srun, "SRUN_INPUT", {"--input", ""}},
    VariableOption{Dialect::Srun, "SRUN_OUTPUT", {"--output", ""}},
    VariableOption{Dialect::Srun, "SRUN_ERROR", {"--error", ""}},
    VariableOption{Dialect::Srun, "SLURM_PROLOG", {"--prolog", ""}},
    VariableOption{Dialect::Srun, "SLURM_EPILOG", {"--epilog", ""}},
    VariableOption{Dialect::Srun, "SLURM_TASK_PROLOG", {"--task-prolog", ""}},
    VariableOption{Dialect::Srun, "SLURM_TASK_EPILOG", {"--task-epilog", ""}},
    VariableOption{Dialect::Srun, "SLURM_NTASKS_PER_GPU", {"--ntasks-per-gpu", ""}},
    VariableOption{Dialect::Srun, "SLURM_NTASKS_PER_SOCKET", {"--ntasks-per-socket", ""}},
    VariableOption{Dialect::Horovodrun, "HOROVOD_ELASTIC_TIMEOUT", {"--elastic-timeout", ""}},
};

bool is_set(string_view flag) {
  const std::optional<std::int64_t> number = parse_number<std::int64_t>(flag);
  return number ? *number != 0 : flag.empty() || equal_ignoring_case(flag, "yes");
}

}  // namespace

std::vector<SourcedOption> options_of_variables(Dialect dialect, std::span<const std::string> environment) {
  std::vector<SourcedOption> out;
  for (const VariableOption& known : kVariableOptions) {
    if (known.dialect != dialect) continue;
    const std::string* entry = plan::find_variable(environment, known.variable);
    if (entry == nullptr) continue;
    const string_view value = plan::value_of(*entry);
    if (known.value == Value::None ? !is_set(value) : value.empty()) continue;
    if (!known.replaced_by.empty() && !plan::variable(environment, known.replaced_by).empty()) continue;
    SourcedOption& option = out.emplace_back(SourcedOption{std::string(known.variable), {}});
    for (const string_view word : known.words) {
      if (!word.empty()) option.words.emplace_back(word);
    }
    if (known.value == Value::NextWord) option.words.emplace_back(plan::value_of(*entry));
    if (known.value == Value::Joined) option.words.back().append("=").append(plan::value_of(*entry));
  }
  if (dialect == Dialect::Torchrun) {
    for (SourcedOption& option : options_of_torchrun(environment)) out.push_back(std::move(option));
  }
  return out;
}

bool is_given(std::span<const SetOption> given, std::initializer_list<string_view> names) {
  return std::any_of(given.begin(), given.end(), [&](const SetOption& g) {
    return std::find(names.begin(), names.end(), g.option) != names.end();
  });
}

string_view last_given(std::span<const SetOption> given, string_view option) {
  const auto last = std::find_if(given.rbegin(), given.rend(), [&](const SetOption& g) { return g.option == option; });
  return last == given.rend() ? string_view() : string_view(last->value);
}

std::vector<std::string> idle_options(Dialect dialect, std::span<const SetOption> given) {
  std::vector<std::string> idle;
  if (dialect != Dialect::Torchrun || is_given(given, {"--tee"})) return idle;
  const bool filters = is_given(given, {"--log-match-stdout", "--log-match-stderr"});
  if (filters) idle.emplace_back("--duplicate-*-filters (they look at lines of --tee only)");
  if (!filters && is_given(given, {"--log-dir"}) && !is_given(given, {"--redirects"})) {
    idle.emplace_back("--log-dir (nothing is redirected)");
  }
  return idle;
}

std::vector<SetOption> defaults_of(Dialect dialect, const DialectInput& input) {
  switch (dialect) {
    case Dialect::Own: return {};
    case Dialect::Mpirun: return defaults_of_mpirun(input.given);
    case Dialect::Hydra: return defaults_of_hydra(input.given);
    case Dialect::Horovodrun: return defaults_of_horovodrun(input.given);
    case Dialect::Torchrun: return defaults_of_torchrun(input);
    case Dialect::Srun: return defaults_of_srun(input.given);
    case Dialect::Deepspeed: return defaults_of_deepspeed(input);
    case Dialect::Accelerate: return defaults_of_accelerate(input);
  }
  return {};
}

Result<std::vector<SourcedOption>> options_of_config(Dialect dialect, string_view text, string_view path) {
  return dialect == Dialect::Accelerate ? options_of_accelerate_config(text, path)
                                        : options_of_horovod_config(text, path);
}

std::vector<std::string> config_files(Dialect dialect, const DialectInput& input) {
  return dialect == Dialect::Accelerate ? config_files_of_accelerate(input) : std::vector<std::string>();
}

Command command_of(Dialect dialect, Program program, std::span<const std::string> words, const std::string& python) {
  const bool scripts = dialect == Dialect::Torchrun || dialect == Dialect::Deepspeed || dialect == Dialect::Accelerate;
  if (program == Program::Unchanged && scripts) program = Program::Script;
  Command out;
  // Each is one line of Python.
  if (program == Program::HorovodVersion) {
    out.words = {python, "-c",
                 "import importlib.util as u; print(__import__('horovod').__version__ if u.find_spec('horovod') else "
                 "'sml-run " SML_VERSION "; Horovod is not installed')"};
    return out;
  }
  if (program == Program::HorovodBuild) {
    out.words = {python, "-c",
                 "import importlib.util as u, sys; u.find_spec('horovod') or sys.exit('Horovod is not installed'); "
                 "from horovod.runner.launch import check_build; check_build(False)"};
    return out;
  }
  if (!words.empty() && program == Program::Module) out.words = {python, "-u", "-m"};
  if (!words.empty() && program == Program::Script) out.words = {python, "-u"};
  while (dialect == Dialect::Horovodrun && words.size() > 1 && is_assignment(words.front())) {
    out.variables.push_back({"-x", words.front()});
    words = words.subspan(1);
  }
  out.words.insert(out.words.end(), words.begin(), words.end());
  return out;
}

std::span<const Row> rows_of(Dialect dialect) { return table_of(dialect); }

}  // namespace sml::dialects
