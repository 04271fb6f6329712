// What --explain prints: every option with its value, and who gave it. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sml::report {

enum class ValueSource : std::uint8_t { BuiltIn, Launcher, File, Environment, CommandLine };

struct ExplainedValue {
  std::string option;  // "--np"
  std::string value;   // secrets masked already; empty: nothing is set
  ValueSource source = ValueSource::BuiltIn;
  std::string where;  // "FILE:LINE", "SML_NP", "-np", "mpirun"; empty for BuiltIn
};

// A line each; ends with a newline.
std::string explain_table(std::span<const ExplainedValue> values);

// {"options":[{"option":"--np","value":"4","source":"environment","where":"SML_NP"},...]} on one line; a value that is
// not set is null, and so is the place of what is built in.
std::string explain_json(std::span<const ExplainedValue> values);

}  // namespace sml::report
