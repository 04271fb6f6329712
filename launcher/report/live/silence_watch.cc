#include "launcher/report/live/silence_watch.h"

#include "common/core/text.h"
#include "launcher/report/rank_words.h"

namespace sml::report {

void SilenceWatch::started(Rank rank, TimePoint now) {
  ranks_[rank.value()].last = now;
  all_reported_ = false;
}

void SilenceWatch::spoke(Rank rank, TimePoint now) {
  latest_ = now;
  all_reported_ = false;
  State& state = ranks_[rank.value()];
  if (!state.last) return;  // remaining output of a rank that has ended
  state.last = now;
  if (state.reported) again_.add(rank.value());
  state.reported = false;
}

void SilenceWatch::ended(Rank rank) { ranks_[rank.value()] = {}; }

// Adds ranks that have been silent while others printed.
void SilenceWatch::add_quiet(RankSet& silent) {
  for (std::uint32_t rank = 0; latest_ && rank < ranks_.size(); ++rank) {
    State& state = ranks_[rank];
    if (!state.last || state.reported || *latest_ - *state.last < limit_) continue;
    state.reported = true;
    silent.add(rank);
  }
}

bool SilenceWatch::all_are_silent(TimePoint now) const {
  bool news = false;  // false for ranks reported while others, which have ended since, still printed
  for (const State& state : ranks_) {
    if (state.last && now - *state.last < limit_) return false;
    news = news || (state.last && !state.reported);
  }
  return news;
}

SilenceWatch::News SilenceWatch::on_time(TimePoint now) {
  News news;
  if (!again_.empty()) {
    news.sentences.push_back(ranks_in_words(again_, map_) + (again_.size() == 1 ? " prints again" : " print again"));
    again_ = RankSet();
  }
  if (!all_reported_ && all_are_silent(now)) {
    all_reported_ = true;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].reported = ranks_[rank].last.has_value();
      if (ranks_[rank].last) news.silent.add(rank);
    }
    news.whose = News::Whose::All;
    news.sentences.push_back("no rank has printed anything for " + format_duration(limit_) + " (--warn-silent)");
    return news;
  }
  add_quiet(news.silent);
  if (!news.silent.empty()) {
    news.sentences.push_back(ranks_in_words(news.silent, map_) + (news.silent.size() == 1 ? " has" : " have") +
                             " printed nothing for " + format_duration(limit_) + ", while others have (--warn-silent)");
  }
  return news;
}

}  // namespace sml::report
