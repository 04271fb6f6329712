// Decompresses gzip piece by piece. No other code uses zlib.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "common/core/error.h"

namespace sml::agent {

// One file: one gzip stream, or several one after the other.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Consumes bytes from the front of `in` and fills `out` from its front. Returns the number of bytes filled; 0 with
  // `in` empty means that it needs more input. Error (Io): not valid gzip.
  Result<std::size_t> inflate(std::string_view& in, std::span<char> out);
  // True if a stream has ended and none has begun since.
  bool at_end() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sml::agent
