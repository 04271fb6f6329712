#include "launcher/sagemaker/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/resource_config.h"

namespace sml::sagemaker {

namespace {

constexpr std::size_t kMostOfContract = std::size_t{4} << 20;
constexpr std::string_view kConfig = "/input/config/";

Result<std::optional<std::string>> read_if_there(const FileAccess& files, const std::string& path) {
  if (!files.exists(path)) return std::optional<std::string>();
  Result<std::string> text = read_job_file(files, path, kMostOfContract);
  if (!text) return file_error(path, text.error().message());
  return std::optional(std::move(*text));
}

Result<Object> read_object(const FileAccess& files, const std::string& path) {
  const Result<std::optional<std::string>> text = read_if_there(files, path);
  if (!text) return text.error();
  if (!*text) return Object{};
  Result<Value> value = parse_json(**text);
  if (!value) return file_error(path, fmt::format("is not JSON ({})", value.error().message()));
  auto* object = std::get_if<Object>(&value->data);
  if (object == nullptr) return file_error(path, "is no JSON object");
  return std::move(*object);
}

// The string of a key; `absent` if it is missing or null.
Result<std::string> text_of(const Object& object, std::string_view key, std::string_view absent,
                            std::string_view path) {
  const Value* value = find(object, key);
  if (value == nullptr || std::holds_alternative<None>(value->data)) return std::string(absent);
  const auto* text = std::get_if<std::string>(&value->data);
  if (text != nullptr && text->find('\0') == std::string::npos) return *text;
  return file_error(path, fmt::format("\"{}\" is no string", key));
}

Result<InstanceGroup> read_group(const Value& value, std::size_t index, const Contract& contract) {
  const std::string what = fmt::format("\"instance_groups\"[{}]", index);
  const auto* object = std::get_if<Object>(&value.data);
  if (object == nullptr) return file_error(contract.source, what + " is no object");
  Result<std::string> name = text_of(*object, "instance_group_name", "", contract.source);
  if (!name) return name.error();
  Result<std::string> type = text_of(*object, "instance_type", "", contract.source);
  if (!type) return type.error();
  if (name->empty()) return file_error(contract.source, what + " has no \"instance_group_name\"");
  InstanceGroup group{std::move(*name), std::move(*type), {}};
  const Value* hosts = find(*object, "hosts");
  const auto* list = hosts == nullptr ? nullptr : std::get_if<List>(&hosts->data);
  if (list == nullptr) return file_error(contract.source, what + " has no array \"hosts\"");
  for (const Value& host : *list) {
    const auto* text = std::get_if<std::string>(&host.data);
    const bool known =
        text != nullptr && std::find(contract.hosts.begin(), contract.hosts.end(), *text) != contract.hosts.end();
    if (!known) return file_error(contract.source, what + " names a host that is not in \"hosts\"");
    group.hosts.push_back(*text);
  }
  return group;
}

Result<void> read_groups(Contract& contract) {
  const Value* value = find(contract.resource_config, "instance_groups");
  if (value == nullptr || std::holds_alternative<None>(value->data)) return {};
  const auto* list = std::get_if<List>(&value->data);
  if (list == nullptr) return file_error(contract.source, "\"instance_groups\" is no array");
  for (const Value& item : *list) {
    Result<InstanceGroup> group = read_group(item, contract.groups.size(), contract);
    if (!group) return group.error();
    contract.groups.push_back(std::move(*group));
  }
  return {};
}

Result<void> read_hosts(Contract& contract, const FileAccess& files, const std::string& host_name) {
  const std::string path = contract.folder + std::string(kConfig) + "resourceconfig.json";
  const Result<std::optional<std::string>> text = read_if_there(files, path);
  if (!text) return text.error();
  if (!*text) {
    const std::string name = plan::valid_host_name(host_name) ? host_name : "localhost";
    set_hosts(contract, {name}, name);
    return {};
  }
  contract.source = path;
  Result<hosts::ResourceConfig> config = hosts::parse_resource_config(**text, path);
  if (!config) return config.error();
  contract.current_host = std::move(config->current_host);
  contract.hosts = std::move(config->hosts);
  contract.network_interface = std::move(config->network_interface_name);
  Result<Object> object = read_object(files, path);
  if (!object) return object.error();
  contract.resource_config = std::move(*object);
  return read_groups(contract);
}

Result<void> read_place(Contract& contract) {
  const Object& config = contract.resource_config;
  Result<std::string> type = text_of(config, "current_instance_type", "local", contract.source);
  if (!type) return type.error();
  Result<std::string> older = text_of(config, "current_instance_group", "homogeneousCluster", contract.source);
  if (!older) return older.error();
  Result<std::string> group = text_of(config, "current_group_name", *older, contract.source);
  if (!group) return group.error();
  contract.instance_type = std::move(*type);
  contract.group = std::move(*group);
  if (contract.network_interface.empty()) contract.network_interface = "eth0";
  return {};
}

Result<void> read_inputs(Contract& contract, const FileAccess& files) {
  const std::string channels = contract.folder + std::string(kConfig) + "inputdataconfig.json";
  Result<Object> data = read_object(files, channels);
  if (!data) return data.error();
  contract.input_data_config = std::move(*data);
  for (const auto& [name, value] : contract.input_data_config) {
    const bool valid =
        !name.empty() && name != "." && name != ".." && name.find_first_of(std::string("/\0", 2)) == name.npos;
    if (!valid) return file_error(channels, fmt::format("\"{}\" is no name of a channel", show(name, 60)));
  }
  const std::string path = contract.folder + std::string(kConfig) + "hyperparameters.json";
  const Result<std::optional<std::string>> text = read_if_there(files, path);
  if (!text) return text.error();
  Result<Hyperparameters> all = parse_hyperparameters(*text ? **text : "{}", path);
  if (!all) return all.error();
  contract.hyperparameters = std::move(*all);
  return {};
}

}  // namespace

Result<std::string> read_job_file(const FileAccess& files, const std::string& path, std::size_t limit) {
  const bool judged = files.check_trust && !hosts::belongs_to_sagemaker(path);
  const Result<void> trusted = judged ? files.check_trust(path) : Result<void>();
  if (trusted) return files.read(path, limit);
  return Error(ErrorKind::Config, "is not obeyed, as " + trusted.error().message());
}

std::string contract_folder(const plan::Environment& environment, const FileAccess& files) {
  const std::string* entry = plan::find_variable(environment, "SAGEMAKER_BASE_DIR");
  std::string base(entry == nullptr ? std::string_view() : plan::value_of(*entry));
  while (base.ends_with('/')) base.pop_back();
  std::string usual = base + "/opt/ml";
  if (!base.empty() && !files.exists(usual) && files.exists(base + "/input")) return base;
  return usual;
}

Result<Contract> read_contract(const plan::Environment& environment, const FileAccess& files,
                               const std::string& host_name) {
  Contract contract;
  contract.folder = contract_folder(environment, files);
  if (files.exists(contract.folder + std::string(kV3Scripts))) contract.sdk = Sdk::V3;
  if (Result<void> hosts = read_hosts(contract, files, host_name); !hosts) return hosts.error();
  if (Result<void> place = read_place(contract); !place) return place.error();
  if (Result<void> inputs = read_inputs(contract, files); !inputs) return inputs.error();
  return contract;
}

void set_hosts(Contract& contract, std::vector<std::string> hosts, std::string current_host) {
  List list;
  for (const std::string& host : hosts) list.push_back(Value{host});
  contract.resource_config = {{"current_host", Value{current_host}}, {"hosts", Value{std::move(list)}}};
  contract.hosts = std::move(hosts);
  contract.current_host = std::move(current_host);
}

std::vector<std::string> channels_of(const Contract& contract) {
  std::vector<std::string> names;
  for (const auto& [name, value] : contract.input_data_config) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string channel_folder(const Contract& contract, std::string_view channel) {
  return fmt::format("{}/input/data/{}", contract.folder, channel);
}

std::string processing_job(const plan::Environment& environment, const FileAccess& files) {
  const Result<Object> config =
      read_object(files, contract_folder(environment, files) + "/config/processingjobconfig.json");
  if (!config) return "";
  for (const char* key : {"ProcessingJobArn", "ProcessingJobName"}) {
    const Value* value = find(*config, key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    if (text != nullptr && !text->empty()) return *text;
  }
  return "";
}

Result<std::vector<std::string>> sharded_folders(const plan::Environment& environment, const FileAccess& files) {
  Contract contract;
  contract.folder = contract_folder(environment, files);
  Result<Object> data = read_object(files, contract.folder + std::string(kConfig) + "inputdataconfig.json");
  if (!data) return data.error();
  std::vector<std::string> out;
  for (const auto& [name, value] : *data) {
    const auto* channel = std::get_if<Object>(&value.data);
    const Value* type = channel == nullptr ? nullptr : find(*channel, "S3DistributionType");
    const auto* text = type == nullptr ? nullptr : std::get_if<std::string>(&type->data);
    if (text != nullptr && *text == "ShardedByS3Key") out.push_back(channel_folder(contract, name));
  }
  return out;
}

std::optional<std::string> parameter_text(const Contract& contract, std::string_view name) {
  const Value* value = find(contract.hyperparameters, name);
  if (value == nullptr || std::holds_alternative<None>(value->data)) return std::nullopt;
  std::string text = to_str(*value);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace sml::sagemaker
