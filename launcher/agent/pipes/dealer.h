// Deals a stream of records to readers: a fixed number of consecutive records to each reader in turn. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/fifos.h"
#include "launcher/agent/pipes/record_splitter.h"

namespace sml::agent {

// Bytes of the stream, or of the dealer: valid until the dealer is called again.
struct Share {
  std::uint32_t reader = 0;
  std::string_view bytes;
};

// One epoch of a channel: reader 0 gets its first record. A dealer does not know which readers have left; their bytes
// are lost, and no other reader's.
class Dealer {
 public:
  // With Equalize::Drop, the most bytes that are kept until a round is complete.
  static constexpr std::size_t kLongestRound = std::size_t{256} << 20;

  Dealer(const plan::FifoChannel& channel, std::uint32_t readers, std::size_t longest_round = kLongestRound);

  // Deals the next bytes of the stream. Errors of kind Io; offset() is then the byte of the epoch at which the error
  // occurred.
  Result<std::span<const Share>> deal(std::string_view bytes);
  // Ends the epoch. Error: in the middle of a RecordIO record.
  Result<std::span<const Share>> end();
  std::uint64_t offset() const { return splitter_.offset(); }

 private:
  Result<void> give(std::string_view bytes);
  void record_ended();
  std::span<const Share> whole_rounds();

  RecordSplitter splitter_;
  plan::FifoFraming framing_;
  plan::Equalize equalize_;
  std::uint32_t group_;  // in records
  std::uint32_t in_group_ = 0;
  std::uint32_t reader_ = 0;
  std::vector<Share> shares_;
  // for Equalize::Drop, by reader:
  std::vector<std::string> kept_;
  std::vector<std::size_t> whole_;  // bytes of kept_ that belong to complete rounds
  std::size_t unfinished_ = 0;      // bytes in kept_ that belong to an incomplete round
  std::size_t longest_round_;
};

}  // namespace sml::agent
