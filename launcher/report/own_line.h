// A line of our own, as people get to see it.
#pragma once
#include <string>
#include <string_view>

namespace sml::report {

// "sml-run: TEXT". Whoever says something of ours goes through here, so that nothing of what hosts, workers, files and
// servers have told can steer the terminal, or begin a line that looks like another's.
std::string own_line(std::string_view text);

}  // namespace sml::report
