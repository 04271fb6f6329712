// Scanning: which words of a command line are options, ours or another launcher's, and where the program begins.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/dialects/dialect.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/options.h"

namespace sml {

// What stands on a command line, up to the end of its first program.
struct Scan {
  // One that was taken of several that exclude each other.
  struct Chosen {
    const dialects::Row* row = nullptr;
    std::string written;
  };
  std::vector<Occurrence> options;
  std::vector<Chosen> chosen;
  Mode mode = Mode::Program;
  std::span<const std::string> program;
  bool another_follows = false;  // a ":" stood after the program
  dialects::Program program_is = dialects::Program::Unchanged;
  std::vector<std::string> notes;        // options of other launchers that have no effect
  std::vector<std::string> needs_hosts;  // what to say where no hosts are given
  dialects::Meeting meeting;
  std::string config_file;               // of another launcher
  std::vector<Occurrence> of_variables;  // of the launcher by whose name we are called
};

// Takes the options, the mode and the first program off the front of `words`, and the ":" behind it. Errors: Usage.
Result<Scan> scan(dialects::Dialect dialect, std::span<const std::string>& words);

// The same for a program after a ":", with the options that it may have of its own.
Result<Scan> scan_further(dialects::Dialect dialect, std::span<const std::string>& words);

// Takes one option of another launcher off the front of `words`; false: there is none.
Result<bool> take_foreign(dialects::Dialect dialect, std::span<const std::string>& words, Scan& out);

// Unless it is there already.
void add_note(std::vector<std::string>& notes, std::string note);

}  // namespace sml
