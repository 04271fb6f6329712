// The command line. The only place that knows CLI11.
#pragma once
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "launcher/options.h"

namespace sml {

// What to print on stdout and leave with status 0: --help, --version.
struct Printed {
  std::string text;
};

// Parses argv (without the program's own name). Reads no file and no environment variable. The first word that is not
// an option, or "--", ends the options; all after it is the program's and is not looked at, but a word ":" after which
// another program follows with options of its own; after "--" that is the program's too. Errors are of kind Usage:
// one sentence, with the nearest known option for an unknown one.
Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments);

// One further program with its options, as it stands after a ":" or on a line of --app. Errors as above.
Result<ProgramOptions> parse_program(std::span<const std::string> words);

// Every long option, without dashes, sorted: for the man page and completion checks.
std::vector<std::string> long_options();

}  // namespace sml
