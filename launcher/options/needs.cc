#include "launcher/options/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "launcher/options/option_table.h"

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

bool is_translated(const OptionValue& o) { return o.layer == Layer::CommandLine && find_row(o.spelling) != o.row; }

}  // namespace

std::vector<OptionValue> without_idle(std::span<const OptionValue> given) {
  std::vector<OptionValue> out;
  for (const OptionValue& o : given) {
    const bool may_be_idle = o.layer != Layer::CommandLine || is_translated(o);
    if (!may_be_idle || !lacks_one(o, given)) out.push_back(o);
  }
  return out;
}

std::vector<std::string> idle_translations(std::span<const OptionValue> given) {
  std::vector<std::string> out;
  for (const OptionValue& o : given) {
    if (is_translated(o) && lacks_one(o, given)) out.push_back(o.spelling);
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
