#include "launcher/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"

namespace sml::report {

namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(ValueSource source) {
  switch (source) {
    case ValueSource::BuiltIn: return "built-in";
    case ValueSource::Launcher: return "launcher";
    case ValueSource::File: return "file";
    case ValueSource::Environment: return "environment";
    case ValueSource::CommandLine: return "command line";
  }
  return "";
}

std::string described(const ExplainedValue& value) {
  switch (value.source) {
    case ValueSource::BuiltIn: return "built-in";
    case ValueSource::Launcher: return "as " + value.where + " does";
    case ValueSource::File: return value.where;
    case ValueSource::Environment: return "variable " + value.where;
    case ValueSource::CommandLine: return "command line, " + value.where;
  }
  return "";
}

}  // namespace

std::string explain_table(std::span<const ExplainedValue> values) {
  constexpr std::size_t kWidest = 40;
  std::size_t option_width = 6;
  std::size_t value_width = 5;
  std::vector<std::string> shown;
  for (const ExplainedValue& v : values) {
    shown.push_back(v.value.empty() ? "-" : show(v.value, 400));
    option_width = std::max(option_width, v.option.size());
    value_width = std::max(value_width, std::min(shown.back().size(), kWidest));
  }
  std::string out = fmt::format("{:<{}}  {:<{}}  {}\n", "option", option_width, "value", value_width, "from");
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += fmt::format("{:<{}}  {:<{}}  {}\n", values[i].option, option_width, shown[i], value_width,
                       described(values[i]));
  }
  return out;
}

std::string explain_json(std::span<const ExplainedValue> values) {
  Json options = Json::array();
  for (const ExplainedValue& v : values) {
    Json one;
    one["option"] = v.option;
    one["value"] = v.value.empty() ? Json() : Json(v.value);
    one["source"] = name_of(v.source);
    one["where"] = v.where.empty() ? Json() : Json(v.where);
    options.push_back(std::move(one));
  }
  Json out;
  out["options"] = std::move(options);
  return out.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string version_json(std::string_view version, std::string_view libraries) {
  Json inside = Json::object();
  for (const std::string_view line : split(libraries, '\n')) {
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) inside[std::string(line.substr(0, space))] = line.substr(space + 1);
  }
  return Json{{"version", version}, {"libraries", std::move(inside)}}.dump();
}

}  // namespace sml::report
