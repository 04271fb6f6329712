// Any text: a list of interfaces is refused, or every entry of it chooses from a host's without fail.
#include "common/core/interfaces.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml;
  const auto list = parse_interface_list({reinterpret_cast<const char*>(data), size});
  if (!list) {
    require(list.error().kind() == sml::ErrorKind::Usage);
    return 0;
  }
  require(!list->empty());
  const std::vector<InterfaceAddress> host{{"eth0", "10.0.0.1"}, {"eth0", "fd00::1"}, {"lo", "127.0.0.1"}};
  const auto chosen = choose_interfaces(*list, host);
  require(!chosen || (!chosen->names.empty() && !chosen->addresses.empty()));
  return 0;
}
