// Makes the records of the --results file from the bytes that each rank writes to its descriptor for results. The bytes
// come in pieces, and each rank may write a limited number of them. Pure.
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
    std::string record;        // empty: all bytes are beyond the limit, and are dropped
    bool goes_beyond = false;  // the rank has just crossed the limit in this attempt; true only once
  };
  // Makes a record of bytes that a rank has written. Attempts count from 1; bytes of an attempt must not follow bytes
  // of a later one.
  Piece add(std::uint32_t attempt, Rank rank, std::string_view bytes);
  std::uint64_t limit() const { return limit_; }

 private:
  std::uint64_t limit_;
  std::uint32_t attempt_ = 0;
  std::map<Rank, std::uint64_t> written_;  // bytes of each rank in that attempt, including dropped ones
};

}  // namespace sml::output
