#include "launcher/output/result_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sml::output {

ResultRecords::Piece ResultRecords::add(std::uint32_t attempt, Rank rank, std::string_view bytes) {
  if (std::exchange(attempt_, attempt) != attempt) written_.clear();
  std::uint64_t& written = written_[rank];
  const std::string_view kept = bytes.substr(0, limit_ - std::min(written, limit_));
  const bool was_within = written <= limit_;
  written += bytes.size();
  Piece piece{.record = {}, .goes_beyond = was_within && written > limit_};
  if (!kept.empty()) piece.record = fmt::format("{} {} {}\n{}", attempt, rank.value(), kept.size(), kept);
  return piece;
}

}  // namespace sml::output
