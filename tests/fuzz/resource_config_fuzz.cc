// Any text: a resource config is refused with one line, or its hosts are valid, unique and hold the current one.
#include "launcher/hosts/resource_config.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "common/plan/machine/host.h"
#include "launcher/hosts/instance_groups.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config = sml::hosts::parse_resource_config({reinterpret_cast<const char*>(data), size}, "f");
  if (config.has_error()) {
    require(config.error().kind() == sml::ErrorKind::Config);
    require(config.error().message().starts_with("f: "));
    require(config.error().message().find('\n') == std::string::npos && config.error().message().size() < 1000);
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto groups = sml::hosts::parse_instance_groups(text, "f");
  require(groups.has_value() || groups.error().message().starts_with("f: "));
  std::vector<sml::plan::Host> hosts;
  for (const std::string& name : config->hosts) hosts.push_back({name, "", std::nullopt});
  sml::hosts::keep_domains_together(hosts, text, "f");
  require(hosts.size() == config->hosts.size());
  require(!config->hosts.empty());
  require(std::all_of(config->hosts.begin(), config->hosts.end(), sml::plan::valid_host_name));
  require(std::set<std::string>(config->hosts.begin(), config->hosts.end()).size() == config->hosts.size());
  require(std::count(config->hosts.begin(), config->hosts.end(), config->current_host) == 1);
  return 0;
}
