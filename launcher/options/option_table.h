// The single table of all options. The parser, --help, completion, --config, SML_* variables and --explain use it, and
// the manual is checked against it.
// A new option needs a row in a file of rows/ and a field of Options. A value with a grammar of its own has a function
// in option_values.h; all others use a function template of value_binders.h.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/values/option_values.h"

namespace sml {

// If an option is given several times: the last value counts, or all values are kept.
enum class Repeat : std::uint8_t { LastCounts, AddsUp };
// Where an option is shown. AsRare: only by --help rare, and no shell completes it. UnderOtherNames: it exists only in
// command lines of other launchers; under the name sml-run it is no option, no variable and no key of a file.
enum class Listed : std::uint8_t { InItsTopic, AsRare, UnderOtherNames };
enum class HoldsFor : std::uint8_t { Job, Program };  // Program: each of several programs may have it

struct OptionRow {
  std::string_view spellings;  // separated by blanks; the main one, which is documented, is the first
  std::string_view value;      // a name or pattern of the value, for --help; empty: the option is a flag, without value
  Setter set;                  // null for --help and --version, which exist on the command line only
  std::string_view help;
  std::string_view built_in = "";  // the default; empty: not set
  Repeat repeat = Repeat::LastCounts;
  std::string_view needs = "";  // main spellings: the option has no effect without one of these; empty: needs none
  HoldsFor holds_for = HoldsFor::Job;
  std::string_view fixed_values = "";  // the fixed words if `value` is only a name for them; empty: `value` lists them
  Listed listed = Listed::InItsTopic;

  bool is_flag() const { return value.empty(); }
};

struct OptionGroup {
  std::string_view title;
  std::string_view topic;  // the argument of --help that shows this group
  std::vector<OptionRow> rows;
};

const std::vector<OptionGroup>& option_groups();

template <class Visit>
void for_each_row(Visit visit) {
  for (const OptionGroup& group : option_groups()) {
    for (const OptionRow& row : group.rows) visit(row);
  }
}

std::vector<std::string_view> spellings_of(const OptionRow& row);
std::string_view main_spelling(const OptionRow& row);
// The fixed words that a value may be; "N|auto|gpu" has auto and gpu.
std::vector<std::string_view> fixed_values_of(const OptionRow& row);
std::vector<std::string_view> needs_of(const OptionRow& row);
std::string_view without_dashes(std::string_view word);

// The row with this spelling; null if there is none.
const OptionRow* find_row(std::string_view spelling);

}  // namespace sml
