// The command line.
#pragma once
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"

namespace sml {

// What to print on stdout and leave with status 0: --help, --version, --explain, --completion.
struct Printed {
  std::string text;
};

// Parses argv (without the program's own name). The first word that is not an option, or "--", ends the options; all
// after it is the program's and is not looked at, but a word ":" after which another program follows with options of
// its own; after "--" that is the program's too. What the command line does not say, SML_* variables do, then the file
// of
// --config; they say it of the first program. Errors are of kind Usage, or Config for that file: one sentence, with the
// nearest known option for an unknown one, and the variable or the line for a value that is not on the command line.
Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments,
                                                          const OptionSources& around = {});

// One further program with its options, as it stands after a ":" or on a line of --app. Errors as above.
Result<ProgramOptions> parse_program(std::span<const std::string> words);

// Every long option, without dashes, sorted: for the man page and completion checks.
std::vector<std::string> long_options();

}  // namespace sml
