// Whom the head listens to before it knows them: callers that have not said who they are. As sshd limits those that
// have not logged in, by where they come from, so that nobody keeps the hosts of the job out. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace sml::dialin {

class Door {
 public:
  using Id = std::uint64_t;
  static constexpr std::size_t kMost = 256;                         // callers at a time
  static constexpr std::size_t kMostOfOne = 16;                     // of them, from one source
  static constexpr Duration kPenalty = std::chrono::seconds(1);     // for each that leaves without a word
  static constexpr Duration kTolerated = std::chrono::seconds(10);  // of penalties
  static constexpr Duration kLongest = std::chrono::seconds(20);

  struct Admission {
    Id id = 0;
    std::optional<Id> displaced;  // the oldest: it is to go
  };

  // Somebody has connected from that numeric address. Nothing: not now.
  std::optional<Admission> knock(const std::string& address, TimePoint now);
  // This one has proved the key and said who it is; what others of its source have done is forgiven.
  void settled(Id id);
  // Its connection has ended. Nothing happens where it had settled, or was displaced.
  void left(Id id, TimePoint now);

 private:
  struct Caller {
    Id id;
    std::string source;
  };
  void punish(const std::string& source, TimePoint now);
  void forget(TimePoint now);

  Id next_ = 1;
  std::vector<Caller> callers_;               // the oldest first
  std::map<std::string, TimePoint> penalty_;  // until when; by source
};

// An IPv4 address, or the network of an IPv6 address, of which one machine may have any number.
std::string source_of(const std::string& address);

}  // namespace sml::dialin
