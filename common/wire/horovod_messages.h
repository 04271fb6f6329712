// Messages between the launcher and the agent that serves Horovod's store, for an elastic Horovod job (hvd.elastic):
// its workers outlive the end of others, request new numbers, and are notified of hosts that come and go.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/strong.h"
#include "common/wire/limits.h"
#include "common/wire/message_rules.h"

namespace sml::wire {

// Registered: the worker can continue without others. Ready: it waits for its numbers in the next round.
enum class HorovodStep : std::uint8_t { Registered, Ready };
// From the agent: a worker has taken this step.
struct HorovodNews {
  std::uint32_t attempt = 1;
  HorovodStep step = HorovodStep::Registered;
  std::string slot;            // "HOST:LOCAL_RANK", as the worker sends it
  std::string registration{};  // with Registered: how notices reach the worker; empty: too long
  void fields(auto& a) { a(attempt, step, slot, registration); }
  static constexpr Rules kRules{.phase = Phase::Connection,
                                .text_size = TextSize::OwnLimits,
                                .attempt = OfAttempt::Any,
                                .most_in_all = {"words of Horovod's workers", 1'000'000}};
  void amounts(const auto& at_most) const {
    at_most(registration.size(), Most{"bytes by which a worker registers", kMaxRegistration});
  }
};

// The numbers of one worker in a round.
struct HorovodPlace {
  std::string slot;     // as in HorovodNews
  std::string numbers;  // in the format that Horovod's workers read: rank, size, and so on
  bool operator==(const HorovodPlace&) const = default;
  void fields(auto& a) { a(slot, numbers); }
};
enum class HorovodKeys : std::uint8_t { Stay, Forgotten };
// Gives the waiting workers among these slots their numbers. Forgotten: a round begins, and the store's keys, which
// belong to the previous one, are deleted.
struct HorovodRound {
  std::uint32_t attempt = 1;
  HorovodKeys keys = HorovodKeys::Stay;
  std::vector<HorovodPlace> places;
  std::vector<std::string> hosts{};  // addresses that may connect from now on, besides those of Start
  void fields(auto& a) { a(attempt, keys, places, hosts); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Refused};
};

// To the agent of a worker's host: send `request` to the port there at which the worker listens for notices about
// hosts. The agent replies with one HorovodAnswer, within kHorovodTimeoutMs.
struct HorovodCall {
  std::uint32_t attempt = 1;
  Rank rank;
  std::uint16_t port = 0;
  std::string request;
  void fields(auto& a) { a(attempt, rank, port, request); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Refused};
};
struct HorovodAnswer {
  std::uint32_t attempt = 1;
  Rank rank;
  std::string answer;  // of the worker; empty: it sent none
  void fields(auto& a) { a(attempt, rank, answer); }
  static constexpr Rules kRules{
      .phase = Phase::Connection, .text_size = TextSize::OwnLimits, .attempt = OfAttempt::Any, .ranks = Ranks::OwnRule};
  void amounts(const auto& at_most) const {
    at_most(answer.size(), Most{"bytes of a worker's answer", kMaxHorovodAnswer});
  }
};

}  // namespace sml::wire
