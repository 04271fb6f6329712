// What the launcher and the agent that serves Horovod's store say to each other of a job that is elastic as Horovod has
// it (hvd.elastic): whose workers outlive the end of others, ask for new numbers, and hear of hosts that come and go.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/strong.h"

namespace sml::wire {

// Registered: it has said that it can go on without others. Ready: it waits for its numbers in the next round.
enum class HorovodStep : std::uint8_t { Registered, Ready };
struct HorovodNews {
  std::uint32_t attempt = 1;
  HorovodStep step = HorovodStep::Registered;
  std::string slot;            // "HOST:LOCAL_RANK", as the worker gives it
  std::string registration{};  // of one that registers: how it can be told something; empty: too long
  void fields(auto& a) { a(attempt, step, slot, registration); }
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
  std::vector<std::string> hosts{};  // addresses that may call from now on, beside those of Start
  void fields(auto& a) { a(attempt, keys, places, hosts); }
};

// To the agent of a worker's host: what is to be sent to that port there, at which the worker hears of hosts that come
// and go. Answered once, within kHorovodPatienceMs.
struct HorovodCall {
  std::uint32_t attempt = 1;
  Rank rank;
  std::uint16_t port = 0;
  std::string request;
  void fields(auto& a) { a(attempt, rank, port, request); }
};
struct HorovodAnswer {
  std::uint32_t attempt = 1;
  Rank rank;
  std::string answer;  // empty: there was none
  void fields(auto& a) { a(attempt, rank, answer); }
};

}  // namespace sml::wire
