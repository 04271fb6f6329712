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

// Consecutive bytes for one reader. They belong to the argument of deal() or to the distributor, and are valid until
// the distributor is called again.
struct Share {
  std::uint32_t reader = 0;  // its index
  std::string_view bytes;
};

// Deals one epoch of a channel: reader 0 gets the first record. With Equalize::Drop it deals only complete rounds, so
// that all readers get equally many records. A distributor does not know which readers have left: it deals to them as
// to the others, and the caller drops their bytes.
class RecordDistributor {
 public:
  // A round is complete when each reader has had its turn. With Equalize::Drop, this is the most bytes that are kept
  // until a round is complete.
  static constexpr std::size_t kLongestRound = std::size_t{256} << 20;

  RecordDistributor(const plan::FifoChannel& channel, std::uint32_t readers, std::size_t longest_round = kLongestRound);

  // Deals the next bytes of the stream, in pieces of any size. Error (Io): invalid records, or a round longer than
  // `longest_round`; offset() is then the byte of the epoch at which the error occurred.
  Result<std::span<const Share>> deal(std::string_view bytes);
  // Ends the epoch, and deals what was kept of complete rounds. Error (Io): in the middle of a RecordIO record.
  Result<std::span<const Share>> end();
  std::uint64_t offset() const { return splitter_.offset(); }

 private:
  Result<void> give(std::string_view bytes);
  void record_ended();
  std::span<const Share> whole_rounds();

  RecordSplitter splitter_;
  plan::FifoFraming framing_;
  plan::Equalize equalize_;
  std::uint32_t group_;         // number of consecutive records for one reader
  std::uint32_t in_group_ = 0;  // number of these that reader_ has got
  std::uint32_t reader_ = 0;    // the one whose turn it is
  std::vector<Share> shares_;
  // for Equalize::Drop, by reader:
  std::vector<std::string> kept_;
  std::vector<std::size_t> whole_;  // bytes of kept_ that belong to complete rounds
  std::size_t unfinished_ = 0;      // bytes in kept_ that belong to an incomplete round
  std::size_t longest_round_;
};

}  // namespace sml::agent
