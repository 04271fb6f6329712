#include "launcher/options/option_table.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "launcher/options/rows/option_rows.h"

namespace sml {

namespace {

using std::string_view;

std::vector<string_view> words_of(string_view text) {
  std::vector<string_view> out;
  while (!text.empty()) out.push_back(take_until(text, ' '));
  return out;
}

// Does not build a list, since each word of a command line is compared with each row.
bool has_word(string_view text, string_view word) {
  if (word.empty() || word.find(' ') != string_view::npos) return false;
  for (std::size_t at = text.find(word); at != string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups = [] {
    std::vector<OptionGroup> all{options_of_workers(), options_of_hosts(), options_of_worker_environment()};
    for (OptionGroup& group : options_of_the_run()) all.push_back(std::move(group));
    all.push_back(options_of_restarts());
    all.push_back(options_of_the_output());
    all.push_back(options_of_the_progress());
    all.push_back(options_of_programs());
    all.push_back(options_of_placement());
    all.push_back(options_of_shares());
    all.push_back(options_of_arrays());
    all.push_back(options_of_data());
    all.push_back(options_of_the_records());
    all.push_back(options_of_dial_in());
    all.push_back(options_of_sagemaker());
    all.push_back(options_of_fifos());
    all.push_back(options_of_limits());
    all.push_back(options_of_ssh());
    all.push_back(options_of_information());
    return all;
  }();
  return groups;
}

std::vector<string_view> spellings_of(const OptionRow& row) { return words_of(row.spellings); }

std::vector<string_view> needs_of(const OptionRow& row) { return words_of(row.needs); }

std::vector<string_view> fixed_values_of(const OptionRow& row) {
  if (!row.fixed_values.empty()) return words_of(row.fixed_values);
  if (row.value.find('[') != string_view::npos) return {};  // fixed words follow another part of the value
  std::vector<string_view> out;
  for (string_view values = row.value; !values.empty();) {
    const string_view word = take_until(values, '|');
    // Words in capitals are placeholders.
    const bool is_fixed = std::none_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!word.empty() && is_fixed && word.front() >= 'a' && word.front() <= 'z') out.push_back(word);
  }
  return out;
}

string_view main_spelling(const OptionRow& row) { return row.spellings.substr(0, row.spellings.find(' ')); }

const OptionRow* find_row(string_view spelling) {
  const OptionRow* found = nullptr;
  for_each_row([&](const OptionRow& row) {
    if (has_word(row.spellings, spelling)) found = &row;
  });
  return found;
}

string_view without_dashes(string_view word) { return word.substr(std::min(word.find_first_not_of('-'), word.size())); }

}  // namespace sml
