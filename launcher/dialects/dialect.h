// The options of other launchers, as options of ours. One table for each launcher; pure.
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

// By the name of a link: "/usr/local/bin/mpirun" → Mpirun. Own for any other name.
Dialect dialect_called(std::string_view program);

// "mpirun": the launcher as people call it.
std::string_view name_of(Dialect dialect);

// One option of ours, under its documented spelling. "no" for a flag takes it back.
struct Given {
  std::string option;
  std::string value;
  bool operator==(const Given&) const = default;
};

// What the word after the options is.
// HorovodVersion, HorovodBuild: there is none; Horovod itself is asked.
enum class Program : std::uint8_t { Unchanged, Module, Script, Executable, HorovodVersion, HorovodBuild };

// An option as it was written, with its value.
struct Said {
  std::string written;
  std::string value;
  bool operator==(const Said&) const = default;
};

// What a launcher that is started on every host is told of them: how many, which this one is, where the first is.
struct Meeting {
  std::optional<Said> hosts;
  std::optional<Said> least_hosts;  // their number may vary, and `hosts` is the most
  std::optional<Said> place;
  std::optional<Said> address;
  std::optional<Said> port;
  std::optional<Said> endpoint;      // ADDR[:PORT], if there is no address
  std::optional<Said> own;           // an address of this host
  std::optional<Said> is_first;      // this host is where the endpoint is, "1", or is not, "0"
  std::optional<Said> patience;      // seconds, for all to come
  std::optional<Said> last_call;     // seconds, for others when the least are there
  std::optional<Said> on_each;       // it is started on every one of the hosts that are named
  std::vector<std::string> refused;  // a clause for each option that cannot be had, told together
  std::string naming_option = "--rdzv-endpoint HOST:PORT";  // of this launcher, for what a line of each host needs
  bool operator==(const Meeting&) const = default;
};

// What an option of another launcher comes to.
struct Meaning {
  std::vector<Given> options;
  std::string note;  // an option that has no effect here, as it was written
  Program program = Program::Unchanged;
  std::string needs_hosts;  // an error unless hosts are given in the same line
  Meeting meeting;
  std::string config_file;  // path of a file of the launcher's own
  bool operator==(const Meaning&) const = default;
};

// AfterEquals: "--nice[=N]", whose next word is never its value. InFirst: "-genv NAME VALUE" may be "-genv NAME=VALUE".
enum class OptionalValue : std::uint8_t { No, AfterEquals, InFirst };

struct Row {
  std::string_view names;  // without dashes, the longest last; "_" stands for "-" too
  std::size_t values = 0;  // words that follow
  // `values` has as many; `written` is the spelling. The message of an error goes on after "OPTION: ".
  std::function<Result<Meaning>(std::string_view written, std::span<const std::string> values)> meaning;
  OptionalValue optional = OptionalValue::No;  // AfterEquals: then `values` is 0, and there may be one
  std::string_view choice{};                   // only one of the rows with the same may be given; empty: this is none
};

// A word such as "--bind-to" or "-n": the row of the dialect, else the long option of a relative; for Own, whose own
// options are not here, the long option of any launcher but accelerate. Long options may have one dash or two. Null:
// there is none.
const Row* find_row(Dialect dialect, std::string_view word);

// The same for a long option that is cut short, where the launcher allows that and only one name begins so.
const Row* find_cut_short(Dialect dialect, std::string_view word);

// A line as its options and program. srun's short options may stand in one word: "-lN2" becomes "-l", "-N", "2", up to
// the program. Of accelerate there is launch, which goes; its other commands are refused.
Result<std::vector<std::string>> plain_words(Dialect dialect, std::span<const std::string> words);

// What a launcher is told, by its command line and by variables of its own.
struct Told {
  std::span<const Given> given;  // as options of ours
  Meeting meeting{};
  std::span<const std::string> environment{};
  std::function<bool(const std::string& path)> exists{};
};

// What the launcher does unless it is told otherwise.
std::vector<Given> defaults_of(Dialect dialect, const Told& told);

// Options that have no effect without others, which are not there.
std::vector<std::string> idle_options(Dialect dialect, std::span<const Given> given);

// Adds what `more` tells to `all`; the last counts.
void merge(Meeting& all, const Meeting& more);

// Some launchers have options by variables, as torchrun has PET_NPROC_PER_NODE for --nproc-per-node: the words of those
// that are set, each with its variable.
struct OfVariable {
  std::string variable;
  std::vector<std::string> words;  // "--nproc-per-node=2"
};
std::vector<OfVariable> options_of_variables(Dialect dialect, std::span<const std::string> environment);

// The same from the text of a file of the launcher's own, each with its place, "FILE:3". What Horovod does not look for
// there is passed over, as it does; what Accelerate would do and sml-run does not is refused. Errors (kind Config) name
// the line.
Result<std::vector<OfVariable>> options_of_config(Dialect dialect, std::string_view text, std::string_view path);
Result<std::vector<OfVariable>> options_of_horovod_config(std::string_view text, std::string_view path);
Result<std::vector<OfVariable>> options_of_accelerate_config(std::string_view text, std::string_view path);

// Where such a file may be that nobody names; the first that is there counts.
std::vector<std::string> config_files(Dialect dialect, const Told& told);

// An endpoint with the port that torch gives one that names none.
std::string with_torch_port(const std::string& endpoint);

// A number of hosts, "N" or "MIN:MAX", as it was written with that option. What is no range with a colon is refused.
void tell_hosts(Meeting& meeting, const std::string& written, std::string_view value);

enum class HostsNamed : std::uint8_t { No, Yes };

// The rest of the line, as far as it matters where hosts call each other.
struct Rest {
  HostsNamed named = HostsNamed::No;
  std::string secret_advice;  // where the hosts share no secret; empty: they do
};

// What a meeting comes to. Where hosts are named sml-run is started once, for as many of them; one host that nobody
// names is this machine; else each host calls the first. The error names the options as they were written, all that
// cannot be had and all that is missing.
struct Settled {
  std::vector<Given> options;
  std::vector<std::string> notes;
};
Result<Settled> settle(const Meeting& meeting, const Rest& rest);

// The command of the workers from the words after the options. `python` runs scripts and modules. Leading NAME=VALUE
// words, which horovodrun takes for variables, become -x in `variables`.
struct Command {
  std::vector<std::string> words;
  std::vector<Given> variables;
};
Command command_of(Dialect dialect, Program program, std::span<const std::string> words, const std::string& python);

// Every row of a dialect: for tests.
std::span<const Row> rows_of(Dialect dialect);

}  // namespace sml::dialects
