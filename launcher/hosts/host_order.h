// The order of hosts, which determines that of the ranks.
#pragma once
#include <string_view>

namespace sml::hosts {

// Compares numbers within names by their value: algo-2 before algo-10, n01 before n1. A total order.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace sml::hosts
