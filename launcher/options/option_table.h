// The single table of all options, used by parser, --help, completion, --config, SML_* variables and --explain; the
// manual is checked against it. A new option is a row in a file of rows/ and a field of Options; a value with a
// grammar of its own has a function in option_values.h, others a binder of value_binders.h.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/values/option_values.h"

namespace sml {

enum class Repeat : std::uint8_t { LastCounts, AddsUp };
// AsRare: by --help rare alone; no shell completes it. UnderOtherNames: only lines of other launchers lead to it; under
// the name sml-run it is no option, no variable and no key of a file.
enum class Listed : std::uint8_t { InItsTopic, AsRare, UnderOtherNames };
enum class HoldsFor : std::uint8_t { Job, Program };  // Program: may be given for each of several programs

// Keeps the text of a value in its field. Errors continue after "--option: ".
using SetOption = Result<void> (*)(Options& options, std::string_view value);

struct OptionRow {
  std::string_view spellings;  // the documented spelling first
  std::string_view value;      // empty: the option takes no value
  SetOption set;               // null for --help and --version, which exist on the command line only
  std::string_view help;
  std::string_view built_in = "";  // the default; empty: not set
  Repeat repeat = Repeat::LastCounts;
  std::string_view needs = "";  // main spellings: has no effect without one of these; empty: needs none
  HoldsFor holds_for = HoldsFor::Job;
  std::string_view fixed_values = "";  // the fixed words if `value` is only a name for them; empty: `value` lists them
  Listed listed = Listed::InItsTopic;

  bool is_flag() const { return value.empty(); }
};

struct OptionGroup {
  std::string_view title;
  std::string_view topic;  // argument of --help
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
