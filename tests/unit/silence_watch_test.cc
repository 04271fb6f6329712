#include "launcher/report/live/silence_watch.h"

#include "launcher/report/live/work_clock.h"
#include "launcher/report/rank_words.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

namespace {

const TimePoint kStart{1h};

// Ranks 0-1 on a, 2-3 on b, ...
plan::JobMap map_of(std::initializer_list<std::string> names) {
  plan::HostList hosts;
  for (const std::string& name : names) hosts.hosts.push_back({name, "", 2});
  return *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
}

RankSet set_of(std::initializer_list<std::uint32_t> ranks) {
  RankSet out;
  for (const std::uint32_t rank : ranks) out.add(rank);
  return out;
}

struct Watched {
  explicit Watched(Duration limit) : watch(limit, map) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) watch.started(Rank(rank), kStart);
  }
  void speak(std::initializer_list<std::uint32_t> ranks, Duration after) {
    now = kStart + after;
    for (const std::uint32_t rank : ranks) watch.spoke(Rank(rank), now);
  }
  SilenceWatch::News look() { return watch.on_time(now); }
  plan::JobMap map = map_of({"algo-1", "algo-2"});
  SilenceWatch watch;
  TimePoint now = kStart;
};

}  // namespace

TEST_CASE("silence: who has printed nothing while others have is named once") {
  Watched job(60s);
  job.speak({0, 1, 2, 3}, 10s);
  job.speak({0, 1}, 69s);
  CHECK(job.look().sentences.empty());
  job.speak({0}, 70s);
  CHECK(job.look().sentences ==
        Words{"ranks 2-3 on algo-2 have printed nothing for 60 s, while others have (--warn-silent)"});
  job.speak({0, 1}, 500s);
  CHECK(job.look().silent.empty());
  CHECK(job.look().sentences.empty());
}

TEST_CASE("silence: who has become silent is known by number, each time anew") {
  Watched job(5s);
  job.speak({0, 1, 2}, 6s);
  CHECK(job.look().silent.text() == "3");
  job.speak({0, 1}, 12s);
  CHECK(job.look().silent.text() == "2");
}

TEST_CASE("silence: its end is told, and the next one again") {
  Watched job(5s);
  job.speak({0, 1, 2}, 6s);
  CHECK(job.look().sentences ==
        Words{"rank 3 on algo-2 has printed nothing for 5 s, while others have (--warn-silent)"});
  job.speak({3}, 7s);
  CHECK(job.look().sentences == Words{"rank 3 on algo-2 prints again"});
  CHECK(job.look().sentences.empty());
  job.speak({0, 1, 2}, 13s);
  CHECK(job.look().sentences.size() == 1);
}

TEST_CASE("silence: that of all is told as one, whatever moment each was last, and its end by who ends it") {
  Watched job(5s);
  job.speak({0}, 1s);
  job.speak({1}, 2s);
  job.speak({2}, 3s);
  job.speak({3}, 4s);
  job.now = kStart + 8s;
  CHECK(job.look().sentences.empty());
  job.now = kStart + 9s;
  const SilenceWatch::News news = job.look();
  CHECK(news.sentences == Words{"no rank has printed anything for 5 s (--warn-silent)"});
  CHECK(news.whose == SilenceWatch::News::Whose::All);
  CHECK(news.silent.text() == "0-3");
  job.now = kStart + 60s;
  CHECK(job.look().sentences.empty());
  job.speak({1}, 61s);
  CHECK(job.look().sentences == Words{"rank 1 on algo-1 prints again"});
  job.now = kStart + 66s;
  CHECK(job.look().sentences == Words{"no rank has printed anything for 5 s (--warn-silent)"});
}

TEST_CASE("silence: all means those that run, and nobody is silent before anything has started") {
  Watched job(5s);
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.watch.ended(Rank(rank));
  job.now = kStart + 5s;
  CHECK(job.look().silent.text() == "3");
  job.watch.ended(Rank(3));
  job.now = kStart + 60s;
  CHECK(job.look().sentences.empty());
}

TEST_CASE("silence: ranks that were told of are not told of again when all others have ended") {
  Watched job(5s);
  job.speak({0, 1, 2}, 6s);
  CHECK(job.look().silent.text() == "3");
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.watch.ended(Rank(rank));
  job.now = kStart + 60s;
  CHECK(job.look().sentences.empty());
  CHECK(job.look().silent.empty());
}

TEST_CASE("silence: a rank that never prints counts from its start; those that do not run do not count") {
  Watched job(5s);
  job.watch.ended(Rank(1));
  job.speak({0, 3}, 5s);
  job.speak({1}, 5s);  // what it had printed before its end
  CHECK(job.look().sentences ==
        Words{"rank 2 on algo-2 has printed nothing for 5 s, while others have (--warn-silent)"});
  job.speak({0, 2, 3}, 20s);
  CHECK(job.look().sentences == Words{"rank 2 on algo-2 prints again"});
}

TEST_CASE("ranks and their hosts in words") {
  const plan::JobMap map = map_of({"algo-1", "algo-2", "algo-3"});
  CHECK(ranks_in_words(set_of({3}), map) == "rank 3 on algo-2");
  CHECK(ranks_in_words(set_of({0, 2, 3, 4}), map) == "ranks 0,2-4 on algo-[1-3]");
}

TEST_CASE("time stands still while workers cannot print") {
  WorkClock clock(2s);
  const TimePoint zero = clock.advance(kStart, OutputFlow::Open);
  CHECK(clock.advance(kStart + 1s, OutputFlow::Open) == zero + 1s);
  CHECK(clock.advance(kStart + 2s, OutputFlow::Held) == zero + 1s);
  CHECK(clock.advance(kStart + 3s, OutputFlow::Open) == zero + 2s);
  CHECK(clock.advance(kStart + 1h, OutputFlow::Open) == zero + 4s);  // we had been stopped
  CHECK(clock.advance(kStart, OutputFlow::Open) == zero + 4s);
}
