// Options that are not on the command line: from SML_* variables and from a file. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/worker_env.h"
#include "launcher/options/option_table.h"

namespace sml {

// Later ones have more say.
enum class Layer : std::uint8_t { Dialect, File, Environment, CommandLine };

// One option with its value, as somebody gave it.
struct Occurrence {
  const OptionRow* row = nullptr;
  std::string spelling = {};  // as it was written, for messages: "-np", "SML_NP", "FILE:3: np"
  std::string value = {};     // of a flag: kNo, or anything else for yes
  Layer layer = Layer::CommandLine;
  std::string where = {};  // "SML_NP", "FILE:3"; empty: what `spelling` says
};

inline constexpr std::string_view kNo = "no";

// "--start-timeout" → "SML_START_TIMEOUT". Empty for --help and --version.
std::string variable_of(const OptionRow& row);

struct EnvironmentLayer {
  std::vector<Occurrence> options;
  std::vector<std::string> warnings;  // a variable that is nearly one of ours
};

// A variable that is set but empty counts as not set. Repeatable options take several values, split as a shell does.
// What sml-run sets for workers is no option inside of one. Errors (Usage) begin with the variable's name.
Result<EnvironmentLayer> options_of_environment(std::span<const std::string> environment);

// Keys are long options without dashes, or other spellings of them; "_" is as good as "-". A section [x] holds
// variables. Errors (Config) begin with "PATH:LINE: ".
Result<std::vector<Occurrence>> options_of_file(std::string_view text, std::string_view path);

// All layers, in their order, less what a later layer replaces under another name: hosts given on the command line
// replace a hostfile of the environment.
std::vector<Occurrence> merge_layers(std::span<const std::vector<Occurrence>> layers);

// What a flag that was given as "no" takes back is left out, and so is that "no".
std::vector<Occurrence> without_refused_flags(std::span<const Occurrence> options);

// The last of `given` that is this option, by its main spelling; null: there is none.
const Occurrence* last_of(std::span<const Occurrence> given, std::string_view option);

}  // namespace sml
