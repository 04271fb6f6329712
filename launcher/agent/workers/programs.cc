#include "launcher/agent/workers/programs.h"

#include <algorithm>

#include <unistd.h>

#include "common/os/spawn.h"
#include "common/plan/program/script.h"

namespace sml::agent {

namespace {

std::string below(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

Result<void> check_script(const wire::App& app, const plan::Environment& environment) {
  const plan::Script script = plan::script_of(app.argv);
  if (script.path.empty()) return {};
  const auto is_there = [&app](const std::string& path) {
    return ::access(below(app.working_directory, path).c_str(), F_OK) == 0;
  };
  const bool of_shell = script.place == plan::ScriptPlace::FolderOrPath;
  if (is_there(script.path)) return {};
  if (of_shell) {
    const std::vector<std::string> in_path = os::program_candidates(script.path, environment);
    if (std::any_of(in_path.begin(), in_path.end(), is_there)) return {};
  }
  // A shell exits with 127 in this case, python and perl with 2.
  return Error(of_shell ? ErrorKind::NotFound : ErrorKind::Config,
               "there is no file " + script.path + " for " + app.argv.front() + " to run")
      .with_hint(script.path.starts_with('/') ? "the path must exist on every host"
                                              : "it is looked for in the working directory, " + app.working_directory +
                                                    ", on every host (--wdir)");
}

plan::Environment to_search(const wire::App& app, const plan::Environment& environment) {
  if (app.search_path.empty()) return environment;
  const std::string* path = plan::find_variable(environment, "PATH");
  const std::string behind = path == nullptr ? std::string() : ":" + std::string(plan::value_of(*path));
  plan::Environment out = environment;
  out.insert(out.begin(), "PATH=" + app.search_path + behind);
  return out;
}

}  // namespace

Result<std::string> find_program(const wire::App& app, const plan::Environment& environment) {
  if (app.argv.empty()) {  // there is no program, but the workers' directory must exist
    const Result<void> there = os::check_directory(app.working_directory);
    return there ? Result<std::string>(std::string()) : Result<std::string>(there.error());
  }
  Result<std::string> found = os::find_program(app.argv, to_search(app, environment), app.working_directory);
  if (!found) return found;
  if (Result<void> script = check_script(app, environment); !script) return script.error();
  return found;
}

}  // namespace sml::agent
