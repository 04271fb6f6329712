// --install-links: the names of other launchers, under which sml-run runs their lines.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"

namespace sml {

// Makes a link of each such name to `program`, a path from the root, in a folder that is there. A link to a file of
// that name is ours and made anew; when anything else stands in the place of one nothing is changed. Answers the
// paths of all. Error (Config) names what is in the way, all of it.
Result<std::vector<std::string>> install_links(const std::string& folder, const std::string& program);

// The path of the file that this process runs; error (Config) when it is gone.
Result<std::string> own_program();

}  // namespace sml
