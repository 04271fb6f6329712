// Makes torch's flight recorder in one worker write its dump to a file, and reads that file. Polls for the file,
// because torch sends no notice when it has written it. trigger() and poll() block for as long as the file system
// takes.
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

  // Requests a dump through the pipe. Returns false if that is not possible: usually no process reads the pipe, because
  // the worker has no such recorder.
  bool trigger();
  // Whether a dump has been requested, and has neither been returned nor given up.
  bool awaited() const { return awaited_; }
  void give_up() { awaited_ = false; }
  // Call every kPoll after trigger(), while awaited(). Returns the whole dump once it has stopped growing. Returns
  // nullopt if the dump is not there yet, cannot be read, or is given up because it is longer than `most` bytes.
  std::optional<std::string> poll(std::size_t most);

 private:
  std::string pipe_;
  std::string dump_;
  std::int64_t before_ns_ = 0;  // modification time of an earlier dump
  std::uint64_t size_ = 0;      // of the dump, at the last poll
  bool awaited_ = false;
};

}  // namespace sml::agent
