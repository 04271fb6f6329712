// Makes the flight recorder of one worker write its dump, and fetches the dump. It polls, as the writer sends no
// notice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/core/clock.h"

namespace sml::agent {

class FlightRecorder {
 public:
  static constexpr Duration kPoll = std::chrono::milliseconds(100);

  // See TorchPlaces for `pipe` and `dump`.
  FlightRecorder(std::string pipe, std::string dump) : pipe_(std::move(pipe)), dump_(std::move(dump)) {}

  // Returns false if no process reads the pipe.
  bool trigger();
  bool awaited() const { return awaited_; }
  void give_up() { awaited_ = false; }
  // To be called every kPoll after trigger(). Returns the whole dump once it has stopped growing. Returns nullopt if
  // the dump is not there yet, or is given up because it is longer than `most` bytes.
  std::optional<std::string> poll(std::size_t most);

 private:
  std::string pipe_;
  std::string dump_;
  std::int64_t before_ns_ = 0;  // modification time of an earlier dump
  std::uint64_t size_ = 0;      // at the last poll
  bool awaited_ = false;
};

}  // namespace sml::agent
