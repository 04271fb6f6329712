// Any bytes of several clients: the store is bounded, answers the same in whatever pieces they come, and gives back all
// its memory.
#include "launcher/agent/stores/torch_store.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml;
using namespace sml::agent;

constexpr TorchStoreLimits kLimits{.memory = 1U << 20, .unsent = 1U << 16, .answer = 1U << 18};
constexpr std::uint32_t kClients = 3;

void settle(TorchStore& store, std::map<ClientId, std::string>& received, TimePoint now) {
  for (auto effects = store.take_effects(); !effects.empty(); effects = store.take_effects()) {
    for (const Effect& effect : effects) {
      received[effect.client] += effect.bytes;
      received[effect.client] += effect.fault;
      require(effect.bytes.size() <= kLimits.answer + 64 + kLimits.memory);
      store.sent(effect.client, effect.bytes.size(), now);
    }
  }
}

// The bytes are dealt to the clients in runs: a byte tells whose and how many.
std::map<ClientId, std::string> play(const std::string& input, std::size_t piece) {
  std::map<ClientId, std::string> received;
  TimePoint now{std::chrono::hours(1)};
  TorchStore store(2, kLimits);
  for (std::uint32_t i = 0; i < kClients; ++i) store.opened(ClientId(i), now);
  for (std::size_t at = 0; at + 1 < input.size();) {
    const auto control = static_cast<unsigned char>(input[at]);
    const ClientId client(control % kClients);
    const std::string run = input.substr(at + 1, control / kClients);
    at += 1 + run.size();
    for (std::size_t i = 0; i < run.size(); i += piece) {
      store.received(client, std::string_view(run).substr(i, piece), now);
      settle(store, received, now);
    }
    require(store.memory() <= kLimits.memory + input.size() * 100);
  }
  now += std::chrono::hours(1);
  store.pass(now);
  settle(store, received, now);
  for (std::uint32_t i = 0; i < kClients; ++i) (void)store.closed(ClientId(i));
  require(store.take_effects().empty());
  return received;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto whole = play(input, input.size() + 1);
  require(play(input, 1) == whole);
  require(play(input, 5) == whole);
  return 0;
}
