// For workers that are forked from one process which has imported Python modules beforehand: determines which programs
// can be started in that way, and with which environment. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/variables.h"

namespace sml::plan {

// "torch,my.models" → names of modules, without duplicates. The message of an error is meant to follow "--preload: ".
Result<std::vector<std::string>> parse_modules(std::string_view text);

// The kind of program that a command line makes Python run.
enum class PythonRuns : std::uint8_t { Script, Module };
struct PythonLine {
  std::vector<std::string> interpreter;  // argv[0] and the options before the script or module
  PythonRuns runs = PythonRuns::Script;
  std::vector<std::string> words;  // script or module, and its arguments
};

// Parses `python3 -u train.py --lr 1` and `python3 -m train --lr 1`; returns nullopt for anything else: another
// program, `-c`, standard input, `-i`, or options that are not known here.
std::optional<PythonLine> python_line(std::span<const std::string> command);

// The index of the word that is the first argument of the program: the word after Python's script or module, otherwise
// the word after the program. It is the number of words if there are no arguments.
std::uint32_t first_argument(std::span<const std::string> command);

// True if Python, the dynamic linker or a library reads this variable only once, when it is loaded, so that a later
// change has no effect.
bool counts_at_start(std::string_view name);

// The entries that all environments have in common; empty if there are no environments. Each name must occur only once
// in each environment.
Environment common_environment(std::span<const Environment> environments);

// The first name for which counts_at_start() is true and which has different values in both, or is in only one of them;
// empty if there is none.
std::string differs_at_start(std::span<const std::string> before, std::span<const std::string> after);

}  // namespace sml::plan
