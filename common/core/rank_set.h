// A set of ranks or local ranks, which parses and writes the notation for users: "0,8-15". Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"

namespace sml {

class RankSet {
 public:
  RankSet() = default;
  // Parses numbers and ranges separated by commas, in any order. An error (kind Usage) quotes the text and describes
  // what was expected. `largest`: the largest rank that is accepted.
  static Result<RankSet> parse(std::string_view text, std::uint32_t largest);

  void add(std::uint32_t rank) { add(rank, rank); }
  bool contains(std::uint32_t rank) const;
  bool empty() const { return ranges_.empty(); }
  std::size_t size() const;
  // The largest rank; the set must not be empty.
  std::uint32_t largest() const { return ranges_.back().last; }
  // parse() of this text gives the same set, unless that is empty. Numbers have at least `width` digits.
  std::string text(std::size_t width = 1) const;
  bool operator==(const RankSet&) const = default;

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
    bool operator==(const Range&) const = default;
  };
  void add(std::uint32_t first, std::uint32_t last);

  std::vector<Range> ranges_;  // sorted; no two ranges overlap or are adjacent
};

}  // namespace sml
