// Any bytes of several callers: bounded, answered once, the same in whatever pieces they come, and no memory is lost.
#include <cstdint>
#include <map>
#include <string>

#include "launcher/agent/stores/horovod_store.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml;
using namespace sml::agent;

constexpr HorovodStoreLimits kLimits{.memory = 1U << 16, .value = 1U << 12};

void settle(HorovodStore& store, std::map<ClientId, std::string>& received) {
  for (auto effects = store.take_effects(); !effects.empty(); effects = store.take_effects()) {
    for (const Effect& effect : effects) {
      require(received[effect.client].empty());
      received[effect.client] = effect.bytes + effect.fault;
      require(effect.then != Effect::Then::Stay);
      require(store.closed(effect.client).empty());
    }
  }
}

// A caller for each run of bytes; a byte tells how long the run is.
std::map<ClientId, std::string> play(const std::string& input, std::size_t piece) {
  std::map<ClientId, std::string> received;
  TimePoint now{std::chrono::hours(1)};
  HorovodStore store(kLimits);
  std::uint32_t next = 0;
  for (std::size_t at = 0; at + 1 < input.size(); ++next) {
    const ClientId client(next);
    const std::string run = input.substr(at + 1, static_cast<unsigned char>(input[at]));
    at += 1 + run.size();
    store.opened(client, now);
    for (std::size_t i = 0; i < run.size(); i += piece) {
      store.received(client, std::string_view(run).substr(i, piece), now);
      settle(store, received);
    }
    require(store.memory() <= kLimits.memory + input.size() + next * 100);
  }
  for (int i = 0; i < 3 && store.deadline(); ++i) {
    now = *store.deadline() + std::chrono::minutes(2);
    store.pass(now);
    settle(store, received);
  }
  require(!store.deadline());
  return received;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  (void)play(input, input.size() + 1);
  (void)play(input, 1);
  return 0;
}
