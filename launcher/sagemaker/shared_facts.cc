#include "launcher/sagemaker/shared_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace sml::sagemaker {

namespace {

using std::string_view;

constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
constexpr string_view kResourceConfig = "resourceconfig.json";
constexpr std::array<string_view, 4> kFiles{kResourceConfig, "hyperparameters.json", "inputdataconfig.json",
                                            "processingjobconfig.json"};
constexpr std::array<string_view, 3> kOfAllHosts{"hosts", "instance_groups", "network_interface_name"};

void keep_what_all_have(Value& value) {
  auto* object = std::get_if<Object>(&value.data);
  if (object == nullptr) return;
  std::erase_if(*object, [](const Member& member) {
    return std::find(kOfAllHosts.begin(), kOfAllHosts.end(), member.first) == kOfAllHosts.end();
  });
}

std::string canonical(const std::string& text, string_view name) {
  Result<Value> value = parse_json(text);
  if (!value) return name == kResourceConfig ? "" : text;
  if (name == kResourceConfig) keep_what_all_have(*value);
  return to_json(*value, JsonStyle::Compact);
}

}  // namespace

bool is_training_job(const plan::Environment& environment, const FileAccess& files) {
  const bool is_named = !plan::variable(environment, "TRAINING_JOB_ARN").empty() ||
                        !plan::variable(environment, "TRAINING_JOB_NAME").empty();
  const std::string folder = contract_folder(environment, files) + "/input/config/";
  return is_named && files.exists(folder + std::string(kResourceConfig));
}

std::string shared_facts(const plan::Environment& environment, const FileAccess& files) {
  const std::string folder = contract_folder(environment, files);
  const std::string training = folder + "/input/config/";
  const std::string processing = folder + "/config/";
  const std::string arn = std::string(plan::variable(environment, "TRAINING_JOB_ARN"));
  const std::string name = std::string(plan::variable(environment, "TRAINING_JOB_NAME"));
  const bool trains = is_training_job(environment, files);
  if (!trains && processing_job(environment, files).empty()) return "";
  std::string out = fmt::format("{}\n{}\n", arn, name);
  for (const string_view file : kFiles) {
    const std::string path = (trains ? training : processing) + std::string(file);
    const Result<std::string> text =
        files.exists(path) ? read_job_file(files, path, kMaxBytes) : Result<std::string>("");
    out += fmt::format("{}\n{}\n", file, text ? canonical(*text, file) : "");
  }
  return out;
}

}  // namespace sml::sagemaker
