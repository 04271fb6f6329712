#include "launcher/options/text/program_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

bool in_path(string_view program, const OptionSources& sources) {
  const std::string* path = plan::find_variable(sources.environment, "PATH");
  for (const string_view folder : split(path == nullptr ? "" : plan::value_of(*path), ':')) {
    if (sources.exists(fmt::format("{}/{}", folder, program))) return true;
  }
  return false;
}

// The interpreter for scripts and modules.
std::string python(const OptionSources& sources) {
  const std::string* named = plan::find_variable(sources.environment, "PYTHON_EXEC");
  if (named != nullptr && !plan::value_of(*named).empty()) return std::string(plan::value_of(*named));
  return sources.exists && !in_path("python", sources) && in_path("python3", sources) ? "python3" : "python";
}

// As users of torchrun write it: a file in the working directory that can only be a script.
bool is_script(std::span<const std::string> program, const OptionSources& sources) {
  if (program.empty() || !program.front().ends_with(".py") || !sources.exists || !sources.executable) return false;
  const std::string& word = program.front();
  const bool of_path = word.find('/') == std::string::npos && in_path(word, sources);
  return sources.exists(word) && !sources.executable(word) && !of_path;
}

dialects::Program kind_of_program(Dialect dialect, const Scan& scanned, const OptionSources& sources) {
  const bool told = dialect != Dialect::Own || scanned.program_is != dialects::Program::Unchanged;
  return !told && is_script(scanned.program, sources) ? dialects::Program::Script : scanned.program_is;
}

// Open MPI and Slurm also look for a program in the working directory, after PATH.
bool is_here_only(Dialect dialect, const std::vector<std::string>& program, const OptionSources& sources) {
  const bool looks = dialect == Dialect::Mpirun || dialect == Dialect::Srun;
  if (!looks || program.empty() || !sources.exists || !sources.executable) return false;
  const std::string& word = program.front();
  return word.find('/') == std::string::npos && sources.exists(word) && sources.executable(word) &&
         !in_path(word, sources);
}

}  // namespace

std::vector<std::string> take_command(Dialect dialect, Scan& scanned, const OptionSources& sources) {
  dialects::Command command =
      dialects::command_of(dialect, kind_of_program(dialect, scanned, sources), scanned.program, python(sources));
  for (dialects::SetOption& variable : command.variables) {
    std::string spelling = std::string(plan::name_of(variable.value)) + "=";
    scanned.options.push_back({find_row(variable.option), std::move(spelling), std::move(variable.value)});
  }
  if (is_here_only(dialect, command.words, sources)) command.words.front().insert(0, "./");
  return std::move(command.words);
}

}  // namespace sml
