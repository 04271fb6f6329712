// Limits the connections of callers that have not yet identified themselves, in number and per source address, so that
// a stranger cannot keep the hosts of the job out. Modelled on sshd's limits for connections before login. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace sml::dialin {

class ConnectionLimiter {
 public:
  using Id = std::uint64_t;
  static constexpr std::size_t kMost = 256;      // unidentified connections at a time
  static constexpr std::size_t kMostOfOne = 16;  // of these, from one source
  // Each connection that ends before its Introduction lengthens the penalty of its source by kPenalty, up to kLongest.
  // The penalty runs out as time passes. A source is refused while more than kTolerated of it is left.
  static constexpr Duration kPenalty = std::chrono::seconds(1);
  static constexpr Duration kTolerated = std::chrono::seconds(10);
  static constexpr Duration kLongest = std::chrono::seconds(20);

  struct Admission {
    Id id = 0;
    std::optional<Id> displaced;  // the oldest connection, which the caller must close; nullopt: none
  };

  // accept() has returned a connection from this numeric address. Returns nullopt if the connection must be closed: its
  // source is refused for now.
  std::optional<Admission> knock(const std::string& address, TimePoint now);
  // The caller has proved the key and identified itself: its connection no longer counts, and the penalty of its source
  // is dropped.
  void settled(Id id);
  // The connection has ended: adds a penalty. Does nothing if settled() was called for it, or if it was displaced.
  void left(Id id, TimePoint now);

 private:
  struct Caller {
    Id id;
    std::string source;
  };
  void punish(const std::string& source, TimePoint now);
  void forget(TimePoint now);

  Id next_ = 1;
  std::vector<Caller> callers_;               // oldest first
  std::map<std::string, TimePoint> penalty_;  // end of the penalty, by source
};

// The source that an address counts as: the address itself if it is IPv4; its /64 network if it is IPv6, since one
// machine may have any number of addresses there.
std::string source_of(const std::string& address);

}  // namespace sml::dialin
