// Setters of option_values.h for the workers' streams.
#include <utility>

#include "common/core/text.h"
#include "launcher/options/values/option_values.h"

namespace sml {

namespace {

using std::string_view;

Result<void> store_choice(std::optional<output::StreamChoice>& field, string_view value) {
  Result<output::StreamChoice> choice = output::StreamChoice::parse(value);
  if (!choice) return choice.error();
  field = std::move(*choice);
  return {};
}

}  // namespace

Result<void> set_redirects(Options& o, string_view value) { return store_choice(o.output.routes.redirected, value); }
Result<void> set_tee(Options& o, string_view value) { return store_choice(o.output.routes.teed, value); }

Result<void> set_tee_tag(Options& o, string_view value) {
  Result<output::TagTemplate> tag = output::TagTemplate::parse(value);
  if (!tag) return tag.error();
  o.output.teed_tag = std::move(*tag);
  return {};
}

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

}  // namespace sml
