// Determines the command to start from the words in the program's position.
#pragma once
#include <string>
#include <vector>

#include "launcher/dialects/dialect.h"
#include "launcher/options/gather.h"
#include "launcher/options/scan.h"

namespace sml {

// The command for the program of `scanned`: runs a script with Python, as the launcher by whose name sml-run is called
// does; converts words that horovodrun treats as variables to options.
std::vector<std::string> take_command(dialects::Dialect dialect, Scan& scanned, const OptionSources& sources);

}  // namespace sml
