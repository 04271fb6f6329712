#include "launcher/inputs/own_address.h"

#include <cstddef>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/plan/environment/rendezvous_variables.h"
#include "common/plan/program/script.h"
#include "launcher/inputs/read_to_end.h"

namespace sml {

namespace {

constexpr std::size_t kScriptLimit = 1 << 20;

// Empty if it is not a regular file that can be read here.
std::string text_of(const plan::Script& script, const std::string& folder) {
  if (script.path.empty()) return "";
  const std::string path = (std::filesystem::path(folder) / script.path).string();
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  Result<std::string> text = read_to_end(file.get(), kScriptLimit);
  return text ? std::move(*text) : "";
}

}  // namespace

bool names_own_address(const plan::LaunchPlan& plan) {
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    const plan::Program& program = plan.program(i);
    const std::string text = text_of(plan::script_of(program.command), program.working_directory);
    if (plan::names_own_address(program.command, text)) return true;
  }
  return false;
}

}  // namespace sml
