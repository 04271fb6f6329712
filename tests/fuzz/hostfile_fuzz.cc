// Any text: a host file is refused with one line that names the file, or all of what it gives is valid and unique.
#include "launcher/hosts/hostfile.h"

#include <cstdint>
#include <set>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto hosts = sml::hosts::parse_hostfile({reinterpret_cast<const char*>(data), size}, "f");
  if (hosts.has_error()) {
    require(hosts.error().kind() == sml::ErrorKind::Config);
    require(hosts.error().message().starts_with("f:"));
    require(hosts.error().message().find('\n') == std::string::npos && hosts.error().message().size() < 1000);
    return 0;
  }
  require(!hosts->empty() && hosts->size() <= sml::plan::kMaxHosts);
  std::set<std::string> names;
  for (const sml::plan::Host& host : *hosts) {
    require(sml::plan::valid_host_name(host.name) && names.insert(host.name).second);
    require(host.user.empty() || sml::plan::valid_user_name(host.user));
    require(host.slots.value_or(0) <= sml::plan::kMaxSlotsPerHost && host.port != 0);
  }
  return 0;
}
