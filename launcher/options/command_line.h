// The command line. The only place that knows CLI11.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/options.h"

namespace sml {

// What to print on stdout and leave with status 0: --help, --version, --explain, --completion.
struct Printed {
  std::string text;
};

// Where options come from beside the command line; injected so that tests need none.
struct Surroundings {
  std::span<const std::string> environment = {};
  std::string_view called = {};  // argv[0]: by the name of another launcher its options mean what they mean there
  std::function<bool(const std::string& path)> exists = {};
  std::function<bool(const std::string& path)> executable = {};
  std::function<Result<std::string>(const std::string& path, std::size_t limit)> read_file = {};  // none: no --config
  // What to do where the hosts of a job share no secret; empty, or null: they do.
  std::function<std::string_view()> secret_advice = {};
};

// Parses argv (without the program's own name). The first word that is not an option, or "--", ends the options; all
// after it is the program's and is not looked at, but a word ":" after which another program follows with options of
// its own; after "--" that is the program's too. What the command line does not say, SML_* variables do, then the file
// of
// --config; they say it of the first program. Errors are of kind Usage, or Config for that file: one sentence, with the
// nearest known option for an unknown one, and the variable or the line for a value that is not on the command line.
Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments,
                                                          const Surroundings& around = {});

// One further program with its options, as it stands after a ":" or on a line of --app. Errors as above.
Result<ProgramOptions> parse_program(std::span<const std::string> words);

// Every long option, without dashes, sorted: for the man page and completion checks.
std::vector<std::string> long_options();

}  // namespace sml
