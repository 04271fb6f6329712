// What a worker of hvd.elastic may put down as its registration, and answer: read or refused.
#include <cstdint>
#include <string>

#include "launcher/attempt/dynamic/elastic_notice.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::attempt;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const sml::Result<NotificationEndpoint> endpoint = read_registration(bytes);
  if (!endpoint) {
    require(endpoint.error().kind() == sml::ErrorKind::Protocol && !endpoint.error().message().empty());
  } else {
    require(endpoint->port > 0 && !endpoint->secret.empty() && endpoint->secret.size() <= 256);
    require(!is_heard(*endpoint, notice(*endpoint, 1'700'000'000)));
  }
  static_cast<void>(is_heard(NotificationEndpoint{1, "secret"}, bytes));
  return 0;
}
