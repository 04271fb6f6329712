// What is started for the words that stand where the program does.
#pragma once
#include <string>
#include <vector>

#include "launcher/dialects/dialect.h"
#include "launcher/options/gather.h"
#include "launcher/options/scan.h"

namespace sml {

// The program of `scanned`: a script is given to Python, as the launcher does by whose name we are called; what
// horovodrun takes for variables becomes options.
std::vector<std::string> take_command(dialects::Dialect dialect, Scan& scanned, const OptionSources& around);

}  // namespace sml
