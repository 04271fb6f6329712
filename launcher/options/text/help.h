// The text of --help.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/dialects/dialect.h"

namespace sml {

// Help from the option table. No topic: a screen of 24 lines and 80 columns with the most common options; when called
// by the name of another launcher, preceded by the options of that launcher that are understood. "all": every option
// with all its spellings, at most 100 columns wide. Otherwise the options of a group, one option, an option of another
// launcher, what people mean by that word, or the options whose help has it. Error (Usage): no such topic.
Result<std::string> help_text(dialects::Dialect dialect, std::string_view topic);

// First command lines to try, for whoever calls sml-run, under the name `called`, without a word; empty under the name
// of another launcher. At most 80 columns, ends with a newline.
std::string newcomer_text(std::string_view called);

// The topics, other than options, that may follow --help, sorted.
std::vector<std::string_view> help_topics();

}  // namespace sml
