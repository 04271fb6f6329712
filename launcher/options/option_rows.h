// Groups of the option table that have a file of their own, and helpers that the table's files share.
#pragma once
#include <string_view>

#include "launcher/options/option_table.h"

namespace sml {

// Marks a row as having no effect unless one of the options `needed` is given.
inline OptionRow needing(std::string_view needed, OptionRow row) {
  row.needs = needed;
  return row;
}

// Options about the progress of the job while it runs.
OptionGroup options_of_the_progress();

}  // namespace sml
