// The one table of all options: parser, --help, completion, --config, SML_* variables and --explain read it, and the
// manual is checked against it. A new option is a row in option_table.cc and a SetOption of option_values.h.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/option_values.h"

namespace sml {

enum class Repeat : std::uint8_t { LastCounts, AddsUp };
enum class HoldsFor : std::uint8_t { Job, Program };  // Program: each of several says it for itself

struct OptionRow {
  std::string_view spellings;  // the documented form first
  std::string_view value;      // empty: the option takes none
  SetOption set;               // null: --help and --version, which only the command line has
  std::string_view help;
  std::string_view built_in = "";  // what counts when nothing is given; empty: nothing is set
  Repeat repeat = Repeat::LastCounts;
  std::string_view needs = "";  // main spellings: it means nothing without one of these; empty: nothing is needed
  HoldsFor holds_for = HoldsFor::Job;
  std::string_view fixed_values = "";  // those of which `value` is only the name; empty: it has them all

  bool is_flag() const { return value.empty(); }
};

struct OptionGroup {
  std::string_view title;
  std::string_view topic;  // for --help
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
// The words that a value may be; "N|auto|gpu" has auto and gpu.
std::vector<std::string_view> fixed_values_of(const OptionRow& row);
std::vector<std::string_view> needs_of(const OptionRow& row);
std::string_view without_dashes(std::string_view word);

// The row that has this spelling; null when there is none.
const OptionRow* find_row(std::string_view spelling);

}  // namespace sml
