#include "launcher/options/text/explained.h"

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "common/plan/environment/secrets.h"

namespace sml {

namespace {

using std::string_view;

std::string unmasked_part(const OptionValue& o) {
  if (o.row->is_flag()) return o.value == kNo ? std::string(kNo) : "yes";
  const bool variable = main_spelling(*o.row) == "-x" && o.value.find('=') != std::string::npos;
  if (variable && (plan::names_a_secret(plan::name_of(o.value)) || plan::holds_a_secret(o.value)))
    return std::string(plan::name_of(o.value)) + "=(hidden)";
  return o.value;
}

report::ValueSource source_of(Layer layer) {
  switch (layer) {
    case Layer::Dialect: return report::ValueSource::Launcher;
    case Layer::File: return report::ValueSource::File;
    case Layer::Environment: return report::ValueSource::Environment;
    case Layer::CommandLine: return report::ValueSource::CommandLine;
  }
  return report::ValueSource::BuiltIn;
}

}  // namespace

std::vector<report::ExplainedValue> explained(std::span<const OptionValue> given) {
  std::vector<report::ExplainedValue> out;
  for_each_row([&](const OptionRow& row) {
    if (row.set == nullptr) return;
    const std::string name(main_spelling(row));
    std::vector<report::ExplainedValue> values;
    for (const OptionValue& o : given) {
      if (o.row != &row) continue;
      if (row.repeat == Repeat::LastCounts) values.clear();
      values.push_back({name, unmasked_part(o), source_of(o.layer), o.where.empty() ? o.spelling : o.where});
    }
    if (values.empty() && row.listed == Listed::UnderOtherNames) return;
    if (values.empty()) {
      const string_view value = row.is_flag() ? kNo : row.built_in;
      values.push_back({name, std::string(value), report::ValueSource::BuiltIn, ""});
    }
    std::move(values.begin(), values.end(), std::back_inserter(out));
  });
  return out;
}

}  // namespace sml
