// A byte stream that outlives the connection that carries it. Both ends count its bytes, and keep what they have sent
// until the other end has acknowledged it, so that another connection can continue where the previous one broke. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sml::wire {

// The bytes that one end sends, by position in the stream.
class SentBytes {
 public:
  void append(std::string_view bytes) { kept_ += bytes; }
  // Appends `size` bytes for the caller to fill in; the pointer is valid until the next call.
  char* extend(std::size_t size);
  std::uint64_t end() const { return begin_ + size(); }      // the position just past the last byte
  std::size_t size() const { return kept_.size() - gone_; }  // number of bytes kept
  // The bytes from that position on, empty at end(); valid until the next call that changes this. nullopt if they are
  // no longer kept, or not yet appended.
  std::optional<std::string_view> from(std::uint64_t place) const;
  // The other end has received everything before that position: discards it. Returns false, without a change, if the
  // position is beyond end(). A position below an earlier one has no effect: acknowledgements may be repeated after a
  // connection has broken.
  [[nodiscard]] bool acknowledge(std::uint64_t place);
  // Discards the bytes before that position, whether or not they were acknowledged.
  void forget(std::uint64_t place);

 private:
  std::string kept_;
  std::size_t gone_ = 0;     // bytes at the front of kept_ that are discarded
  std::uint64_t begin_ = 0;  // position of the first byte that is kept
};

// Counts the bytes received from the other end, and when to acknowledge them.
class ReceivedBytes {
 public:
  void add(std::size_t bytes) { count_ += bytes; }
  std::uint64_t count() const { return count_; }
  static constexpr std::uint64_t kReceiptEvery =
      std::uint64_t{256} << 10;  // a compromise: few acknowledgements, a small buffer at the sender
  // Returns the position to acknowledge if at least `least` bytes have arrived since this last returned one.
  std::optional<std::uint64_t> receipt(std::uint64_t least = kReceiptEvery);

 private:
  std::uint64_t count_ = 0;
  std::uint64_t acknowledged_ = 0;  // the position that was last acknowledged
};

// Compares two secrets of the same length in constant time.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace sml::wire
