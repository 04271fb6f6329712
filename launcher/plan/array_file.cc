#include "launcher/plan/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/plan/environment/kept_back.h"
#include "launcher/plan/env_file.h"

namespace sml::plan {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view kIndexVariable = "SML_ARRAY_INDEX";
constexpr std::string_view kIndexPlace = "array_index";

Result<std::vector<std::string>> fields_of(const TextCursor& at, const ArrayFile& file) {
  const std::string_view line = trim(at.rest_of_line());
  const std::string wanted =
      fmt::format("expected {}: {}", pluralize(file.names.size(), "field"), fmt::join(file.names, ","));
  if (line.empty()) return at.error("an empty line; " + wanted);
  if (line.find('\0') != npos) return at.error("a field cannot hold a NUL byte");
  std::vector<std::string> fields;
  for (const std::string_view field : split(line, ',')) fields.emplace_back(trim(field));
  if (fields.size() == file.names.size()) return fields;
  return at.error(fmt::format("{}; {}", pluralize(fields.size(), "field"), wanted));
}

struct IndexSource {
  std::string_view variable;
  std::uint32_t base;
  std::string_view no_array;  // its value outside an array; empty: the variable is not set there
};

constexpr std::array kIndexSources{
    IndexSource{"AWS_BATCH_JOB_ARRAY_INDEX", 0, ""}, IndexSource{"SLURM_ARRAY_TASK_ID", 0, ""},
    IndexSource{"PBS_ARRAY_INDEX", 0, ""},           IndexSource{"PBS_ARRAYID", 0, ""},
    IndexSource{"SGE_TASK_ID", 1, "undefined"},      IndexSource{"LSB_JOBINDEX", 1, "0"},
    IndexSource{"JOB_COMPLETION_INDEX", 0, ""},
};

// The value for the placeholder `place` (the text between braces), or nullptr if it is neither a name nor array_index.
const std::string* value_of_place(std::string_view place, std::span<const std::string> names,
                                  std::span<const std::string> values, const std::string& index) {
  if (place == kIndexPlace) return &index;
  const auto name = std::find(names.begin(), names.end(), place);
  return name == names.end() ? nullptr : &values[static_cast<std::size_t>(name - names.begin())];
}

}  // namespace

Result<std::vector<std::string>> parse_array_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, ',')) {
    const auto refuse = [name](std::string_view why) {
      return Error(ErrorKind::Usage, fmt::format("\"{}\" {}", show(name, 60), why));
    };
    if (!valid_variable_name(name)) return refuse("is no variable name; expected names with commas between them");
    if (set_by_a_launcher(name)) return refuse("is a variable that workers get from sml-run; choose another name");
    if (std::find(names.begin(), names.end(), name) != names.end()) return refuse("is named twice");
    names.emplace_back(name);
  }
  return names;
}

Result<ArrayFile> parse_array_file(std::string_view text, std::string_view path, std::vector<std::string> names) {
  ArrayFile file{.path = std::string(path), .names = std::move(names), .lines = {}};
  if (text.size() > kMaxArrayFileBytes) return file_error(path, "is larger than 16 MiB");
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  TextCursor at(text, path);
  if (at.at_end()) return file_error(path, "is empty; expected one line for each index");
  for (; !at.at_end(); at.take_line()) {
    Result<std::vector<std::string>> fields = fields_of(at, file);
    if (!fields) return fields.error();
    file.lines.push_back(std::move(*fields));
  }
  return file;
}

Result<std::optional<ArrayIndex>> find_array_index(std::span<const std::string> environment) {
  for (const IndexSource& source : kIndexSources) {
    const std::string* entry = find_variable(environment, source.variable);
    if (entry == nullptr) continue;
    const std::string_view text = value_of(*entry);
    if (text.empty() || (!source.no_array.empty() && text == source.no_array)) continue;
    const auto value = parse_number<std::uint32_t>(text);
    if (!value || *value > kMaxArrayIndex) {
      return Error(ErrorKind::Config, fmt::format("{}: \"{}\" is no array index; expected a whole number",
                                                  source.variable, show(text, 60)));
    }
    return std::optional(ArrayIndex{*value, source.base, std::string(source.variable)});
  }
  return std::optional<ArrayIndex>();
}

Result<ArrayTask> find_task(const ArrayFile& file, const ArrayIndex& index) {
  const std::size_t at = index.value - index.base;
  if (index.value >= index.base && at < file.lines.size()) return ArrayTask{index.value, at + 1, file.lines[at]};
  const std::size_t last = file.lines.size() - 1 + index.base;
  return Error(ErrorKind::Config,
               fmt::format("{}: has {}, for index {} to {}, and so none for {} ({})", show(file.path),
                           pluralize(file.lines.size(), "line"), index.base, last, index.value, index.source));
}

Environment array_environment(std::span<const std::string> names, const ArrayTask& task) {
  Environment out;
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back(names[i] + "=" + task.values[i]);
  out.push_back(fmt::format("{}={}", kIndexVariable, task.index));
  return out;
}

std::string fill_in(std::string_view text, std::span<const std::string> names, const ArrayTask& task) {
  const std::string index = std::to_string(task.index);
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    const std::string* value =
        close == npos ? nullptr : value_of_place(text.substr(1, close - 1), names, task.values, index);
    if (value != nullptr) out += *value;
    const std::size_t taken = value != nullptr ? close + 1 : std::min<std::size_t>(1, text.size());
    if (value == nullptr) out += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace sml::plan
