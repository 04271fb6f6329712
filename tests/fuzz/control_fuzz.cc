// Any bytes as what is asked of a job's launcher, and as what it answers: refused, or a message that reads back the
// same.
#include <cstdint>
#include <string>

#include "launcher/control/messages.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

namespace {

template <class Take>
void read_all(std::string bytes, Take take) {
  for (;;) {
    const std::size_t before = bytes.size();
    const auto message = take(bytes);
    if (!message) return require(message.error().kind() == ErrorKind::Protocol);
    if (!*message) return;
    require(bytes.size() < before);
    std::string again = control::encode(**message);
    require(again.size() == before - bytes.size());
    require(take(again).has_value() && again.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_all(bytes, [](std::string& rest) { return control::take_request(rest); });
  read_all(bytes, [](std::string& rest) { return control::take_answer(rest); });
  return 0;
}
