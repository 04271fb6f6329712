// The records of --results: what each rank writes to its descriptor for results, in pieces, within a limit. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/core/strong.h"

namespace sml::output {

// A record is a line "ATTEMPT RANK BYTES", of decimal numbers, and so many bytes. The pieces of a rank keep their
// order.
class ResultRecords {
 public:
  // `limit`: bytes that a rank may write in an attempt.
  explicit ResultRecords(std::uint64_t limit) : limit_(limit) {}

  struct Piece {
    std::string record;        // empty: all of it is beyond the limit
    bool goes_beyond = false;  // these are the first bytes of the rank, in this attempt, that are dropped
  };
  // Attempts count from 1; those before the last one that was named are over.
  Piece add(std::uint32_t attempt, Rank rank, std::string_view bytes);
  std::uint64_t limit() const { return limit_; }

 private:
  std::uint64_t limit_;
  std::uint32_t attempt_ = 0;
  std::map<Rank, std::uint64_t> written_;  // in that attempt; those dropped count
};

}  // namespace sml::output
