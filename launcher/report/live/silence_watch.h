// --warn-silent: detects ranks that have printed nothing for some time. Pure.
//
// A rank is silent if some rank has printed at a time that is at least the limit after this rank's last output or
// start. The time that passes while no rank prints thus singles out no rank. If no running rank has printed for the
// limit, all are silent together: most hangs look like this, as the others wait for the rank that hangs. Each silence
// is reported once, and so is its end.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/rank_set.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"

namespace sml::report {

class SilenceWatch {
 public:
  // `map` must outlive this.
  SilenceWatch(Duration limit, const plan::JobMap& map) : limit_(limit), map_(map), ranks_(map.world_size()) {}

  void grow(std::uint32_t ranks) { ranks_.resize(ranks); }  // the new number of ranks
  void started(Rank rank, TimePoint now);
  void spoke(Rank rank, TimePoint now);
  void ended(Rank rank);
  struct News {
    std::vector<std::string> sentences;  // messages: ranks that print again, and ranks that have become silent
    RankSet silent;                      // the ranks that have become silent
    enum class Whose : std::uint8_t { Some, All } whose = Whose::Some;  // All: all running ranks
  };
  // To be called regularly: what has changed since the last call. Empty lists: no news.
  News on_time(TimePoint now);

 private:
  void add_quiet(RankSet& silent);
  bool all_are_silent(TimePoint now) const;

  struct State {
    std::optional<TimePoint> last;  // its last output or its start; nullopt: it does not run
    bool reported = false;          // its present silence has been reported
  };
  Duration limit_;
  const plan::JobMap& map_;
  std::vector<State> ranks_;
  std::optional<TimePoint> latest_;  // last output of any rank
  RankSet again_;                    // ranks that printed after their silence was reported
  bool all_reported_ = false;        // the silence of all has been reported, and no rank has printed or started since
};

}  // namespace sml::report
