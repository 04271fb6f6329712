// Finds the folders in which a Python looks for packages. Pure.
#pragma once
#include <span>
#include <string>

#include "common/plan/program/folders.h"
#include "common/plan/program/host_files.h"

namespace sml::plan {

// True for a Python interpreter, by the file's name.
bool is_python(const std::string& program);

// The package folders that an interpreter would search, in its order: those of PYTHONPATH, of the active virtual
// environment, below the interpreter's own prefix (including Debian's dist-packages), and below the user's home.
// Folders that configuration files (.pth) add are not found.
Folders package_folders(const std::string& program, std::span<const std::string> environment, const HostFiles& files);

}  // namespace sml::plan
