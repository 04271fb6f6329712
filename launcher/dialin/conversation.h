// What a host and the head say to each other once the host has been let in, as one end counts it: it goes on where the
// connection that it travelled in has broken. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"
#include "common/wire/lasting_stream.h"

namespace sml::dialin {

class Conversation {
 public:
  // Kept at most, in bytes: output is bounded by what the head has allowed, what is prepared comes once. Where the
  // other end asks for what came before, it cannot go on.
  static constexpr std::size_t kMostKept = std::size_t{24} << 20;

  // A frame: now, or when there is a connection again.
  void say(std::string_view frame);
  // What the other end has not heard; valid until the next call. Nothing: that is not kept, or was never said.
  std::optional<std::string_view> unheard(std::uint64_t place);
  // The other end tells of a place. False: so much has not been said.
  [[nodiscard]] bool is_heard(std::uint64_t place) { return said_.acknowledge(place); }
  bool all_is_heard() const { return said_.size() == 0; }

  // A whole frame of so many bytes has come.
  void hear(std::size_t size) { heard_.add(size); }
  std::uint64_t heard() const { return heard_.count(); }
  // When the other end is to be told of it.
  std::optional<std::uint64_t> receipt() { return heard_.receipt(); }

 private:
  wire::SentBytes said_;
  wire::ReceivedBytes heard_;
};

// A host that has had nothing to say for so long says that it lives. Where its connection has broken on the head's side
// alone, that is how it learns of it.
Duration longest_pause(Duration heartbeat_timeout);

// How long an end waits for another connection where one has broken: until the host knows of it, and has called again,
// which takes about as long as the first time, `took`. An end that has been killed is waited for no longer.
Duration patience_with_break(Duration took, Duration heartbeat_timeout);

}  // namespace sml::dialin
