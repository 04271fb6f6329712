// Words that people know from other programs, and what sml-run has for them: options that it does not have, and topics
// of --help that have other names. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace sml {

// The advice for `name`, an option of another program without its dashes; empty: it is not known.
std::string advice_on_foreign_option(std::string_view name);

// A topic of --help under the names that other programs give it.
struct OtherTopic {
  std::string_view words;   // separated by blanks
  std::string_view text;    // lines that are shown first; may be empty
  std::string_view topics;  // topics whose options follow, and options, separated by blanks; may be empty
};

// The topic that people mean by `word`; null if there is none.
const OtherTopic* other_topic(std::string_view word);

// All of them: for guesses at misspelled words, and for tests.
std::span<const OtherTopic> other_topics();

}  // namespace sml
