// --install-links: creates the names of other launchers, under which sml-run accepts their command lines.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"

namespace sml {

// Makes a symbolic link of each such name to `program`, an absolute path, in an existing folder. A link to a file with
// the name of `program` is replaced; if anything else has one of the names, the folder stays as it is. Returns the
// paths of all links. The error (Config) names everything that is in the way.
Result<std::vector<std::string>> install_links(const std::string& folder, const std::string& program);

// The path of the file that this process runs; error (Config) if it is gone.
Result<std::string> own_program();

}  // namespace sml
