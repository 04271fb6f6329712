// Makes the flight recorder of one worker write what it has, and fetches that. It is polled: who writes tells nobody.
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

  // `pipe` and `dump` as in TorchPlaces.
  FlightRecorder(std::string pipe, std::string dump) : pipe_(std::move(pipe)), dump_(std::move(dump)) {}

  // False: nobody reads the pipe.
  bool trigger();
  bool awaited() const { return awaited_; }
  void give_up() { awaited_ = false; }
  // Each kPoll from then on: all of it, once it has stopped growing. Nothing: it is not there yet, or is longer than
  // `most` bytes and is given up.
  std::optional<std::string> poll(std::size_t most);

 private:
  std::string pipe_;
  std::string dump_;
  std::int64_t before_ns_ = 0;  // when what is there of an earlier dump was written
  std::uint64_t size_ = 0;      // when last seen
  bool awaited_ = false;
};

}  // namespace sml::agent
