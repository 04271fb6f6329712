// Undoes gzip, piece by piece. The only place that knows zlib.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "common/core/error.h"

namespace sml::agent {

// One file: one gzip stream, or several behind one another.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Takes from the front of `in` and fills `out` from its front; answers how many bytes were filled. 0 with `in` empty:
  // it needs more. Error (Io): not gzip.
  Result<std::size_t> inflate(std::string_view& in, std::span<char> out);
  // Whether a stream has ended, and none has begun since.
  bool at_end() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sml::agent
