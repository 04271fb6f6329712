#include "launcher/agent/pipes/channel_machine.h"

#include <algorithm>

namespace sml::agent {

using State = ReaderState;

Steps ChannelMachine::begin() {
  Steps steps;
  offer_all(steps);
  return steps;
}

void ChannelMachine::offer_all(Steps& steps) {
  for (std::uint32_t i = 0; i < readers_.size(); ++i) {
    if (readers_[i] == State::Dead) continue;
    readers_[i] = State::Awaited;
    steps.push_back({Act::Offer, i});
  }
}

bool ChannelMachine::takes(std::uint32_t reader) const {
  return readers_[reader] == State::Awaited || readers_[reader] == State::Reading;
}

Steps ChannelMachine::came(std::uint32_t reader) {
  Steps steps;
  if (over_ || readers_[reader] != State::Awaited) return steps;
  if (source_ == Source::Ended) {
    readers_[reader] = State::Finishing;
    return {{Act::Finish, reader}};
  }
  readers_[reader] = State::Reading;
  if (source_ == Source::Unopened) steps.push_back({Act::OpenSource});
  source_ = Source::Open;
  return steps;
}

Steps ChannelMachine::source_ended() {
  Steps steps;
  if (source_ != Source::Open) return steps;
  source_ = Source::Ended;
  steps.push_back({Act::CloseSource});
  for (std::uint32_t i = 0; i < readers_.size(); ++i) {
    if (readers_[i] != State::Reading) continue;
    readers_[i] = State::Finishing;
    steps.push_back({Act::Finish, i});
  }
  return steps;
}

Steps ChannelMachine::finished(std::uint32_t reader) {
  Steps steps;
  if (readers_[reader] != State::Finishing) return steps;
  readers_[reader] = State::Done;
  settle(steps);
  return steps;
}

Steps ChannelMachine::left(std::uint32_t reader) {
  Steps steps;
  if (readers_[reader] != State::Reading && readers_[reader] != State::Finishing) return steps;
  readers_[reader] = State::Done;
  steps.push_back({Act::Discard, reader});
  settle(steps);
  return steps;
}

Steps ChannelMachine::died(std::uint32_t reader) {
  Steps steps;
  if (readers_[reader] == State::Dead) return steps;
  readers_[reader] = State::Dead;
  if (over_) return steps;
  steps.push_back({Act::Discard, reader});
  settle(steps);
  return steps;
}

// Begins the next epoch if all readers have ended this one.
void ChannelMachine::settle(Steps& steps) {
  const auto ended = [](State s) { return s == State::Done || s == State::Dead; };
  if (!std::all_of(readers_.begin(), readers_.end(), ended)) return;
  if (source_ == Source::Open) steps.push_back({Act::CloseSource});
  source_ = Source::Unopened;
  const bool nobody = std::all_of(readers_.begin(), readers_.end(), [](State s) { return s == State::Dead; });
  over_ = nobody || last_epoch();
  if (over_) return;
  ++epoch_;
  offer_all(steps);
}

}  // namespace sml::agent
