// Any text: a host list is refused, or all of what it gives is valid, and reads back as the same when it is folded.
#include "launcher/hosts/host_list.h"

#include <cstdint>
#include <set>

#include "common/core/text.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {
void check(const std::vector<sml::plan::Host>& hosts) {
  require(!hosts.empty() && hosts.size() <= sml::plan::kMaxHosts);
  std::set<std::string> names;
  for (const sml::plan::Host& host : hosts) {
    require(sml::plan::valid_host_name(host.name));
    require(host.user.empty() || sml::plan::valid_user_name(host.user));
    require(host.slots.value_or(0) <= sml::plan::kMaxSlotsPerHost);
    require(host.port != 0);
    require(names.insert(host.name).second);
  }
}

void check_folding(const std::vector<sml::plan::Host>& hosts) {
  std::vector<std::string> names;
  for (const sml::plan::Host& host : hosts) {
    const bool ipv6 = host.name.find(':') != std::string::npos;  // folded without brackets: for people only
    if (!ipv6) names.push_back(host.name);
  }
  if (names.empty()) return;
  const auto again = sml::hosts::parse_host_list(sml::fold_names(names));
  require(again.has_value() && again->size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) require((*again)[i].name == names[i]);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto hosts = sml::hosts::parse_host_list({reinterpret_cast<const char*>(data), size});
  if (hosts.has_error()) {
    require(hosts.error().kind() == sml::ErrorKind::Usage);
    require(hosts.error().message().find('\n') == std::string::npos && hosts.error().message().size() < 1000);
    return 0;
  }
  check(*hosts);
  check_folding(*hosts);
  return 0;
}
