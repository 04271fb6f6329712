#include "launcher/options/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sml {

namespace {

using std::string_view;

bool is_met(const OptionRow& row, std::span<const OptionValue> given) {
  const std::vector<string_view> needed = needs_of(row);
  return std::any_of(given.begin(), given.end(), [&](const OptionValue& o) {
    return std::find(needed.begin(), needed.end(), main_spelling(*o.row)) != needed.end();
  });
}

bool lacks_one(const OptionValue& o, std::span<const OptionValue> given) {
  return !o.row->needs.empty() && !is_met(*o.row, given);
}

}  // namespace

std::vector<OptionValue> without_idle(std::span<const OptionValue> given) {
  std::vector<OptionValue> out;
  for (const OptionValue& o : given) {
    if (o.layer == Layer::CommandLine || !lacks_one(o, given)) out.push_back(o);
  }
  return out;
}

Result<void> check_needs(std::span<const OptionValue> given) {
  for (const OptionValue& o : given) {
    if (!lacks_one(o, given)) continue;
    return Error(ErrorKind::Usage,
                 fmt::format("{} requires {}", main_spelling(*o.row), fmt::join(needs_of(*o.row), " or ")));
  }
  return {};
}

}  // namespace sml
