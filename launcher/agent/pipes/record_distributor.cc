#include "launcher/agent/pipes/record_distributor.h"

#include <utility>

namespace sml::agent {

using plan::Equalize;
using plan::FifoFraming;

RecordDistributor::RecordDistributor(const plan::FifoChannel& channel, std::uint32_t readers, std::size_t longest_round)
    : splitter_(channel.framing, channel.group),
      framing_(channel.framing),
      equalize_(channel.equalize),
      group_(channel.framing == FifoFraming::Bytes ? 1 : channel.group),
      kept_(readers),
      whole_(readers),
      longest_round_(longest_round) {}

Result<std::span<const Share>> RecordDistributor::deal(std::string_view bytes) {
  shares_.clear();
  for (std::uint32_t i = 0; i < kept_.size(); ++i) kept_[i].erase(0, std::exchange(whole_[i], 0));
  while (!bytes.empty()) {
    const RecordSplitter::Cut cut = splitter_.next(bytes);
    if (cut.size == 0) return splitter_.fault();
    if (Result<void> given = give(bytes.substr(0, cut.size)); !given) return given.error();
    bytes.remove_prefix(cut.size);
    if (cut.ends == RecordSplitter::Ends::Yes) record_ended();
  }
  return whole_rounds();
}

Result<std::span<const Share>> RecordDistributor::end() {
  if (Result<void> whole = splitter_.end(); !whole) return whole.error();
  shares_.clear();
  for (std::uint32_t i = 0; i < kept_.size(); ++i) kept_[i].erase(0, std::exchange(whole_[i], 0));
  // The last line needs no newline; a last piece that is too short does not count.
  if (framing_ == FifoFraming::Lines && splitter_.inside()) record_ended();
  return whole_rounds();
}

Result<void> RecordDistributor::give(std::string_view bytes) {
  if (equalize_ == Equalize::No) {
    const bool follows = !shares_.empty() && shares_.back().reader == reader_;
    if (follows) {
      std::string_view& last = shares_.back().bytes;
      last = std::string_view(last.data(), last.size() + bytes.size());
    } else {
      Share& share = shares_.emplace_back();  // filled in place: copying a new one would stall on its stores
      share.reader = reader_;
      share.bytes = bytes;
    }
    return {};
  }
  unfinished_ += bytes.size();
  if (unfinished_ > longest_round_) {
    return Error(ErrorKind::Io, "the records of one round for all ranks are more than " +
                                    std::to_string(longest_round_) + " bytes, which equalize=drop would have to keep");
  }
  kept_[reader_] += bytes;
  return {};
}

void RecordDistributor::record_ended() {
  if (++in_group_ < group_) return;
  in_group_ = 0;
  reader_ = (reader_ + 1) % static_cast<std::uint32_t>(kept_.size());
  if (reader_ != 0 || equalize_ == Equalize::No) return;
  unfinished_ = 0;
  for (std::uint32_t i = 0; i < kept_.size(); ++i) whole_[i] = kept_[i].size();
}

std::span<const Share> RecordDistributor::whole_rounds() {
  for (std::uint32_t i = 0; i < kept_.size(); ++i) {
    if (whole_[i] > 0) shares_.push_back({i, std::string_view(kept_[i]).substr(0, whole_[i])});
  }
  return shares_;
}

}  // namespace sml::agent
