// Translates options of other launchers to options of sml-run. One table for each launcher; pure.
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

enum class Dialect : std::uint8_t { Own, Mpirun, Hydra, Horovodrun, Torchrun, Srun, Deepspeed, Accelerate };

// The dialect for the name of a link: "/usr/local/bin/mpirun" → Mpirun. Own for any other name.
Dialect dialect_called(std::string_view program);

// "mpirun": the launcher's usual name.
std::string_view name_of(Dialect dialect);

// One option of sml-run, in its documented spelling. For a flag, "no" withdraws it.
struct Given {
  std::string option;
  std::string value;
  bool operator==(const Given&) const = default;
};

// How to treat the words after the options as a program.
// HorovodVersion, HorovodBuild: there is no program; Horovod itself is queried.
enum class Program : std::uint8_t { Unchanged, Module, Script, Executable, HorovodVersion, HorovodBuild };

// An option as written, with its value.
struct Said {
  std::string written;
  std::string value;
  bool operator==(const Said&) const = default;
};

// The options of a launcher that is started on every host which describe the hosts: their number, the index of this
// one, and the address of the first.
struct RendezvousOptions {
  std::optional<Said> hosts;
  std::optional<Said> least_hosts;  // set if their number may vary; `hosts` is then the maximum
  std::optional<Said> place;
  std::optional<Said> address;
  std::optional<Said> port;
  std::optional<Said> endpoint;      // ADDR[:PORT], used if there is no address
  std::optional<Said> own;           // an address of this host
  std::optional<Said> is_first;      // "1" if the endpoint is on this host, "0" if not
  std::optional<Said> patience;      // seconds until all hosts must have connected
  std::optional<Said> last_call;     // seconds to wait for more hosts once the least number is there
  std::optional<Said> on_each;       // set if it is started on every one of the named hosts
  std::vector<std::string> refused;  // a clause for each unsupported option, reported together
  // this launcher's option that each host's command line needs
  std::string naming_option = "--rdzv-endpoint HOST:PORT";
  bool operator==(const RendezvousOptions&) const = default;
};

// The translation of an option of another launcher.
struct OptionTranslation {
  std::vector<Given> options;
  std::string note;  // an option without effect here, as written
  Program program = Program::Unchanged;
  std::string needs_hosts;  // an error, unless hosts are given on the same line
  std::string needs_count;  // an error under the name sml-run, unless something says how many workers there are
  RendezvousOptions meeting;
  std::string config_file;  // path of a settings file of the launcher
  bool operator==(const OptionTranslation&) const = default;
};

// AfterEquals: "--nice[=N]", for which the next word is never the value. InFirst: "-genv NAME VALUE" may also be "-genv
// NAME=VALUE".
enum class OptionalValue : std::uint8_t { No, AfterEquals, InFirst };

struct Row {
  std::string_view names;  // without dashes, the longest last; "_" and "-" are equivalent
  std::size_t values = 0;  // number of words that follow
  // Receives `values` of that number; `written` is the spelling. Error messages continue after "OPTION: ".
  std::function<Result<OptionTranslation>(std::string_view written, std::span<const std::string> values)> meaning;
  OptionalValue optional = OptionalValue::No;  // AfterEquals: `values` is 0, and one value is optional
  std::string_view choice{};                   // rows with the same choice exclude each other; empty: no such group
};

// The row for a word such as "--bind-to" or "-n": from the dialect, else a long option of a related one; for Own, whose
// own options are not in these tables, a long option of any launcher but accelerate. Long options may have one dash or
// two. Null if there is none.
const Row* find_row(Dialect dialect, std::string_view word);

// The same for an abbreviated long option, if the launcher accepts these and only one name begins with it.
const Row* find_cut_short(Dialect dialect, std::string_view word);

// Normalizes a line to separate words. Short options of srun may be combined: "-lN2" becomes "-l", "-N", "2", up to the
// program. For accelerate, removes the command launch, and rejects its other commands.
Result<std::vector<std::string>> plain_words(Dialect dialect, std::span<const std::string> words);

// The input of a launcher: its command line, and variables of its own.
struct Told {
  std::span<const Given> given;  // as options of sml-run
  RendezvousOptions meeting{};
  std::span<const std::string> environment{};
  std::function<bool(const std::string& path)> exists{};
};

// The launcher's defaults that differ from those of sml-run.
std::vector<Given> defaults_of(Dialect dialect, const Told& told);

// Options that have no effect because another option is missing.
std::vector<std::string> idle_options(Dialect dialect, std::span<const Given> given);

// Merges `more` into `all`; values of `more` take precedence.
void merge(RendezvousOptions& all, const RendezvousOptions& more);

// Some launchers take options from variables, as torchrun takes --nproc-per-node from PET_NPROC_PER_NODE: the words of
// those that are set, each with its variable.
struct OfVariable {
  std::string variable;
  std::vector<std::string> words;  // "--nproc-per-node=2"
};
std::vector<OfVariable> options_of_variables(Dialect dialect, std::span<const std::string> environment);

// The same from the text of a launcher's settings file, each with its place, "FILE:3". For Horovod, unknown keys are
// ignored, as by Horovod itself; for Accelerate, settings that sml-run does not support are rejected. Errors (Config)
// name the line.
Result<std::vector<OfVariable>> options_of_config(Dialect dialect, std::string_view text, std::string_view path);
Result<std::vector<OfVariable>> options_of_horovod_config(std::string_view text, std::string_view path);
Result<std::vector<OfVariable>> options_of_accelerate_config(std::string_view text, std::string_view path);

// The default paths of such a file; the first that exists is used.
std::vector<std::string> config_files(Dialect dialect, const Told& told);

// Adds torch's default port to an endpoint without one.
std::string with_torch_port(const std::string& endpoint);

// Stores a number of hosts, "N" or "MIN:MAX", with the option as written. A value with a colon that is not a range is
// rejected.
void tell_hosts(RendezvousOptions& meeting, const std::string& written, std::string_view value);

enum class HostsNamed : std::uint8_t { No, Yes };

// Other facts from the command line that matter if hosts call.
struct Rest {
  HostsNamed named = HostsNamed::No;
  std::string secret_advice;  // if the hosts share no secret; empty: they do
};

// The options that a rendezvous description amounts to. If hosts are named, sml-run is started once, for that many of
// them; a single unnamed host is this machine; otherwise each host calls the first. The error names all unsupported and
// missing options, as written.
struct Settled {
  std::vector<Given> options;
  std::vector<std::string> notes;
};
Result<Settled> settle(const RendezvousOptions& meeting, const Rest& rest);

// Makes the workers' command from the words after the options. `python` runs scripts and modules. Leading NAME=VALUE
// words, which horovodrun treats as variables, become -x in `variables`.
struct Command {
  std::vector<std::string> words;
  std::vector<Given> variables;
};
Command command_of(Dialect dialect, Program program, std::span<const std::string> words, const std::string& python);

// Open MPI's "--bind-to core:overload-allowed", and what to write here.
inline bool asks_for_overload(std::string_view value) { return value.ends_with(":overload-allowed"); }
inline constexpr std::string_view kNoOverload =
    "no two workers are bound to the same core; write core with at most one worker for each, or leave it out";

// All rows of a dialect: for tests.
std::span<const Row> rows_of(Dialect dialect);

}  // namespace sml::dialects
