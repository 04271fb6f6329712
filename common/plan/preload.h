// Workers that are forks of one process which has imported modules beforehand: which programs can be, and with which
// environment. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

// "torch,my.models" → names of modules, each once. The message of an error goes on after "--preload: ".
Result<std::vector<std::string>> parse_modules(std::string_view text);

// What a command line has Python run.
enum class PythonRuns : std::uint8_t { Script, Module };
struct PythonLine {
  std::vector<std::string> interpreter;  // argv[0] and the options before the script or module
  PythonRuns runs = PythonRuns::Script;
  std::vector<std::string> words;  // script or module, and its arguments
};

// Of `python3 -u train.py --lr 1` and `python3 -m train --lr 1`; nothing for all else: another program, `-c`, standard
// input, `-i`, options whose meaning is not known here.
std::optional<PythonLine> python_line(std::span<const std::string> command);

// Which word is the first argument of what runs: behind Python's script or module, else behind the program.
std::uint32_t first_argument(std::span<const std::string> command);

// Python, the dynamic linker or a library reads such a variable once, when it is loaded: a change after that comes too
// late.
bool counts_at_start(std::string_view name);

// What all of them have alike; empty without any. Of names that are there once each.
Environment common_environment(std::span<const Environment> environments);

// The first name that counts at the start and has not the same value in both, or is in one only; empty: none.
std::string differs_at_start(std::span<const std::string> before, std::span<const std::string> after);

}  // namespace sml::plan
