// Limits the connections of callers that have not yet identified themselves, per source address, so that no stranger
// can keep the hosts of the job out. Modelled on sshd's limits for connections before login. Pure.
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
  static constexpr std::size_t kMost = 256;      // connections at a time
  static constexpr std::size_t kMostOfOne = 16;  // of these, from one source
  // For each connection that ends before its Introduction.
  static constexpr Duration kPenalty = std::chrono::seconds(1);
  static constexpr Duration kTolerated = std::chrono::seconds(10);  // sum of penalties up to which a source is let in
  static constexpr Duration kLongest = std::chrono::seconds(20);

  struct Admission {
    Id id = 0;
    std::optional<Id> displaced;  // the oldest connection, which is to be closed
  };

  // A connection from this numeric address was accepted. Returns nullopt if it must be refused for now.
  std::optional<Admission> knock(const std::string& address, TimePoint now);
  // The caller has proved the key and identified itself; the penalty of its source is dropped.
  void settled(Id id);
  // The connection has ended. Does nothing if it had settled or was displaced.
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

// The address itself if it is IPv4; the /64 network if it is IPv6, since one machine may have any number of addresses
// in that.
std::string source_of(const std::string& address);

}  // namespace sml::dialin
