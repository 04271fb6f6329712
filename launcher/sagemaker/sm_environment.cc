#include "launcher/sagemaker/sm_environment.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/letters.h"

namespace sml::sagemaker {

namespace {

Value text(std::string_view words) { return Value{std::string(words)}; }
Value number(std::uint64_t n) { return Value{Integer{std::to_string(n)}}; }

Value list_of(const std::vector<std::string>& words) {
  List list;
  for (const std::string& word : words) list.push_back(text(word));
  return Value{std::move(list)};
}

const InstanceGroup* group_of(const Contract& contract, const std::string& host) {
  for (const InstanceGroup& group : contract.groups) {
    if (std::find(group.hosts.begin(), group.hosts.end(), host) != group.hosts.end()) return &group;
  }
  return nullptr;
}

// resourceconfig.json as `host` itself has it.
Object resource_config_of(const Contract& contract, const std::string& host) {
  Object config = contract.resource_config;
  const InstanceGroup* group = group_of(contract, host);
  for (auto& [key, value] : config) {
    if (key == "current_host") value = text(host);
    if (key == "current_instance_type" && group != nullptr) value = text(group->instance_type);
    if (key == "current_group_name" && group != nullptr) value = text(group->name);
  }
  return config;
}

Value log_level(const Contract& contract) {
  constexpr int kInfo = 20;  // level of Python's logging module
  const Value* level = find(contract.hyperparameters, "sagemaker_container_log_level");
  return level != nullptr && !std::holds_alternative<None>(level->data) ? *level : number(kInfo);
}

Value user_hyperparameters(const Contract& contract) {
  Object out;
  for (const Hyperparameter& h : of_user(contract.hyperparameters)) out.emplace_back(h.name, h.value);
  return Value{std::move(out)};
}

std::vector<std::string> distribution_groups(const Job& job, const std::string& current) {
  if (!job.distribution.groups.empty()) return job.distribution.groups;
  const bool on = job.distribution.framework != Framework::None &&
                  job.distribution.framework != Framework::TorchDistributed;  // omitted here by the toolkit, too
  return on ? std::vector<std::string>{current} : std::vector<std::string>{};
}

// The toolkit's rule: groups in the order of the file, and hosts in the order of each group.
std::vector<std::string> distribution_hosts(const Contract& contract, const std::vector<std::string>& groups) {
  if (contract.groups.empty()) return contract.hosts;
  std::vector<std::string> hosts;
  for (const InstanceGroup& group : contract.groups) {
    if (std::find(groups.begin(), groups.end(), group.name) == groups.end()) continue;
    hosts.insert(hosts.end(), group.hosts.begin(), group.hosts.end());
  }
  return hosts;
}

Value groups_by_name(const Contract& contract) {
  Object out;
  const Value* groups = find(contract.resource_config, "instance_groups");
  const auto* list = groups == nullptr ? nullptr : std::get_if<List>(&groups->data);
  for (std::size_t i = 0; list != nullptr && i < contract.groups.size(); ++i) {
    out.emplace_back(contract.groups[i].name, (*list)[i]);
  }
  return Value{std::move(out)};
}

Value group_names(const Contract& contract) {
  List names;
  for (const InstanceGroup& group : contract.groups) names.push_back(text(group.name));
  return Value{std::move(names)};
}

void add_place(Object& out, const Job& job, const HostFacts& host) {
  const Contract& contract = job.contract;
  const InstanceGroup* group = group_of(contract, host.name);
  const std::string name = group != nullptr ? group->name : contract.group;
  out.emplace_back("current_host", text(host.name));
  out.emplace_back("current_instance_type", text(group != nullptr ? group->instance_type : contract.instance_type));
  out.emplace_back("current_instance_group", text(name));
  out.emplace_back("current_instance_group_hosts",
                   list_of(group != nullptr ? group->hosts : std::vector<std::string>{}));
  out.emplace_back("distribution_instance_groups", list_of(distribution_groups(job, name)));
  out.emplace_back("num_cpus", number(host.cpus));
  out.emplace_back("num_gpus", number(host.gpus));
  out.emplace_back("num_neurons", number(host.neuron_cores));
  out.emplace_back("resource_config", Value{resource_config_of(contract, host.name)});
}

void add_cluster(Object& out, const Contract& contract) {
  out.emplace_back("hosts", list_of(contract.hosts));
  out.emplace_back("network_interface_name", text(contract.network_interface));
  out.emplace_back("instance_groups", group_names(contract));
  out.emplace_back("instance_groups_dict", groups_by_name(contract));
  out.emplace_back("is_hetero", Value{contract.groups.size() > 1});
}

void add_program(Object& out, const Job& job, const plan::Environment& environment) {
  const std::string& name = job.entry.name;
  const bool script = name.ends_with(".py");
  const std::string module = std::string(plan::variable(environment, "SAGEMAKER_TRAINING_MODULE"));
  out.emplace_back("user_entry_point", text(name));
  out.emplace_back("module_name", text(script ? std::string_view(name).substr(0, name.size() - 3) : name));
  out.emplace_back(
      "module_dir",
      text(parameter_text(job.contract, "sagemaker_submit_directory").value_or(job.contract.folder + "/code")));
  out.emplace_back("framework_module", module.empty() ? Value{None{}} : text(module));
  out.emplace_back("log_level", log_level(job.contract));
}

void add_folders(Object& out, const std::string& folder) {
  out.emplace_back("input_dir", text(folder + "/input"));
  out.emplace_back("input_config_dir", text(folder + "/input/config"));
  out.emplace_back("model_dir", text(folder + "/model"));
  out.emplace_back("output_dir", text(folder + "/output"));
  out.emplace_back("output_data_dir", text(folder + "/output/data"));
  out.emplace_back("output_intermediate_dir", text(folder + "/output/intermediate"));
}

// Properties that are both variables of their own and part of SM_TRAINING_ENV.
Object shared_properties(const Job& job, const HostFacts& host, const plan::Environment& environment) {
  Object out;
  add_place(out, job, host);
  add_cluster(out, job.contract);
  add_program(out, job, environment);
  add_folders(out, job.contract.folder);
  out.emplace_back("input_data_config", Value{job.contract.input_data_config});
  return out;
}

// The topology of hosts that share an NVLink domain; in the file it is null or missing if none do.
Value topology_of(const Contract& contract) {
  const Value* topology = find(contract.resource_config, "topology");
  return topology == nullptr ? Value{List{}} : *topology;
}

bool has_topology(const Value& topology) {
  const auto* list = std::get_if<List>(&topology.data);
  return list != nullptr ? !list->empty() : !std::holds_alternative<None>(topology.data);
}

// The toolkit reads this variable before it sets it itself.
Value is_model_parallel(const plan::Environment& environment) {
  constexpr std::string_view kParameters = "SM_HP_MP_PARAMETERS";
  if (plan::find_variable(environment, kParameters) == nullptr) return Value{None{}};
  const std::string parameters = std::string(plan::variable(environment, kParameters));
  return parameters.empty() ? text("") : Value{parameters != "{}"};
}

Value training_env(Object properties, const Job& job, const HostFacts& host, const plan::Environment& environment) {
  const std::vector<std::string> hosts = distribution_hosts(job.contract, distribution_groups(job, job.contract.group));
  const std::string& master = hosts.empty() ? job.contract.hosts.front() : hosts.front();
  const std::string name = std::string(plan::variable(environment, "TRAINING_JOB_NAME"));
  Object channels;
  for (const std::string& channel : channels_of(job.contract)) {
    channels.emplace_back(channel, text(channel_folder(job.contract, channel)));
  }
  properties.emplace_back("additional_framework_parameters", Value{of_framework(job.contract.hyperparameters)});
  properties.emplace_back("channel_input_dirs", Value{std::move(channels)});
  properties.emplace_back("distribution_hosts", list_of(hosts));
  properties.emplace_back("hyperparameters", user_hyperparameters(job.contract));
  properties.emplace_back("is_master", Value{host.name == master});
  properties.emplace_back("is_modelparallel_enabled", is_model_parallel(environment));
  properties.emplace_back("is_smddprun_installed", Value{host.has_smddprun});
  properties.emplace_back("is_smddpmprun_installed", Value{host.has_smddpmprun});
  properties.emplace_back("topology", topology_of(job.contract));
  properties.emplace_back("job_name", name.empty() ? Value{None{}} : text(name));
  properties.emplace_back("master_hostname", text(master));
  return Value{std::move(properties)};
}

class Variables {
 public:
  void add(std::string_view property, const Value& value) { set("SM_" + upper(property), to_variable(value)); }
  // Skips what an environment cannot hold: entries end at a NUL, and names at "=".
  void set(const std::string& name, std::string value) {
    if (name.find_first_of(std::string_view("=\0", 2)) != name.npos || value.find('\0') != value.npos) return;
    out_.push_back(name + "=" + std::move(value));
  }
  void add_twins() {
    const auto usable = [](char c) { return is_letter_or_digit(c) || c == '_'; };
    const plan::Environment originals = out_;
    for (const std::string& entry : originals) {
      std::string name(plan::name_of(entry));
      if (std::all_of(name.begin(), name.end(), usable)) continue;
      std::replace_if(
          name.begin(), name.end(), [&](char c) { return !usable(c); }, '_');
      if (plan::find_variable(out_, name) == nullptr) set(name, std::string(plan::value_of(entry)));
    }
  }
  plan::Environment finish() && { return std::move(out_); }

 private:
  plan::Environment out_;
};

// The toolkit asks boto3, which ignores AWS_REGION.
std::string region_of(const Contract& contract, const plan::Environment& environment) {
  std::string region = parameter_text(contract, "sagemaker_region").value_or("");
  if (region.empty()) region = std::string(plan::variable(environment, "AWS_DEFAULT_REGION"));
  return region.empty() ? std::string(plan::variable(environment, "AWS_REGION")) : region;
}

// Variables that only the drivers of version 3 of the SDK set.
void add_v3(Variables& out, const Job& job, const HostFacts& host) {
  const std::vector<std::string>& hosts = job.contract.hosts;
  const auto rank = std::find(hosts.begin(), hosts.end(), host.name) - hosts.begin();
  out.add("host_count", number(hosts.size()));
  out.add("current_host_rank", number(static_cast<std::uint64_t>(rank)));
  out.add("input_data_dir", text(job.contract.folder + "/input/data"));
  out.add("output_failure", text(job.contract.folder + "/output/failure"));
  out.add("source_dir", text(job.entry.folder));
  out.add("entry_script", text(job.entry.name));
}

bool is_told_by_v3(const Contract& contract, const plan::Environment& environment) {
  return contract.sdk == Sdk::V3 && plan::find_variable(environment, "SM_TRAINING_ENV") != nullptr;
}

}  // namespace

std::string to_variable(const Value& value) {
  if (std::holds_alternative<None>(value.data)) return "";
  const auto* words = std::get_if<std::string>(&value.data);
  return words != nullptr ? *words : to_json(value, JsonStyle::Compact);
}

plan::Environment sm_environment(const Job& job, const HostFacts& host, const plan::Environment& environment) {
  const Contract& contract = job.contract;
  if (is_told_by_v3(contract, environment)) return {};
  Variables out;
  Object properties = shared_properties(job, host, environment);
  for (const auto& [name, value] : properties) out.add(name, value);
  if (const Value topology = topology_of(contract); has_topology(topology)) out.add("topology", topology);
  out.add("channels", list_of(channels_of(contract)));
  out.add("hps", user_hyperparameters(contract));
  out.add("framework_params", Value{of_framework(contract.hyperparameters)});
  out.add("user_args", list_of(arguments_of(contract.hyperparameters, ArgumentStyle::Toolkit)));
  out.add("training_env", training_env(std::move(properties), job, host, environment));
  for (const std::string& channel : channels_of(contract)) {
    out.add("channel_" + channel, text(channel_folder(contract, channel)));
  }
  for (const Hyperparameter& h : of_user(contract.hyperparameters)) out.add("hp_" + h.name, h.value);
  add_v3(out, job, host);
  out.set("CURRENT_HOST", host.name);
  out.set("SAGEMAKER_JOB_NAME", parameter_text(contract, "sagemaker_job_name").value_or(""));
  out.set("SAGEMAKER_REGION", region_of(contract, environment));
  out.add_twins();
  return std::move(out).finish();
}

}  // namespace sml::sagemaker
