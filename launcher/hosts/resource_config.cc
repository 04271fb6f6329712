// Keys that are read:
//   current_host            string, required: the host that reads the file
//   hosts                   array of strings, required: all hosts, that of rank 0 first
//   network_interface_name  string, optional: only in training jobs
// Training jobs also have current_instance_type, current_group_name, instance_groups and topology; keys may be added at
// any time, so all others are ignored.
#include "launcher/hosts/resource_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/json_text.h"

namespace sml::hosts {

namespace {

using Json = nlohmann::json;
using plan::kMaxHosts;
using plan::valid_host_name;

// The value of a key; nullptr if it is absent or null.
const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<std::string> host_name(const Json& value, std::string_view what, std::string_view path) {
  if (!value.is_string()) return file_error(path, fmt::format("{} is no string; expected a host name", what));
  const auto& name = value.get_ref<const std::string&>();
  if (!valid_host_name(name))
    return file_error(path, fmt::format("{} is \"{}\"; expected a host name", what, show(name, 60)));
  return name;
}

Result<std::vector<std::string>> read_hosts(const Json& root, std::string_view path) {
  const Json* list = find(root, "hosts");
  if (list == nullptr) return file_error(path, "has no \"hosts\"; expected an array of host names");
  if (!list->is_array()) return file_error(path, "\"hosts\" is no array; expected an array of host names");
  if (list->empty()) return file_error(path, "\"hosts\" is empty; expected at least one host name");
  if (list->size() > kMaxHosts) return file_error(path, fmt::format("\"hosts\" has more than {} hosts", kMaxHosts));
  std::vector<std::string> hosts;
  std::unordered_set<std::string> seen;
  for (const Json& value : *list) {
    Result<std::string> name = host_name(value, fmt::format("\"hosts\"[{}]", hosts.size()), path);
    if (!name) return name.error();
    if (!seen.insert(*name).second) return file_error(path, fmt::format("\"hosts\" names {} twice", *name));
    hosts.push_back(std::move(*name));
  }
  return hosts;
}

Result<std::string> read_current_host(const Json& root, const std::vector<std::string>& hosts, std::string_view path) {
  const Json* value = find(root, "current_host");
  if (value == nullptr) return file_error(path, "has no \"current_host\"; expected the name of this host");
  Result<std::string> name = host_name(*value, "\"current_host\"", path);
  if (name && std::find(hosts.begin(), hosts.end(), *name) == hosts.end()) {
    return file_error(path,
                      fmt::format("\"current_host\" {} is not in \"hosts\" ({})", *name, show(fold_names(hosts))));
  }
  return name;
}

Result<std::string> read_interface(const Json& root, std::string_view path) {
  const Json* value = find(root, "network_interface_name");
  if (value == nullptr) return std::string();
  if (!value->is_string()) return file_error(path, "\"network_interface_name\" is no string");
  return value->get<std::string>();
}

}  // namespace

Result<ResourceConfig> parse_resource_config(std::string_view text, std::string_view path) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return file_error(path, "is empty; expected a JSON object with \"hosts\" and \"current_host\"");
  }
  const Result<Json> root = parse_json(text, path);
  if (!root) return root.error();
  if (!root->is_object())
    return file_error(path, "is no JSON object; expected {\"current_host\": ..., \"hosts\": [...]}");
  Result<std::vector<std::string>> hosts = read_hosts(*root, path);
  if (!hosts) return hosts.error();
  Result<std::string> current_host = read_current_host(*root, *hosts, path);
  if (!current_host) return current_host.error();
  Result<std::string> interface = read_interface(*root, path);
  if (!interface) return interface.error();
  return ResourceConfig{std::move(*current_host), std::move(*hosts), std::move(*interface)};
}

bool belongs_to_sagemaker(std::string_view path) {
  return path.starts_with("/opt/ml/") && path.find("/../") == std::string_view::npos;
}

}  // namespace sml::hosts
