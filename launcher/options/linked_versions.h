// Names the libraries that are linked into the programs, with the revisions of their packages.
#pragma once
#include <string_view>

namespace sml {

// A line "PACKAGE VERSION" for each of Debian's packages that libraries and headers inside are of, as they were when
// the build was configured; empty where they were not of such.
std::string_view linked_versions();

}  // namespace sml
