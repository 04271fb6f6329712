#include "launcher/options/option_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/options/settings_file.h"

namespace sml {

namespace {

using std::string_view;

constexpr string_view kPrefix = "SML_";
constexpr string_view kExportSection = "x";  // section [x] of a file: the variables of -x

// ---- variables

bool is_told_to_workers(string_view name) {
  const std::vector<plan::VariableMeaning> known = plan::worker_variables();
  return std::any_of(known.begin(), known.end(), [&](const auto& v) { return v.name == name; });
}

bool is_read_elsewhere(string_view name) {
  constexpr std::array<string_view, 3> kOthers{"SML_ARRAY_INDEX", "SML_NUM_HOSTS", "SML_JOB_SECRET"};
  return std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

bool has_another_meaning(string_view name) { return is_read_elsewhere(name) || is_told_to_workers(name); }

// Variables that Kubernetes sets in all pods for a service whose name begins with "sml".
bool is_of_service(string_view name) {
  return name.ends_with("_SERVICE_HOST") || name.find("_SERVICE_PORT") != name.npos || name.ends_with("_PORT") ||
         name.find("_PORT_") != name.npos;
}

std::vector<const OptionRow*> rows_with_variable() {
  std::vector<const OptionRow*> rows;
  for_each_row([&](const OptionRow& row) {
    if (!variable_of(row).empty()) rows.push_back(&row);
  });
  return rows;
}

// Warns of variables whose names are unknown, but resemble an option's.
void warn_of_mistakes(std::span<const std::string> environment, std::span<const std::string> ours,
                      std::vector<std::string>& warnings) {
  const bool in_a_worker = plan::find_variable(environment, "SML_JOB_ID") != nullptr;
  std::string unknown;
  std::vector<string_view> ends;  // without the prefix, which all names share
  for (const std::string& name : ours) ends.push_back(string_view(name).substr(kPrefix.size()));
  for (const std::string& entry : environment) {
    const string_view name = plan::name_of(entry);
    const bool known = std::find(ours.begin(), ours.end(), name) != ours.end();
    if (!name.starts_with(kPrefix) || known || is_of_service(name)) continue;
    if (is_read_elsewhere(name) || (in_a_worker && is_told_to_workers(name))) continue;
    const string_view best = nearest(name.substr(kPrefix.size()), ends);
    constexpr std::size_t kLeast = 4;
    if (best.size() >= kLeast) {
      warnings.push_back(fmt::format("the variable {} is not read; did you mean SML_{}?", show(name, 80), best));
    } else {
      unknown += (unknown.empty() ? "" : ", ") + show(name, 80);
    }
  }
  if (!unknown.empty()) {
    warnings.push_back(fmt::format("not read: {}; options have the names SML_* of sml-run --help all", unknown));
  }
}

// ---- values

// True or false for a recognized word; nullopt for any other.
std::optional<bool> truth(string_view text) {
  const std::string word = lower(text);
  constexpr std::array<string_view, 4> kYes{"1", "true", "yes", "on"};
  constexpr std::array<string_view, 4> kNot{"0", "false", "no", "off"};
  if (std::find(kYes.begin(), kYes.end(), word) != kYes.end()) return true;
  if (std::find(kNot.begin(), kNot.end(), word) != kNot.end()) return false;
  return std::nullopt;
}

// `given` is complete except for the value.
Result<std::vector<OptionValue>> occurrences(const OptionValue& given, std::vector<std::string> values) {
  std::vector<OptionValue> out;
  if (given.row->is_flag()) {
    const std::optional<bool> yes = values.size() == 1 ? truth(values.front()) : std::nullopt;
    if (!yes) {
      return Error(ErrorKind::Usage,
                   fmt::format("{}: {} is neither 1, true, yes or on, nor 0, false, no or off", given.spelling,
                               values.size() == 1 ? "\"" + show(values.front(), 80) + "\"" : "a list"));
    }
    values = {*yes ? "yes" : std::string(kNo)};
  } else if (given.row->repeat == Repeat::LastCounts) {
    values = {fmt::format("{}", fmt::join(values, ","))};
  }
  for (std::string& value : values) {
    out.push_back(given);
    out.back().value = std::move(value);
    if (!out.back().value.empty()) continue;
    return Error(ErrorKind::Usage, fmt::format("{} has an empty value; expected {}", given.spelling, given.row->value));
  }
  return out;
}

// ---- keys

std::string with_dashes(string_view key) {
  std::string out(key);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

const OptionRow* row_of_key(string_view key) {
  for (const std::string& name : {std::string(key), with_dashes(key)}) {
    for (const char* dashes : {"--", "-"}) {
      const OptionRow* row = find_row(dashes + name);
      if (row != nullptr && row->listed != Listed::UnderOtherNames) return row;
    }
  }
  return nullptr;
}

Error unknown_key(string_view key, const std::string& where) {
  std::vector<string_view> names;
  for_each_row([&](const OptionRow& row) {
    const bool is_key = row.set != nullptr && row.listed != Listed::UnderOtherNames;
    if (is_key) names.push_back(without_dashes(main_spelling(row)));
  });
  const string_view best = nearest(with_dashes(key), names);
  return Error(ErrorKind::Config,
               best.empty() ? fmt::format("{}: unknown key {}; keys are the long options of sml-run "
                                          "--help all, without dashes",
                                          where, show(key, 80))
                            : fmt::format("{}: unknown key {}; did you mean {}?", where, show(key, 80), best));
}

Result<std::vector<OptionValue>> read_setting(plan::Setting setting, string_view path) {
  const std::string where = fmt::format("{}:{}", show(path), setting.line);
  const bool variable = setting.section == kExportSection;
  if (!setting.section.empty() && !variable) {
    return Error(ErrorKind::Config, fmt::format("{}: {} stands in the section [{}]; only [x], for variables, is known",
                                                where, show(setting.key, 80), show(setting.section, 80)));
  }
  if (variable) {
    const std::string value = setting.key + "=" + fmt::format("{}", fmt::join(setting.values, ","));
    return std::vector<OptionValue>{{find_row("-x"), where + ": [x]", value, Layer::File, where}};
  }
  const OptionRow* row = row_of_key(setting.key);
  if (row == nullptr || row->set == nullptr) return unknown_key(setting.key, where);
  if (main_spelling(*row) == "--config") {
    return Error(ErrorKind::Config, fmt::format("{}: a file cannot name another with config", where));
  }
  Result<std::vector<OptionValue>> out =
      occurrences({row, fmt::format("{}: {}", where, setting.key), "", Layer::File, where}, std::move(setting.values));
  if (!out) return Error(ErrorKind::Config, out.error().message());
  return out;
}

// ---- layers

// Options of an earlier layer that are dropped if a later layer has one of `later`; both are main spellings.
struct Replacement {
  std::array<string_view, 4> earlier;
  std::array<string_view, 3> later;
};
constexpr std::array kReplacements{
    Replacement{{"--hosts", "--hostfile", "--resource-config", "--host-source"},
                {"--hosts", "--hostfile", "--resource-config"}},
    Replacement{{"--include", "--exclude"}, {"--include", "--exclude"}},
    Replacement{{"--np"}, {"--app"}},
    Replacement{{"--torch-store"}, {"--no-torch-store"}},
    Replacement{{"--no-torch-store"}, {"--torch-store"}},
};

template <class Names>
bool among(const Names& names, const OptionValue& occurrence) {
  return std::find(names.begin(), names.end(), main_spelling(*occurrence.row)) != names.end();
}

bool replaces(const std::vector<OptionValue>& later, const OptionValue& earlier) {
  for (const Replacement& r : kReplacements) {
    if (!among(r.earlier, earlier)) continue;
    const auto is_one = [&r](const OptionValue& o) { return o.value != kNo && among(r.later, o); };
    if (std::any_of(later.begin(), later.end(), is_one)) return true;
  }
  return false;
}

bool replaced(const OptionValue& earlier, std::span<const std::vector<OptionValue>> later_layers) {
  return std::any_of(later_layers.begin(), later_layers.end(),
                     [&earlier](const auto& layer) { return replaces(layer, earlier); });
}

}  // namespace

std::string variable_of(const OptionRow& row) {
  if (row.set == nullptr || row.listed == Listed::UnderOtherNames) return "";
  std::string out(kPrefix);
  for (const char c : without_dashes(main_spelling(row))) out += c == '-' ? '_' : upper(c);
  return out;
}

Result<EnvironmentLayer> options_of_environment(std::span<const std::string> environment) {
  const auto ours = [](const std::string& entry) { return entry.starts_with(kPrefix); };
  if (std::none_of(environment.begin(), environment.end(), ours)) return EnvironmentLayer();
  const bool in_a_worker = plan::find_variable(environment, "SML_JOB_ID") != nullptr;
  EnvironmentLayer out;
  std::vector<std::string> names;
  for (const OptionRow* row : rows_with_variable()) {
    const std::string& name = names.emplace_back(variable_of(*row));
    const std::string* entry = plan::find_variable(environment, name);
    if (entry == nullptr || plan::value_of(*entry).empty() || (in_a_worker && has_another_meaning(name))) continue;
    std::vector<std::string> values{std::string(plan::value_of(*entry))};
    if (row->repeat == Repeat::AddsUp) {
      Result<std::vector<std::string>> words = shell_words(values.front());
      // The error of shell_words() quotes the value, which may be a secret.
      if (!words) return Error(ErrorKind::Usage, name + ": a closing quote is missing");
      values = std::move(*words);
    }
    Result<std::vector<OptionValue>> given = occurrences({row, name, "", Layer::Environment, name}, std::move(values));
    if (!given) return given.error();
    std::move(given->begin(), given->end(), std::back_inserter(out.options));
  }
  warn_of_mistakes(environment, names, out.warnings);
  return out;
}

Result<std::vector<OptionValue>> options_of_file(std::string_view text, std::string_view path) {
  Result<std::vector<plan::Setting>> settings = plan::parse_settings_file(text, path);
  if (!settings) return settings.error();
  std::vector<OptionValue> out;
  for (plan::Setting& setting : *settings) {
    Result<std::vector<OptionValue>> given = read_setting(std::move(setting), path);
    if (!given) return given.error();
    std::move(given->begin(), given->end(), std::back_inserter(out));
  }
  return out;
}

std::vector<OptionValue> merge_layers(std::span<const std::vector<OptionValue>> layers) {
  std::vector<OptionValue> out;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const OptionValue& occurrence : layers[i]) {
      if (!replaced(occurrence, layers.subspan(i + 1))) out.push_back(occurrence);
    }
  }
  return out;
}

std::vector<OptionValue> without_refused_flags(std::span<const OptionValue> options) {
  std::vector<OptionValue> out;
  for (const OptionValue& occurrence : options) {
    const auto same = [&occurrence](const OptionValue& earlier) { return earlier.row == occurrence.row; };
    const bool refused = occurrence.row->is_flag() && occurrence.value == kNo;
    if (refused) std::erase_if(out, same);
    if (!refused) out.push_back(occurrence);
  }
  return out;
}

const OptionValue* last_of(std::span<const OptionValue> given, string_view option) {
  const OptionValue* last = nullptr;
  for (const OptionValue& o : given) {
    if (main_spelling(*o.row) == option) last = &o;
  }
  return last;
}

}  // namespace sml
