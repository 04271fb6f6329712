// Records the messages between the launcher and its agents, for developers of the protocol (--trace-protocol).
//
// A message is one line, a JSON object:
//   {"t":0.012345,"host":"algo-2","to":"agent","message":"Prepare","fields":[0,{"bytes":8},[],...]}
// `t` is in seconds since the trace was constructed; `fields` are the values in the order of the message's fields().
// Numbers, flags and enumerations are written as numbers. A text is written as its length alone, {"bytes":8}, as it may
// hold secrets or output; a list as its first 8 items and the number of the others, {"more":3}.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/wire/messages.h"

namespace sml::transport {

// Used on the loop thread. Passes each line, with its newline, to `write`, which may take the bytes and must not call
// into this object.
class ProtocolTrace {
 public:
  using Write = std::function<void(std::string& line)>;

  explicit ProtocolTrace(Write write) : write_(std::move(write)) {}

  // `frames`: whole frames to the agent of that host.
  void sent(std::string_view host, std::string_view frames);
  void received(std::string_view host, const wire::ToLauncher& message);

 private:
  Write write_;
  TimePoint begin_ = Clock::now();
};

}  // namespace sml::transport
