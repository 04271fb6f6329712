// Formats a line of the launcher's own for the user.
#pragma once
#include <string>
#include <string_view>

namespace sml::report {

// "sml-run: TEXT". All messages of the launcher are formatted here, so that text from hosts, workers, files and servers
// cannot control the terminal, or begin a line that looks like another program's.
std::string own_line(std::string_view text);

}  // namespace sml::report
