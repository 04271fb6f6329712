// Setters of option_values.h for the workers' streams.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/text.h"
#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"
#include "launcher/output/log_layout.h"

namespace sml {

namespace {

using std::string_view;

Result<void> store_layout(std::string& field, string_view value) {
  const Result<output::LogLayout> layout = output::LogLayout::parse(value);
  if (!layout) return Error(ErrorKind::Usage, fmt::format("{} {}", show(value), layout.error().message()));
  return keep(field, value);
}

// Words between commas, where two commas stand for one that belongs to the word. An empty word is in every line.
Result<void> store_words(std::vector<std::string>& field, string_view value) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool doubled = value.substr(at).starts_with(",,");
    if (value[at] == ',' && !doubled) {
      words.emplace_back();
    } else {
      words.back() += value[at];
    }
    if (doubled) ++at;
  }
  field = std::move(words);
  return {};
}

}  // namespace

Result<void> set_show_local_ranks(Options& o, string_view value) {
  Result<RankSet> ranks = RankSet::parse(value, plan::kMaxSlotsPerHost);
  if (!ranks) return ranks.error();
  o.output.shown_local_ranks = std::move(*ranks);
  return {};
}

Result<void> set_run_id(Options& o, string_view value) {
  constexpr std::size_t kLongest = 128;
  if (value.size() > kLongest || value.find('\0') != string_view::npos) {
    return Error(ErrorKind::Usage, "\"" + show(value, 80) + "\" is not a name of at most 128 characters");
  }
  o.run_id = value;
  return {};
}

Result<void> set_log_layout(Options& o, string_view value) { return store_layout(o.logs.layout, value); }
Result<void> set_log_match_layout(Options& o, string_view value) { return store_layout(o.logs.matched.layout, value); }

Result<void> set_log_match_stdout(Options& o, string_view value) {
  return store_words(o.logs.matched.stdout_words, value);
}

Result<void> set_log_match_stderr(Options& o, string_view value) {
  return store_words(o.logs.matched.stderr_words, value);
}

}  // namespace sml
