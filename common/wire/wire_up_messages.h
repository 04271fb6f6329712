// What agents and launcher say to each other for ranks of MPI, which find each other by services of their hosts:
// fences, words from host to host, and ranks that ask for others.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/strong.h"
#include "common/plan/spawn_map.h"

namespace sml::wire {

// What speaks for the ranks of a host to the like of it on the other hosts.
enum class WireUp : std::uint8_t { Pmi, Pmix };

// ---- fences and words

enum class Piece : std::uint8_t { More, Last };
// What a host has collected from its ranks for a fence: goes up, and comes down to all its hosts as Fenced.
struct FenceData {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  std::string fence;        // its name, the same on all its hosts; free again when it is over
  std::vector<Rank> ranks;  // whose hosts take part; empty: those of all members
  Piece piece = Piece::Last;
  std::string bytes;  // at most kMaxPiece; the pieces of a host become one
  void fields(auto& a) { a(attempt, service, fence, ranks, piece, bytes); }
};

// What the hosts of a fence have collected; to each of them, once all have.
struct Fenced {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  std::string fence;               // as in FenceData
  std::vector<std::string> parts;  // by host, in host order
  void fields(auto& a) { a(attempt, service, fence, parts); }
};

// From the service on one host to the one on the host of another rank; the launcher hands it on and reads nothing of
// it. In both directions.
struct Relay {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  Rank from;  // of the host that speaks
  Rank to;
  std::string bytes;  // at most kMaxPiece
  void fields(auto& a) { a(attempt, service, from, to, bytes); }
};

// ---- spawning (MPI_Comm_spawn)

// What ranks put down for those that they ask for, in the key space of these.
struct SpawnKey {
  std::string key;
  std::string value;
  void fields(auto& a) { a(key, value); }
  bool operator==(const SpawnKey&) const = default;
};

// A rank asks for others (MPI_Comm_spawn). Answered with SpawnAnswer; a call of a rank once at a time.
struct SpawnWish {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  Rank from;
  std::string call;  // by which the asker knows it
  std::vector<plan::SpawnProgram> programs;
  std::vector<SpawnKey> keys;
  void fields(auto& a) { a(attempt, service, from, call, programs, keys); }
};

enum class Go : std::uint8_t { No, Yes };
// To all hosts: that world starts, and the job has so many ranks from now on; or it does not, and is forgotten. Those
// that have workers of it answer Started.
struct StartAdded {
  std::uint32_t attempt = 1;
  Rank first;
  Go go = Go::No;
  std::uint32_t ranks = 0;
  void fields(auto& a) { a(attempt, first, go, ranks); }
};

// What became of a SpawnWish.
struct SpawnAnswer {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;
  Rank to;           // as it was asked
  std::string call;  // likewise
  std::string why;   // a clause; empty: they start
  void fields(auto& a) { a(attempt, service, to, call, why); }
};

}  // namespace sml::wire
