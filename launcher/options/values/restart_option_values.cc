// Setters of option_values.h for restarts and their hosts.
#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

namespace {

using std::string_view;

}  // namespace

Result<void> set_max_restarts(Options& o, string_view value) {
  constexpr std::uint32_t kMost = 1'000'000;
  return store(o.restart.max, number(value, {0, kMost}));
}

Result<void> set_exclude_after(Options& o, string_view value) { return o.restart.exclude.read_after(value); }
Result<void> set_exclude_for(Options& o, string_view value) { return o.restart.exclude.read_cool_down(value); }

Result<void> add_give_up(Options& o, string_view value) {
  const Result<std::vector<GiveUpRule>> rules = GiveUpRule::parse(value);
  if (!rules) return rules.error();
  o.restart.give_up.insert(o.restart.give_up.end(), rules->begin(), rules->end());
  return {};
}

}  // namespace sml
