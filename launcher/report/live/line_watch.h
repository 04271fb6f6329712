// --watch: checks that ranks keep printing lines that match. Pure; bounded.
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
#include "launcher/report/live/line_pattern.h"

namespace sml::report {

struct WatchRule {
  static constexpr Duration kLeast = std::chrono::milliseconds(100);

  // Parses "REGEX;first=D;every=D;ranks=LIST", the settings in any order; each may be missing. Error (Usage) explains
  // what was expected. No rank of LIST may be above `largest_rank`.
  static Result<WatchRule> parse(std::string_view text, std::uint32_t largest_rank);

  bool has_limit() const { return first || every; }

  LinePattern pattern;
  std::optional<Duration> first;  // limit for the first matching line, from the start of the rank; nullopt: no limit
  std::optional<Duration> every;  // limit for each further one; nullopt: one match is enough
  std::optional<RankSet> ranks;   // the ranks that are watched; nullopt: all
};

// The workers are to be ended since ranks make no progress: which ranks, and which limit they missed.
struct NoProgress {
  enum class Limit : std::uint8_t { First, Every, Silence, SilenceOfAll };  // the last two: of --warn-silent
  enum class Then : std::uint8_t { AsAfterFailures, JobEnds };  // whether a restart may follow, or never does
  RankSet ranks;
  Limit limit = Limit::First;
  Duration timeout{};     // the time that they had
  std::string pattern{};  // empty for the limits of --warn-silent
  Then then = Then::AsAfterFailures;
};

class LineWatch {
 public:
  // Only the beginning of a longer line is matched. A line ends with \n or \r, so that progress bars count.
  static constexpr std::size_t kMaxLine = 4096;

  LineWatch(WatchRule rule, std::uint32_t world_size);

  void grow(std::uint32_t ranks) { ranks_.resize(ranks); }  // the new number of ranks
  void started(Rank rank, TimePoint now);
  // Progress of a rank: a line that matches, with the numbers that the groups of the regular expression match.
  using Match = StepNumbers;
  // The rank has printed `bytes`. Returns the last match among the lines that end in them; if the expression has
  // groups, the last one with a step is preferred. Nullopt: no line matches, or the rank is not watched.
  std::optional<Match> add(Rank rank, Stream stream, std::string_view bytes, TimePoint now);
  void ended(Rank rank);
  // True if a line of any watched rank has matched.
  bool has_matched() const { return has_matched_; }
  // The ranks whose limit has passed; only those that missed the same limit as the first of them. Nullopt: none.
  // Returns them again at each call.
  std::optional<NoProgress> on_time(TimePoint now) const;

 private:
  enum class Phase : std::uint8_t { NotWatched, AwaitsFirst, AwaitsNext, Unlimited };
  struct State {
    Phase phase = Phase::NotWatched;
    TimePoint since;                      // its start, or its last match
    std::array<std::string, 2> partials;  // by stream: the beginning of an unfinished line
  };
  std::optional<Duration> limit(Phase phase) const;
  std::optional<Match> match(std::string& partial, std::string_view bytes) const;

  WatchRule rule_;
  std::vector<State> ranks_;
  bool has_matched_ = false;
};

}  // namespace sml::report
