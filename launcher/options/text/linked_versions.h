// Lists the libraries that are linked into the programs, with their package versions.
#pragma once
#include <string_view>

namespace sml {

// A line "PACKAGE VERSION" for each Debian package whose libraries or headers are used, as of the configuration of the
// build; empty if they are not from packages.
std::string_view linked_versions();

}  // namespace sml
