#include "launcher/options/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "launcher/options/values/option_values.h"

namespace sml {

namespace {

using std::string_view;

// CLI11 does not support long options with a single dash, so it sees each option under one long name.
std::string parser_name(const OptionRow& row) { return "--" + std::string(without_dashes(main_spelling(row))); }

// Suggests the nearest of the option's fixed words; empty if none is near.
std::string suggestion(const OptionRow& row, string_view value) {
  const std::vector<string_view> known = fixed_values_of(row);
  for (const string_view word : split(value, ',')) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const string_view meant = nearest(word, known);
    return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
  }
  return "";
}

class Parser {
 public:
  // Every value is checked, even if a later one replaces it. Registers only options that are given, since CLI11
  // compares each new option with all others.
  explicit Parser(std::span<const OptionValue> given) : given_(given) {
    app_.set_help_flag();
    std::vector<const OptionRow*> rows;
    for (const OptionValue& o : given_) rows.push_back(o.row);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (const OptionRow* row : rows) add(*row);
  }

  Result<Options> parse() {
    std::vector<std::string> words;
    for (const OptionValue& o : given_) words.push_back(parser_name(*o.row) + (o.row->is_flag() ? "" : "=" + o.value));
    std::reverse(words.begin(), words.end());  // CLI11 expects the reverse order
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      return Error(ErrorKind::Usage, error.what());
    }
    const CLI::Option* forward_signals = app_.get_option_no_throw("--forward-signals");
    const auto forward = forward_signals == nullptr ? ForwardSignals::Default : ForwardSignals::Given;
    if (Result<void> settled = settle_status_signal(options_, forward); !settled) return settled.error();
    if (Result<void> settled = settle_watch(options_); !settled) return settled.error();
    if (options_.dry_run) options_.dry_run = options_.format;
    return std::move(options_);
  }

 private:
  void add(const OptionRow& row) {
    // Called for each occurrence in order, so that the last value wins and repeated options add up.
    const auto set = [this](const std::string& value) { set_next(value); };
    if (row.is_flag()) {
      app_.add_flag_callback(parser_name(row), [set] { set(""); })->trigger_on_parse();
    } else {
      app_.add_option_function<std::string>(parser_name(row), set)->trigger_on_parse();
    }
  }
  void set_next(string_view value) {
    const OptionValue& occurrence = given_[next_++];
    const Result<void> done = occurrence.row->set(options_, value);
    if (done) return;
    const std::string hint = done.error().hint();
    throw CLI::ValidationError(fmt::format("{}: {}{}", occurrence.spelling, done.error().message(),
                                           hint.empty() ? suggestion(*occurrence.row, value) : "; " + hint));
  }

  std::span<const OptionValue> given_;
  std::size_t next_ = 0;
  Options options_;
  CLI::App app_;
};

}  // namespace

Result<Options> parse_options(std::span<const OptionValue> given) { return Parser(given).parse(); }

}  // namespace sml
