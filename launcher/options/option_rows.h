// Groups of the option table that have a file of their own, and what its files share.
#pragma once
#include <string_view>

#include "launcher/options/option_table.h"

namespace sml {

// Means nothing where none of the options `needed` is given.
inline OptionRow needing(std::string_view needed, OptionRow row) {
  row.needs = needed;
  return row;
}

// What is told of the job, and asked of it, while it runs.
OptionGroup options_of_the_progress();

}  // namespace sml
