// Any text: a resource config is refused with one line, or its hosts are valid, unique and hold the current one.
#include "common/hosts/resource_config.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "common/plan/host.h"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config = sml::hosts::parse_resource_config({reinterpret_cast<const char*>(data), size}, "f");
  if (config.has_error()) {
    require(config.error().kind() == sml::ErrorKind::Config);
    require(config.error().message().starts_with("f: "));
    require(config.error().message().find('\n') == std::string::npos && config.error().message().size() < 1000);
    return 0;
  }
  require(!config->hosts.empty());
  require(std::all_of(config->hosts.begin(), config->hosts.end(), sml::plan::valid_host_name));
  require(std::set<std::string>(config->hosts.begin(), config->hosts.end()).size() == config->hosts.size());
  require(std::count(config->hosts.begin(), config->hosts.end(), config->current_host) == 1);
  return 0;
}
