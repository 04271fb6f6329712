// Splits a command line into the options, of sml-run or of another launcher, and the program.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/dialects/dialect.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/options.h"

namespace sml {

// The contents of a command line up to the end of its first program.
struct Scan {
  // An option taken from a group of mutually exclusive ones.
  struct Chosen {
    const dialects::Row* row = nullptr;
    std::string written;
  };
  std::vector<OptionValue> options;  // as options of sml-run, in the order of the line
  std::vector<Chosen> chosen;
  Mode mode = Mode::Program;
  std::span<const std::string> program;  // its words; refers to the words that were scanned
  bool another_follows = false;          // a ":" followed the program
  dialects::Program program_is = dialects::Program::Unchanged;
  std::vector<std::string> notes;        // options of other launchers without effect
  std::vector<std::string> needs_hosts;  // errors; the first is reported if no hosts are given
  std::vector<std::string> needs_count;  // the same, under the name sml-run, if the number of workers is not given
  dialects::RendezvousOptions rendezvous;
  std::vector<dialects::WrittenOption> for_defaults;  // see dialects::DialectInput
  std::string config_file;                            // settings file of another launcher; empty: none is named
  std::vector<OptionValue> of_variables;              // from variables of the launcher by whose name sml-run is called
};

// Removes the options, the mode and the first program from the front of `words`, and the ":" after it. Errors: Usage.
Result<Scan> scan(dialects::Dialect dialect, std::span<const std::string>& words);

// The same for a program after a ":", which may have only options that apply to a program.
Result<Scan> scan_further(dialects::Dialect dialect, std::span<const std::string>& words);

// Moves one option of another launcher, with its values, from the front of `words` to `out`. False: the first word is
// none, and stays. Error (Usage).
Result<bool> take_foreign(dialects::Dialect dialect, std::span<const std::string>& words, Scan& out);

// Adds the note unless it is already there.
void add_note(std::vector<std::string>& notes, std::string note);

}  // namespace sml
