// Any text as --include and --exclude: refused with one line, or hosts are left, and only such as were there.
#include "launcher/hosts/host_filter.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {
void check(std::string_view text, sml::hosts::Filter what) {
  std::vector<sml::plan::Host> hosts{{"a", "", 4}, {"b1", "", 1}, {"b2", "", 2}};
  const auto done = sml::hosts::filter_hosts(hosts, text, what);
  if (!done) {
    require(done.error().kind() == sml::ErrorKind::Usage);
    require(done.error().message().find('\n') == std::string::npos && done.error().message().size() < 1000);
    return;
  }
  require(!hosts.empty() && hosts.size() <= 3);
  for (const sml::plan::Host& host : hosts) {
    require(host.slots >= 1U && host.slots <= 4U);
    require(host.slot_numbers.empty() || host.slot_numbers.size() == host.slots);
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check(text, sml::hosts::Filter::Include);
  check(text, sml::hosts::Filter::Exclude);
  return 0;
}
