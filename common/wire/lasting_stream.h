// A stream of bytes that outlives the pipe that it travels in. Both ends count its bytes; what has been sent is kept
// until the other end has told that it came, so that another pipe can go on where the one before has broken. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sml::wire {

// What one end sends, by its place in the stream.
class SentBytes {
 public:
  void append(std::string_view bytes) { kept_ += bytes; }
  // The same with `size` bytes that the caller fills in; until the next call.
  char* extend(std::size_t size);
  std::uint64_t end() const { return begin_ + size(); }      // behind the last
  std::size_t size() const { return kept_.size() - gone_; }  // what is kept
  // What was appended from there on, valid until the next call; nothing where that is not kept, or not yet there.
  std::optional<std::string_view> from(std::uint64_t place) const;
  // The other end has all before that place; false, and nothing changes: it cannot be. It may have told of more
  // already: what was on its way when a pipe broke comes once more.
  [[nodiscard]] bool acknowledge(std::uint64_t place);
  // What comes before that place need not be kept any more.
  void forget(std::uint64_t place);

 private:
  std::string kept_;
  std::size_t gone_ = 0;     // of these, at the front
  std::uint64_t begin_ = 0;  // place of what comes behind them
};

// What the other end has received, and is told of now and then.
class ReceivedBytes {
 public:
  void add(std::size_t bytes) { count_ += bytes; }
  std::uint64_t count() const { return count_; }
  // When enough has come since the last: the place to tell.
  std::optional<std::uint64_t> receipt();

 private:
  std::uint64_t count_ = 0;
  std::uint64_t told_ = 0;
};

// Whether two secrets are the same; how long that takes tells nothing of where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace sml::wire
