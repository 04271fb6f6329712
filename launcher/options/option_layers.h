// Reads options from SML_* variables and from a file. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/options/option_table.h"

namespace sml {

// The sources of options, in ascending precedence. Dialect: the defaults, variables and settings file of the launcher
// by whose name sml-run is called.
enum class Layer : std::uint8_t { Dialect, File, Environment, CommandLine };

// One option with its value, as given in a source.
struct OptionValue {
  const OptionRow* row = nullptr;  // never null in a complete value
  std::string spelling = {};       // as it was written, for messages: "-np", "SML_NP", "FILE:3: np"
  std::string value = {};          // for a flag: kNo, or any other value for yes
  Layer layer = Layer::CommandLine;
  std::string where = {};  // "SML_NP", "FILE:3"; empty: the same as `spelling`
};

inline constexpr std::string_view kNo = "no";

// The variable of an option: "--start-timeout" → "SML_START_TIMEOUT". Empty for an option that has none: --help,
// --version, and options of other launchers only.
std::string variable_of(const OptionRow& row);

struct EnvironmentLayer {
  std::vector<OptionValue> options;
  std::vector<std::string> warnings;  // about variables whose names resemble an option's
};

// Reads the SML_* variables. A variable that is set but empty counts as not set. Repeatable options take several
// values, split as a shell does. Inside a worker, variables that sml-run sets for workers are not read as options.
// Errors (Usage) begin with the variable's name.
Result<EnvironmentLayer> options_of_environment(std::span<const std::string> environment);

// Reads the text of a --config file. Keys are long options without dashes, or other spellings of them; "_" may replace
// "-". A section [x] holds variables for the workers, as -x does. Errors (Config) begin with "PATH:LINE: ".
Result<std::vector<OptionValue>> options_of_file(std::string_view text, std::string_view path);

// The options of all layers, in their order, without those that a later layer replaces by a different option: hosts on
// the command line, for example, replace a hostfile from the environment.
std::vector<OptionValue> merge_layers(std::span<const std::vector<OptionValue>> layers);

// Leaves out flags that a later "no" withdraws, and that "no" itself.
std::vector<OptionValue> without_refused_flags(std::span<const OptionValue> options);

// The last occurrence of an option in `given`, by its main spelling; null if there is none.
const OptionValue* last_of(std::span<const OptionValue> given, std::string_view option);

}  // namespace sml
