// --help.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/dialects/dialect.h"

namespace sml {

// Of the table. No topic: a screen of 24 lines and 80 columns with the options of daily use; by the name of another
// launcher, which options of that are understood stands before them. "all": every option with all its spellings, at
// most 100 columns wide. Else the options of a group, or the one of that name. Error (Usage): there is no such topic.
Result<std::string> help_text(dialects::Dialect dialect, std::string_view topic);

// What may follow --help beside options, sorted.
std::vector<std::string_view> help_topics();

}  // namespace sml
