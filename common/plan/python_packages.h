// Where a Python finds its packages. Pure.
#pragma once
#include <span>
#include <string>

#include "common/plan/folders.h"
#include "common/plan/host_files.h"

namespace sml::plan {

// By its name.
bool is_python(const std::string& program);

// The folders of packages that an interpreter would look into, in its order: those of PYTHONPATH, of the active
// environment, below its own prefix and as Debian has it, and the user's own. What its configuration adds (.pth) is not
// seen.
Folders package_folders(const std::string& program, std::span<const std::string> environment, const HostFiles& files);

}  // namespace sml::plan
