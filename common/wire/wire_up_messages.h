// Messages between agents and launcher for MPI ranks, which find each other by services of their hosts: fences,
// messages from host to host, and requests to spawn ranks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/strong.h"
#include "common/plan/ranks/spawn_map.h"
#include "common/wire/limits.h"
#include "common/wire/message_rules.h"

namespace sml::wire {

// The service that represents a host's ranks towards its counterparts on the other hosts.
enum class WireUp : std::uint8_t { Pmi, Pmix };

// ---- fences and relayed messages

enum class Piece : std::uint8_t { More, Last };  // More: further pieces of this host's data follow
// The data that a host has collected from its ranks for a fence; the launcher sends the data of all hosts back to each
// of them as Fenced.
struct FenceData {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  std::string fence;        // its name, the same on all its hosts; free for reuse when it is over
  std::vector<Rank> ranks;  // ranks whose hosts take part; empty: the hosts of all members
  Piece piece = Piece::Last;
  std::string bytes;  // at most kMaxPiece; the pieces of a host are concatenated
  void fields(auto& a) { a(attempt, service, fence, ranks, piece, bytes); }
  static constexpr Rules kRules{.text_size = TextSize::OwnLimits, .ranks = Ranks::OwnRule};
};

// The data of all hosts of a fence; sent to each of them once it is complete.
struct Fenced {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  std::string fence;               // as in FenceData
  std::vector<std::string> parts;  // one per host, in host order
  void fields(auto& a) { a(attempt, service, fence, parts); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// From the service on one host to its counterpart on the host of another rank. The agent sends it to the launcher,
// which forwards it to the other agent without interpreting it.
struct Relay {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  Rank from;  // a rank of the sending host
  Rank to;
  std::string bytes;  // at most kMaxPiece
  void fields(auto& a) { a(attempt, service, from, to, bytes); }
  static constexpr Rules kRules{.receiver = Receiver::Services,
                                .peer_check = PeerCheck::Unchecked,
                                .phase = Phase::Connection,
                                .text_size = TextSize::OwnLimits,
                                .ranks = Ranks::OwnRule,
                                .most = {"words for other hosts", kMaxRelays}};
};

// ---- spawning (MPI_Comm_spawn)

// Keys that ranks publish for the ranks that they spawn, in the key space of these.
struct SpawnKey {
  std::string key;
  std::string value;
  void fields(auto& a) { a(key, value); }
  bool operator==(const SpawnKey&) const = default;
};

// A rank requests more ranks (MPI_Comm_spawn). The launcher replies with SpawnAnswer; `call` is unique among a rank's
// pending requests.
struct SpawnRequest {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  Rank from;
  std::string call;  // identifies the request for the rank
  std::vector<plan::SpawnProgram> programs;
  std::vector<SpawnKey> keys;
  void fields(auto& a) { a(attempt, service, from, call, programs, keys); }
  static constexpr Rules kRules{.text_size = TextSize::OwnLimits, .ranks = Ranks::Started};
};

enum class Go : std::uint8_t { No, Yes };
// To all hosts: the world of AddWorkers with this `first` starts, and the job has `ranks` ranks from now on; or
// (Go::No) it does not start, and is discarded. Hosts with workers of that world reply with Started.
struct StartAdded {
  std::uint32_t attempt = 1;
  Rank first;
  Go go = Go::No;
  std::uint32_t ranks = 0;
  void fields(auto& a) { a(attempt, first, go, ranks); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Refused};
};

// The result of a SpawnRequest.
struct SpawnAnswer {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  Rank to;           // as in the request
  std::string call;  // as in the request
  std::string why;   // why the ranks do not start, as a part of a sentence; empty: they start
  void fields(auto& a) { a(attempt, service, to, call, why); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

}  // namespace sml::wire
