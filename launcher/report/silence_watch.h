// --warn-silent: which ranks have printed nothing for a while. Pure.
//
// A rank is silent when some other rank has printed, the limit or more after this one's last output, or its start: a
// rank is not blamed for being the last by a moment. When no rank that runs has printed for so long, all are silent
// together: most hangs look so, as the others wait for the one that hangs. Each silence is told once, and its end too.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/rank_set.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::report {

class SilenceWatch {
 public:
  // `map` outlives this.
  SilenceWatch(Duration limit, const plan::JobMap& map) : limit_(limit), map_(map), ranks_(map.world_size()) {}

  void grow(std::uint32_t ranks) { ranks_.resize(ranks); }  // there are so many now
  void started(Rank rank, TimePoint now);
  void spoke(Rank rank, TimePoint now);
  void ended(Rank rank);
  struct News {
    std::vector<std::string> sentences;  // to be said: who prints again, who has become silent
    RankSet silent;                      // the latter
    enum class Whose : std::uint8_t { Some, All } whose = Whose::Some;  // All: of the ranks that run
  };
  News on_time(TimePoint now);

 private:
  void add_quiet(RankSet& silent);
  bool all_are_silent(TimePoint now) const;

  struct State {
    std::optional<TimePoint> last;  // its output, or its start; nothing: it does not run
    bool told = false;
  };
  Duration limit_;
  const plan::JobMap& map_;
  std::vector<State> ranks_;
  std::optional<TimePoint> latest_;  // output of any
  RankSet again_;                    // who has spoken after it was told of
  bool all_told_ = false;            // nobody has spoken, or started, since all were silent
};

}  // namespace sml::report
