// Determines the command to start from the words in the program's position.
#pragma once
#include <string>
#include <vector>

#include "launcher/dialects/dialect.h"
#include "launcher/options/gather.h"
#include "launcher/options/scan.h"

namespace sml {

// The command for the program of `scanned`. Runs a script with Python if the launcher does so by whose name sml-run is
// called; under its own name if it is a file NAME.py that cannot be executed. A program of mpirun or srun that is not
// in PATH, but here, gets "./". Moves words that horovodrun treats as variables to scanned.options.
std::vector<std::string> take_command(dialects::Dialect dialect, Scan& scanned, const OptionSources& sources);

}  // namespace sml
