#include "tests/simulation/plants.h"

#include <optional>
#include <variant>

#include "tests/simulation/world.h"

namespace sml::sim::plants {

namespace {

int copies(const wire::ToAgent& message) {
  if (std::holds_alternative<wire::Credit>(message)) return strikes(kCreditTwice) ? 2 : 1;
  if (std::holds_alternative<wire::Leave>(message)) return strikes(kReleasedTwice) ? 2 : 1;
  if (std::holds_alternative<wire::Stop>(message)) return strikes(kForgottenStop) ? 0 : 1;
  return 1;
}

}  // namespace

bool strikes(const char* fault) { return world->plant == fault && world->dice.one_in(4); }

std::string sent_by_launcher(std::string frames) {
  if (world->plant.empty()) return frames;
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(frames);
  std::string out;
  for (;;) {
    const Result<std::optional<wire::ToAgent>> next = decoder.next();
    if (!next) throw Broken{"the launcher sends nonsense: " + next.error().message()};
    if (!next->has_value()) return out;
    for (int left = copies(**next); left > 0; --left) out += wire::encode(**next);
  }
}

bool AgentFrames::tampered_with() { return world->plant == kLostExit; }

std::string AgentFrames::pass(std::string_view bytes) {
  decoder_.feed(bytes);
  std::string out;
  for (;;) {
    const Result<std::optional<wire::ToLauncher>> next = decoder_.next();
    if (!next) throw Broken{"an agent sends nonsense: " + next.error().message()};
    if (!next->has_value()) return out;
    if (std::holds_alternative<wire::ExitedWorker>(**next) && strikes(kLostExit)) continue;
    out += wire::encode(**next);
  }
}

}  // namespace sml::sim::plants
