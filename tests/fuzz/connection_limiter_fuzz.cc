// Any order in which strangers connect, prove the key, and leave: the head holds a bounded number of them, no more than
// its share of one source, and lets in whoever has done nothing yet. Three bytes of the input a step: what, who, when.
#include "launcher/dialin/coordinator/connection_limiter.h"

#include <cstdint>
#include <string>

#include "tests/fuzz/require.h"

using namespace sml;
using namespace sml::dialin;
using sml::fuzz::require;

namespace {

struct Inside {
  std::vector<std::pair<ConnectionLimiter::Id, std::string>> callers;  // the oldest first

  std::size_t of(const std::string& source) const {
    std::size_t count = 0;
    for (const auto& caller : callers) count += caller.second == source ? 1 : 0;
    return count;
  }
  void drop(ConnectionLimiter::Id id) {
    std::erase_if(callers, [id](const auto& caller) { return caller.first == id; });
  }
};

void knock(ConnectionLimiter& limiter, Inside& inside, const std::string& address, TimePoint now) {
  const auto admission = limiter.knock(address, now);
  if (!admission) return;
  if (admission->displaced) {
    require(inside.callers.size() == ConnectionLimiter::kMost && *admission->displaced == inside.callers.front().first);
    inside.drop(*admission->displaced);
  }
  inside.callers.emplace_back(admission->id, source_of(address));
  require(inside.callers.size() <= ConnectionLimiter::kMost &&
          inside.of(source_of(address)) <= ConnectionLimiter::kMostOfOne);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ConnectionLimiter limiter;
  Inside inside;
  TimePoint now{std::chrono::hours(1)};
  for (std::size_t at = 0; at + 2 < size; at += 3) {
    const std::uint8_t what = data[at], who = data[at + 1];
    now += std::chrono::milliseconds(data[at + 2]) * 10;
    if (what < 128) {
      const std::string network = what % 2 == 0 ? "10.0.0." : "fe80::";
      for (int i = 0; i <= what / 16; ++i) knock(limiter, inside, network + std::to_string(who), now);
      continue;
    }
    if (inside.callers.empty()) continue;
    const ConnectionLimiter::Id id = inside.callers[who % inside.callers.size()].first;
    what < 192 ? limiter.settled(id) : limiter.left(id, now);
    inside.drop(id);
  }
  limiter.settled(~ConnectionLimiter::Id{0});
  limiter.left(~ConnectionLimiter::Id{0}, now);
  require(limiter.knock("192.168.0.1", now).has_value());
  require(source_of(std::string(reinterpret_cast<const char*>(data), size)).size() <= size + 8);
  return 0;
}
