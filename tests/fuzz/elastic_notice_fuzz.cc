// What a worker of hvd.elastic may put down as its registration, and answer: read or refused.
#include <cstdint>
#include <string>

#include "launcher/attempt/dynamic/elastic_notice.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::attempt;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const sml::Result<NotificationEndpoint> door = read_registration(bytes);
  if (!door) {
    require(door.error().kind() == sml::ErrorKind::Protocol && !door.error().message().empty());
  } else {
    require(door->port > 0 && !door->secret.empty() && door->secret.size() <= 256);
    require(!is_heard(*door, notice(*door, 1'700'000'000)));
  }
  static_cast<void>(is_heard(NotificationEndpoint{1, "secret"}, bytes));
  return 0;
}
