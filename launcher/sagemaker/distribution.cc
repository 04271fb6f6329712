#include "launcher/sagemaker/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/job_map.h"

namespace sml::sagemaker {

namespace {

Result<bool> switched_on(const Contract& contract, std::string_view key) {
  const std::string text = parameter_text(contract, key).value_or("");
  if (text == "True" || text == "true" || text == "1") return true;
  if (text.empty() || text == "False" || text == "false" || text == "0") return false;
  return config_error("{}: \"{}\" is not true or false", key, show(text, 60));
}

Result<std::optional<std::uint32_t>> count(std::string_view key, const std::optional<std::string>& text,
                                           std::uint32_t most) {
  if (!text) return std::optional<std::uint32_t>();
  const auto value = parse_number<std::uint32_t>(*text);
  if (!value || *value == 0 || *value > most)
    return config_error("{}: \"{}\" is not a whole number from 1 to {}", key, show(*text, 60), most);
  return value;
}

struct Switch {
  std::string_view key;
  Framework framework;
};
// The first key that is on counts.
constexpr std::array kSwitches{
    Switch{"sagemaker_mpi_enabled", Framework::Mpi},
    Switch{"sagemaker_pytorch_ddp_enabled", Framework::DataParallel},
    Switch{"sagemaker_torch_distributed_enabled", Framework::TorchDistributed},
    Switch{"sagemaker_distributed_dataparallel_enabled", Framework::DataParallel},
    Switch{"sagemaker_pytorch_xla_multi_worker_enabled", Framework::TorchDistributed},
    Switch{"sagemaker_multi_worker_mirrored_strategy_enabled", Framework::MirroredStrategy},
    Switch{"sagemaker_parameter_server_enabled", Framework::ParameterServer},
};

Result<void> read_groups(const Contract& contract, Distribution& out) {
  constexpr std::string_view kKey = "sagemaker_distribution_instance_groups";
  const Value* value = find(contract.hyperparameters, kKey);
  if (value == nullptr || std::holds_alternative<None>(value->data)) return {};
  const auto* list = std::get_if<List>(&value->data);
  if (list == nullptr)
    return config_error("{}: \"{}\" is not a list of instance groups", kKey, show(to_str(*value), 60));
  for (const Value& name : *list) out.groups.push_back(to_str(name));
  return {};
}

Result<void> read_mpi(const Contract& contract, Distribution& out) {
  constexpr std::string_view kPerHost = "sagemaker_mpi_num_of_processes_per_host";
  constexpr std::string_view kProcesses = "sagemaker_mpi_num_processes";
  const auto per_host = count(kPerHost, parameter_text(contract, kPerHost), plan::kMaxSlotsPerHost);
  if (!per_host) return per_host.error();
  const auto processes = count(kProcesses, parameter_text(contract, kProcesses), plan::kMaxWorldSize);
  if (!processes) return processes.error();
  out.per_host = *per_host;
  out.processes = *processes;
  return {};
}

Result<void> read_custom_options(const Contract& contract, Distribution& out) {
  const std::string_view key = out.framework == Framework::Mpi
                                   ? "sagemaker_mpi_custom_mpi_options"
                                   : "sagemaker_distributed_dataparallel_custom_mpi_options";
  Result<MpiOptions> options = parse_mpi_options(std::string_view(parameter_text(contract, key).value_or("")));
  if (!options) return options.error();
  out.mpi = std::move(*options);
  if (out.mpi.np) out.processes = out.mpi.np;
  return {};
}

// ---- version 3 of the SDK

Result<std::vector<std::string>> words_of(const Value& value, const std::string& source) {
  std::vector<std::string> words;
  const auto* list = std::get_if<List>(&value.data);
  if (list == nullptr) return config_error("{}: \"mpi_additional_options\" is not a list of words", source);
  for (const Value& word : *list) words.push_back(to_str(word));
  return words;
}

Result<Distribution> read_v3(const std::string& text, std::string source) {
  Distribution out;
  const Result<Value> root = parse_json(text);
  if (!root) return file_error(source, fmt::format("is not JSON ({})", root.error().message()));
  const auto* object = std::get_if<Object>(&root->data);
  if (object == nullptr) return file_error(source, "is no JSON object");
  if (object->empty()) return out;
  out.source = std::move(source);
  out.framework = Framework::TorchDistributed;
  const Value* per_host = find(*object, "process_count_per_node");
  if (per_host != nullptr && !std::holds_alternative<None>(per_host->data)) {
    const auto number = count(out.source + ": process_count_per_node", to_str(*per_host), plan::kMaxSlotsPerHost);
    if (!number) return number.error();
    out.per_host = *number;
  }
  const Value* mpi = find(*object, "mpi_additional_options");
  if (mpi == nullptr) return out;
  out.framework = Framework::Mpi;
  if (std::holds_alternative<None>(mpi->data)) return out;
  const Result<std::vector<std::string>> words = words_of(*mpi, out.source);
  if (!words) return words.error();
  Result<MpiOptions> options = parse_mpi_options(*words);
  if (!options) return options.error();
  out.mpi = std::move(*options);
  if (out.mpi.np) out.processes = out.mpi.np;
  return out;
}

Result<Distribution> read_v3_if_there(const Contract& contract, const plan::Environment& environment,
                                      const FileAccess& files) {
  constexpr std::size_t kMostOfConfig = std::size_t{1} << 20;
  constexpr std::string_view kVariable = "SM_DISTRIBUTED_CONFIG";
  if (const std::string* entry = plan::find_variable(environment, kVariable)) {
    if (const std::string text(plan::value_of(*entry)); !text.empty()) return read_v3(text, std::string(kVariable));
  }
  const std::string path = contract.folder + std::string(kV3Scripts) + "/distributed.json";
  if (!files.exists(path)) return Distribution{};
  const Result<std::string> text = read_job_file(files, path, kMostOfConfig);
  if (!text) return file_error(path, text.error().message());
  return read_v3(*text, path);
}

std::vector<std::string> names_of(const std::vector<InstanceGroup>& groups) {
  std::vector<std::string> names;
  for (const InstanceGroup& group : groups) names.push_back(group.name);
  return names;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

Result<Distribution> read_distribution(const Contract& contract, const plan::Environment& environment,
                                       const FileAccess& files) {
  Distribution out;
  for (const Switch& row : kSwitches) {
    const Result<bool> on = switched_on(contract, row.key);
    if (!on) return on.error();
    if (!*on) continue;
    out.framework = row.framework;
    out.source = row.key;
    break;
  }
  if (out.framework == Framework::None) {
    Result<Distribution> v3 = read_v3_if_there(contract, environment, files);
    if (!v3) return v3.error();
    out = std::move(*v3);
  } else if (out.framework == Framework::Mpi || out.framework == Framework::DataParallel) {
    if (out.framework == Framework::Mpi) {
      if (Result<void> mpi = read_mpi(contract, out); !mpi) return mpi.error();
    }
    if (Result<void> custom = read_custom_options(contract, out); !custom) return custom.error();
  }
  if (Result<void> groups = read_groups(contract, out); !groups) return groups.error();
  return out;
}

Result<std::vector<std::string>> hosts_of(const Contract& contract, const Distribution& distribution) {
  if (contract.groups.empty()) return contract.hosts;
  const std::vector<std::string> known = names_of(contract.groups);
  std::vector<std::string> chosen = distribution.groups;
  if (chosen.empty() && known.size() > 1 && distribution.framework != Framework::None) {
    return config_error("the job has the instance groups {}, and does not name the one that {} is for",
                        show(fmt::format("{}", fmt::join(known, ", "))), distribution.source)
        .with_hint("name them as \"instance_groups\" of the distribution, or with --group");
  }
  if (chosen.empty()) chosen = known;
  std::vector<std::string> members;
  for (const std::string& name : chosen) {
    const auto group = std::find_if(contract.groups.begin(), contract.groups.end(),
                                    [&](const InstanceGroup& g) { return g.name == name; });
    if (group == contract.groups.end()) {
      return config_error("{}: \"{}\" is not one of the job's instance groups: {}", distribution.groups_from,
                          show(name, 60), show(fmt::format("{}", fmt::join(known, ", "))));
    }
    members.insert(members.end(), group->hosts.begin(), group->hosts.end());
  }
  std::vector<std::string> hosts;
  for (const std::string& host : contract.hosts) {
    if (contains(members, host)) hosts.push_back(host);
  }
  return hosts;
}

}  // namespace sml::sagemaker
