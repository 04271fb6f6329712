// Any text of a server: it is explained in one short line that steers no terminal.
#include "launcher/transport/ssh/ssh_error.h"

#include <algorithm>
#include <cstdint>

#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Error error = ssh::explain(static_cast<ssh::LoginStage>(data[0] % 5), text);
  require(!error.message().empty() && error.message().size() < 4000);
  require(std::none_of(error.message().begin(), error.message().end(), [](char c) { return c >= 0 && c < ' '; }));
  ssh::is_dropped_connection(text);
  return 0;
}
