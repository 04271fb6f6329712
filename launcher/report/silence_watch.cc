#include "launcher/report/silence_watch.h"

#include <utility>

#include "common/core/text.h"
#include "launcher/report/rank_words.h"

namespace sml::report {

void SilenceWatch::started(Rank rank, TimePoint now) { ranks_[rank.value()].last = now; }

void SilenceWatch::spoke(Rank rank, TimePoint now) {
  latest_ = now;
  State& state = ranks_[rank.value()];
  if (!state.last) return;  // the rest of what it had printed before its end
  state.last = now;
  if (state.told) again_.add(rank.value());
  state.told = false;
}

void SilenceWatch::ended(Rank rank) { ranks_[rank.value()] = {}; }

SilenceWatch::News SilenceWatch::on_time() {
  std::vector<std::string> said;
  if (!again_.empty()) {
    said.push_back(ranks_in_words(again_, map_) + (again_.size() == 1 ? " prints again" : " print again"));
    again_ = RankSet();
  }
  RankSet silent;
  for (std::uint32_t rank = 0; latest_ && rank < ranks_.size(); ++rank) {
    State& state = ranks_[rank];
    if (!state.last || state.told || *latest_ - *state.last < limit_) continue;
    state.told = true;
    silent.add(rank);
  }
  if (!silent.empty()) {
    said.push_back(ranks_in_words(silent, map_) + (silent.size() == 1 ? " has" : " have") + " printed nothing for " +
                   format_duration(limit_) + ", while others have (--warn-silent)");
  }
  return {std::move(said), std::move(silent)};
}

}  // namespace sml::report
