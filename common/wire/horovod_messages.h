// What the launcher and the agent that serves Horovod's store say to each other of a job that is elastic as Horovod has
// it (hvd.elastic): whose workers outlive the end of others, and ask for new numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sml::wire {

// Registered: it has said that it can go on without others. Ready: it waits for its numbers in the next round.
enum class HorovodStep : std::uint8_t { Registered, Ready };
struct HorovodNews {
  std::uint32_t attempt = 1;
  HorovodStep step = HorovodStep::Registered;
  std::string slot;  // "HOST:LOCAL_RANK", as the worker gives it
  void fields(auto& a) { a(attempt, step, slot); }
};

struct HorovodPlace {
  std::string slot;
  std::string numbers;  // as Horovod's workers read them: rank, size, and so on
  bool operator==(const HorovodPlace&) const = default;
  void fields(auto& a) { a(slot, numbers); }
};
enum class HorovodKeys : std::uint8_t { Stay, Forgotten };
// Those of these slots that wait get their numbers. Forgotten: a round begins, and what is in the store was of another.
struct HorovodRound {
  std::uint32_t attempt = 1;
  HorovodKeys keys = HorovodKeys::Stay;
  std::vector<HorovodPlace> places;
  void fields(auto& a) { a(attempt, keys, places); }
};

}  // namespace sml::wire
