// --watch: ranks must keep printing lines that match. Pure; bounded.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/rank_set.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/report/line_pattern.h"

namespace sml::report {

struct WatchRule {
  static constexpr Duration kLeast = std::chrono::milliseconds(100);

  // "REGEX;first=D;every=D;ranks=LIST", the settings in any order. An error (kind Usage)
  // says what was expected. `largest_rank`: no rank may be above it.
  static Result<WatchRule> parse(std::string_view text, std::uint32_t largest_rank);

  bool has_limit() const { return first || every; }

  LinePattern pattern;
  std::optional<Duration> first;  // for the first line that matches, from the start of the rank; nothing: no limit
  std::optional<Duration> every;  // for each further one; nothing: one is enough
  std::optional<RankSet> ranks;   // who is watched; nothing: all
};

// Why the workers are to be ended.
struct NoProgress {
  enum class Limit : std::uint8_t { First, Every, Silence, SilenceOfAll };  // the last two: --warn-silent
  enum class Then : std::uint8_t { AsAfterFailures, JobEnds };
  RankSet ranks;
  Limit limit = Limit::First;
  Duration patience{};
  std::string pattern{};  // empty: of Silence
  Then then = Then::AsAfterFailures;
};

class LineWatch {
 public:
  // Of a longer line the beginning is looked at. A line ends with \n or \r, so that progress bars count.
  static constexpr std::size_t kMaxLine = 4096;

  LineWatch(WatchRule rule, std::uint32_t world_size);

  void grow(std::uint32_t ranks) { ranks_.resize(ranks); }  // there are so many now
  void started(Rank rank, TimePoint now);
  void add(Rank rank, Stream stream, std::string_view bytes, TimePoint now);
  void ended(Rank rank);
  // Some line has, of any rank that is watched.
  bool has_matched() const { return has_matched_; }
  // Ranks whose time is over; those who missed the same limit as the first of them.
  std::optional<NoProgress> on_time(TimePoint now) const;

 private:
  enum class Phase : std::uint8_t { NotWatched, AwaitsFirst, AwaitsNext };
  struct State {
    Phase phase = Phase::NotWatched;
    TimePoint since;                      // start, or last match
    std::array<std::string, 2> partials;  // by stream: the beginning of a line that has not ended
  };
  std::optional<Duration> limit(Phase phase) const;
  bool matches(std::string& partial, std::string_view bytes) const;

  WatchRule rule_;
  std::vector<State> ranks_;
  bool has_matched_ = false;
};

}  // namespace sml::report
