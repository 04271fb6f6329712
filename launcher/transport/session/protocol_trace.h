// Writes down the messages between the launcher and its agents, for who works on the protocol (--trace-protocol).
//
// A message is one line, a JSON object:
//   {"t":0.012345,"host":"algo-2","to":"agent","message":"Prepare","fields":[0,{"bytes":8},[],...]}
// `t` counts seconds from the construction; `fields` are the values in the order of the message's fields(). Numbers,
// flags and enumerations are written as numbers. Text is given by its length alone, as it may hold secrets or output;
// of a list the first 8 items are written, and then how many follow.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/wire/messages.h"

namespace sml::transport {

// Used on the loop thread. Writes only by `write`, which takes the line and must not call back.
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
