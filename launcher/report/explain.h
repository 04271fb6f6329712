// The output of --explain: every option with its value and the source of the value; and of --version. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sml::report {

enum class ValueSource : std::uint8_t { BuiltIn, Launcher, File, Environment, CommandLine };

struct ExplainedValue {
  std::string option;  // "--np"
  std::string value;   // secrets already masked; empty: not set
  ValueSource source = ValueSource::BuiltIn;
  std::string where;  // the source exactly: "FILE:LINE", "SML_NP", "-np", "mpirun"; empty for BuiltIn
};

// One line each; ends with a newline.
std::string explain_table(std::span<const ExplainedValue> values);

// {"options":[{"option":"--np","value":"4","source":"environment","where":"SML_NP"},...]} on one line; "value" is null
// if not set, "where" is null for built-in values.
std::string explain_json(std::span<const ExplainedValue> values);

// {"version":"0.1.0","libraries":{"libssh-dev":"0.10.6-0",...}} on one line; `libraries` has a line "PACKAGE VERSION"
// each.
std::string version_json(std::string_view version, std::string_view libraries);

}  // namespace sml::report
