// Who gets which bytes of a stream of records: so many records in a row for each reader, in turn. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/fifos/record_splitter.h"
#include "common/plan/fifos.h"

namespace sml::fifos {

// Bytes of the stream, or of the dealer: valid until it is called again.
struct Share {
  std::uint32_t reader = 0;
  std::string_view bytes;
};

// One epoch of a channel: reader 0 gets its first record. A dealer knows nothing of readers that have left; what it
// deals to them is lost, and nobody else's.
class Dealer {
 public:
  // With Equalize::Drop at most so many bytes are kept until a round is whole.
  static constexpr std::size_t kLongestRound = std::size_t{256} << 20;

  Dealer(const plan::FifoChannel& channel, std::uint32_t readers, std::size_t longest_round = kLongestRound);

  // The stream goes on with `bytes`. Errors of kind Io; offset() is the byte of the epoch at which it happened.
  Result<std::span<const Share>> deal(std::string_view bytes);
  // The epoch ends. Error: in the middle of a RecordIO record.
  Result<std::span<const Share>> end();
  std::uint64_t offset() const { return splitter_.offset(); }

 private:
  Result<void> give(std::string_view bytes);
  void record_ended();
  std::span<const Share> whole_rounds();

  RecordSplitter splitter_;
  plan::FifoFraming framing_;
  plan::Equalize equalize_;
  std::uint32_t group_;  // records
  std::uint32_t in_group_ = 0;
  std::uint32_t reader_ = 0;
  std::vector<Share> shares_;
  // for Equalize::Drop, by reader:
  std::vector<std::string> kept_;
  std::vector<std::size_t> whole_;  // bytes of kept_ that belong to whole rounds
  std::size_t unfinished_ = 0;      // bytes in kept_ that do not
  std::size_t longest_round_;
};

}  // namespace sml::fifos
