// --help.
#pragma once
#include <string>

namespace sml {

// Of the table: every option with all its spellings, at most 100 columns wide.
std::string help_text();

}  // namespace sml
