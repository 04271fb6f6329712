#include "launcher/sagemaker/hyperparameters.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"

namespace sml::sagemaker {

namespace {

constexpr std::size_t kLongestHyperparameters = std::size_t{4} << 20;
constexpr std::string_view kPlatformPrefix = "sagemaker_";

// Hyperparameters that the toolkit itself consumes.
constexpr std::array<std::string_view, 9> kReserved{
    "sagemaker_program",        "sagemaker_submit_directory",    "sagemaker_enable_cloudwatch_metrics",
    "sagemaker_region",         "sagemaker_container_log_level", "sagemaker_job_name",
    "default_user_module_name", "_tuning_objective_metric",      "sagemaker_s3_output"};

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

Value decoded(const Value& written) {
  const auto* text = std::get_if<std::string>(&written.data);
  if (text == nullptr) return written;
  Result<Value> value = parse_json(*text);
  if (!value) return written;
  return std::move(*value);
}

// ---- as the toolkit writes them

std::string toolkit_name(const std::string& name) {
  if (name.empty()) return "";
  return (utf8_length(name) == name.size() ? "-" : "--") + name;
}

std::string toolkit_value(const Value& value) {
  if (std::holds_alternative<None>(value.data)) return "";
  const auto* object = std::get_if<Object>(&value.data);
  if (object == nullptr) return to_str(value);
  Object sorted = *object;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (const auto& [key, item] : sorted) {
    if (&key != &sorted.front().first) out += ',';
    out += key;
    out += '=';
    out += to_str(item);
  }
  return out;
}

// ---- as version 3 of the SDK writes them

// Parsed twice: its environment.py writes parsed values to SM_HPS, and its drivers parse each of these again.
std::string v3_value(const Hyperparameter& hyperparameter) {
  const Value value = decoded(hyperparameter.value);
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr ? *text : to_json(value, JsonStyle::Default);
}

}  // namespace

Result<Hyperparameters> parse_hyperparameters(std::string_view text, std::string_view path) {
  if (text.size() > kLongestHyperparameters) return file_error(path, "is larger than 4 MiB");
  const Result<Value> root = parse_json(text);
  if (!root) return file_error(path, "is not JSON (" + root.error().message() + ")");
  const auto* object = std::get_if<Object>(&root->data);
  if (object == nullptr) return file_error(path, "is no JSON object; expected {\"name\": \"value\", ...}");
  Hyperparameters out;
  for (const auto& [name, written] : *object) out.push_back({name, written, decoded(written)});
  return out;
}

const Value* find(const Hyperparameters& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [name](const Hyperparameter& h) { return h.name == name; });
  return found == all.end() ? nullptr : &found->value;
}

Hyperparameters of_user(const Hyperparameters& all) {
  Hyperparameters out;
  for (const Hyperparameter& h : all) {
    if (!h.name.starts_with(kPlatformPrefix) && !is_reserved(h.name)) out.push_back(h);
  }
  return out;
}

Object of_framework(const Hyperparameters& all) {
  Object out;
  for (const Hyperparameter& h : all) {
    if (h.name.starts_with(kPlatformPrefix) && !is_reserved(h.name)) out.emplace_back(h.name, h.value);
  }
  return out;
}

std::vector<std::string> arguments_of(const Hyperparameters& all, ArgumentStyle style) {
  std::vector<std::string> out;
  if (style == ArgumentStyle::V3) {
    for (const Hyperparameter& h : all) {
      out.push_back("--" + h.name);
      out.push_back(v3_value(h));
    }
    return out;
  }
  Hyperparameters sorted = of_user(all);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const Hyperparameter& h : sorted) {
    out.push_back(toolkit_name(h.name));
    out.push_back(toolkit_value(h.value));
  }
  return out;
}

}  // namespace sml::sagemaker
