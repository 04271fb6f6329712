// Parses the command line.
#pragma once
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"

namespace sml {

// Text to print on stdout before leaving with status 0: --help, --version, --explain, --completion.
struct Printed {
  std::string text;
};

// Parses argv (without the program's own name). The first word that is not an option, or "--", ends the options; all
// words after it belong to the program and are not parsed, except a word ":", after which another program follows with
// options of its own; after "--", ":" belongs to the program, too. Options missing on the command line are taken from
// SML_* variables, then from the file of --config; these apply to the first program. Errors are of kind Usage, or
// Config for that file: one sentence, with the nearest known option for an unknown one, and with the variable or the
// line for a value that is not on the command line.
Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments,
                                                          const OptionSources& sources = {});

// Parses one further program with its options, from after a ":" or from a line of --app. Errors as above.
Result<ProgramOptions> parse_program(std::span<const std::string> words);

// Every long option, without dashes, sorted: for checks of the man page and of the completion.
std::vector<std::string> long_options();

}  // namespace sml
