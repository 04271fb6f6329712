// Translates options of other launchers to options of sml-run. Pure.
//
// sml-run accepts the command line of another launcher if it is started by the name of that launcher. Each such command
// line is a dialect, and has a table of its options.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::dialects {

// Own: the command line of sml-run itself. Mpirun: Open MPI's mpirun. Hydra: MPICH's mpiexec.
enum class Dialect : std::uint8_t { Own, Mpirun, Hydra, Horovodrun, Torchrun, Srun, Deepspeed, Accelerate };

// The dialect for the name, or the path, by which sml-run is started: "/usr/local/bin/mpirun" → Mpirun. Own for any
// other name.
Dialect dialect_called(std::string_view program);

// "mpirun": the launcher's usual name.
std::string_view name_of(Dialect dialect);

// One option of sml-run, in its documented spelling. The value "no" withdraws a flag; any other value sets it.
struct SetOption {
  std::string option;
  std::string value;
  bool operator==(const SetOption&) const = default;
};

// How to run the words after the options. Unchanged: in the way that is usual for the dialect. Module, Script: with
// Python. Executable: as they are. HorovodVersion, HorovodBuild: there is no program; a line of Python prints facts
// about Horovod.
enum class Program : std::uint8_t { Unchanged, Module, Script, Executable, HorovodVersion, HorovodBuild };

// An option of another launcher, spelled as on the command line, and its value.
struct WrittenOption {
  std::string written;
  std::string value;
  bool operator==(const WrittenOption&) const = default;
};

// The facts about the hosts of the job that another launcher's options give: how many hosts there are, which of them
// this one is, and where the first one is. Launchers that are started on every host have such options. nullopt: the
// option is not given.
struct RendezvousOptions {
  std::optional<WrittenOption> hosts;
  std::optional<WrittenOption> least_hosts;  // set if their number may vary; `hosts` is then the maximum
  std::optional<WrittenOption> place;        // index of this host; 0 is the first
  std::optional<WrittenOption> address;      // of the first host
  std::optional<WrittenOption> port;         // at that address
  std::optional<WrittenOption> endpoint;     // ADDR[:PORT] of the first host; used only without `address`
  std::optional<WrittenOption> own;          // an address of this host
  std::optional<WrittenOption> is_first;     // "1" if the endpoint is on this host, "0" if not
  std::optional<WrittenOption> timeout;      // seconds until all hosts must have connected
  std::optional<WrittenOption> last_call;    // seconds to wait for more hosts once the least number is there
  std::optional<WrittenOption> on_each;      // set if the launcher is started on each of the named hosts
  std::optional<WrittenOption> one_each;     // set if it starts one process on each of several, no rank of one job
  std::vector<std::string> refused;          // an error text for each unsupported option; settle() reports all together
  // the option that the command line of each host needs, for error messages
  std::string naming_option = "--rdzv-endpoint HOST:PORT";
  bool operator==(const RendezvousOptions&) const = default;
};

// The translation of an option of another launcher.
struct OptionTranslation {
  std::vector<SetOption> options;
  std::string note;  // an option without effect here, as written; empty: none
  Program program = Program::Unchanged;
  std::string needs_hosts;  // the error to report if no hosts are given on the same line; empty: none
  std::string needs_count;  // the same, under the name sml-run, if the number of workers is not given
  RendezvousOptions rendezvous;
  std::string config_file;     // path of a settings file of the launcher; empty: none
  WrittenOption for_defaults;  // if the launcher's defaults depend on the option; empty: they do not
  bool operator==(const OptionTranslation&) const = default;
};

// Exceptions from the number of values. AfterEquals: "--nice[=N]", for which the next word is never the value. InFirst:
// "-genv NAME VALUE" may also be "-genv NAME=VALUE".
enum class OptionalValue : std::uint8_t { No, AfterEquals, InFirst };

// One option in the table of a dialect.
struct Row {
  std::string_view names;  // without dashes, separated by blanks, the longest last; "_" and "-" are equivalent
  std::size_t values = 0;  // number of words that follow the option
  // Translates the option. `written` is its spelling, `values` has the words that follow it. Error messages continue
  // after "OPTION: ".
  std::function<Result<OptionTranslation>(std::string_view written, std::span<const std::string> values)> meaning;
  OptionalValue optional = OptionalValue::No;  // AfterEquals: `values` is 0, and one value is optional
  std::string_view choice{};                   // rows with the same choice exclude each other; empty: no such group
};

// The row for a word such as "--bind-to" or "-n", of this dialect, or, for a long option, of a related dialect. Own has
// no rows: for it, finds long options of every launcher but accelerate. Long options may have one dash or two. Null if
// there is none.
const Row* find_row(Dialect dialect, std::string_view word);

// The row for an abbreviated long option, if the launcher accepts abbreviations. Null unless exactly one name begins
// with `word`.
const Row* find_cut_short(Dialect dialect, std::string_view word);

// Puts each option of a line into a word of its own. Short options of srun may be combined: "-lN2" becomes "-l", "-N",
// "2", up to the program. For accelerate, removes the command launch, and rejects its other commands. Leaves the lines
// of other dialects as they are.
Result<std::vector<std::string>> plain_words(Dialect dialect, std::span<const std::string> words);

// The input on which a launcher's defaults depend: its command line and its environment.
struct DialectInput {
  std::span<const SetOption> given;  // as options of sml-run
  RendezvousOptions rendezvous{};
  std::span<const std::string> environment{};
  std::function<bool(const std::string& path)> exists{};  // null: no file exists
  // Whether a file that the user has not named exists, and is to be used. Null: no file is.
  std::function<bool(const std::string& path)> finds{};
  std::span<const WrittenOption> for_defaults{};  // OptionTranslation::for_defaults of all options
  // The number of hosts that the options leave of --hosts, or else of this hostfile; nullopt, or no function: unknown.
  std::function<std::optional<std::size_t>(const std::string& hostfile)> count_hosts{};
};

// The launcher's defaults that differ from those of sml-run, as options of sml-run.
std::vector<SetOption> defaults_of(Dialect dialect, const DialectInput& input);

// Texts that name the options that have no effect because another option is missing.
std::vector<std::string> idle_options(Dialect dialect, std::span<const SetOption> given);

// Merges `more` into `all`; values of `more` take precedence.
void merge(RendezvousOptions& all, const RendezvousOptions& more);

// Options from a variable or from a line of a settings file. torchrun, for example, takes --nproc-per-node from
// PET_NPROC_PER_NODE.
struct SourcedOption {
  std::string variable;            // its name, or the place in a file: "FILE:3"
  std::vector<std::string> words;  // of a command line: "--nproc-per-node=2"; empty: without effect
};
// The options from the variables of the launcher that are set.
std::vector<SourcedOption> options_of_variables(Dialect dialect, std::span<const std::string> environment);

// The options from the text of a launcher's settings file. For Horovod, unknown keys are ignored, as by Horovod itself;
// for Accelerate, settings that sml-run does not support are rejected. Errors (Config) name the line.
Result<std::vector<SourcedOption>> options_of_config(Dialect dialect, std::string_view text, std::string_view path);
Result<std::vector<SourcedOption>> options_of_horovod_config(std::string_view text, std::string_view path);
Result<std::vector<SourcedOption>> options_of_accelerate_config(std::string_view text, std::string_view path);

// The default paths of the launcher's settings file; the first that exists is used.
std::vector<std::string> config_files(Dialect dialect, const DialectInput& input);

// Adds torch's default port, 29400, to an endpoint without one.
std::string with_torch_port(const std::string& endpoint);

// Stores a number of hosts, "N" or "MIN:MAX", with the option as written. Any other value is stored, too, and is added
// to `refused`.
void set_host_count(RendezvousOptions& rendezvous, const std::string& written, std::string_view value);

enum class HostsNamed : std::uint8_t { No, Yes };

// Facts from the command line, beyond RendezvousOptions, on which settle() depends.
struct Rest {
  HostsNamed named = HostsNamed::No;
  std::string secret_advice;  // advice if the hosts share no secret; empty: they share one
};

// The result of settle().
struct Settled {
  std::vector<SetOption> options;
  std::vector<std::string> notes;  // options without effect here, as written
};
// Turns these facts into options of sml-run. If hosts are named, sml-run is started once, for that many of them; a
// single unnamed host is this machine; otherwise each host calls the first. The error (Usage) names all unsupported and
// missing options, as written.
Result<Settled> settle(const RendezvousOptions& rendezvous, const Rest& rest);

// The workers' command, and the variables that stood before it.
struct Command {
  std::vector<std::string> words;
  std::vector<SetOption> variables;  // as -x NAME=VALUE
};
// Makes the workers' command from the words after the options. `python` is the interpreter for scripts and modules. The
// leading NAME=VALUE words of horovodrun, which it treats as variables, go into Command::variables.
Command command_of(Dialect dialect, Program program, std::span<const std::string> words, const std::string& python);

// Whether a value of Open MPI's --bind-to allows several workers on a core, as "core:overload-allowed" does, which is
// not supported; kNoOverload is the hint for that error.
inline bool asks_for_overload(std::string_view value) { return value.ends_with(":overload-allowed"); }
inline constexpr std::string_view kNoOverload =
    "no two workers are bound to the same core; write core with at most one worker for each, or leave it out";

// All rows of a dialect: for tests.
std::span<const Row> rows_of(Dialect dialect);

}  // namespace sml::dialects
