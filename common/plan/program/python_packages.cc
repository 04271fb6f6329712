#include "common/plan/program/python_packages.h"

#include "common/plan/variables.h"

namespace sml::plan {

bool is_python(const std::string& program) { return program.substr(program.rfind('/') + 1).starts_with("python"); }

Folders package_folders(const std::string& program, std::span<const std::string> environment, const HostFiles& files) {
  Folders out;
  add_folders(out, variable(environment, "PYTHONPATH"));
  Folders roots;
  if (const std::string root(variable(environment, "VIRTUAL_ENV")); !root.empty()) add_folder(roots, root + "/lib/");
  add_folder(roots, folder_of(folder_of(program)) + "/lib/");
  if (const std::string home(variable(environment, "HOME")); !home.empty()) add_folder(roots, home + "/.local/lib/");
  for (const std::string& root : roots) {
    for (const std::string& name : files.list(root)) {
      if (!name.starts_with("python3")) continue;
      add_folder(out, root + name + "/site-packages");
      add_folder(out, root + name + "/dist-packages");
    }
  }
  return out;
}

}  // namespace sml::plan
