// The names that --host-source accepts.
#pragma once
#include <string_view>
#include <vector>

namespace sml {

// In the order in which the sources are tried; launcher/inputs/hosts/host_source.cc has a finder for each.
std::vector<std::string_view> host_source_names();

}  // namespace sml
