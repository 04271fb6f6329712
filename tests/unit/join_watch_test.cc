#include "launcher/attempt/rendezvous/join_watch.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::attempt;
using namespace std::chrono_literals;
using Ask = JoinWatch::Ask;

namespace {
const TimePoint kStart{1h};
std::vector<Rank> ranks(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Rank> out;
  for (const std::uint32_t n : numbers) out.emplace_back(n);
  return out;
}
}  // namespace

TEST_CASE("join watch: nobody is asked before it is time, and the store first") {
  JoinWatch watch(60s, 8);
  CHECK_FALSE(watch.due());
  watch.started(kStart);
  CHECK(watch.due() == kStart + 60s);
  watch.asking_store();
  CHECK(watch.asking() == Ask::Store);
  CHECK_FALSE(watch.due());
}

TEST_CASE("join watch: when all have joined it is over") {
  JoinWatch watch(60s, 8);
  watch.started(kStart);
  watch.asking_store();
  CHECK(watch.on_store_reply(8, 59s, kStart + 60s) == Ask::Nobody);
  CHECK_FALSE(watch.due());
}

TEST_CASE("join watch: a program that has not begun to meet is left alone") {
  JoinWatch watch(60s, 8);
  watch.started(kStart);
  watch.asking_store();
  CHECK(watch.on_store_reply(0, 0s, kStart + 60s) == Ask::Nobody);
  CHECK(watch.due() == kStart + 120s);
}

TEST_CASE("join watch: the time runs from the first who has joined") {
  JoinWatch watch(60s, 8);
  watch.started(kStart);
  watch.asking_store();
  CHECK(watch.on_store_reply(3, 20s, kStart + 60s) == Ask::Nobody);
  CHECK(watch.due() == kStart + 100s);
  watch.asking_store();
  CHECK(watch.on_store_reply(6, 60s, kStart + 100s) == Ask::Everybody);
  CHECK_FALSE(watch.due());
}

TEST_CASE("join watch: the missing are named when the last host has answered") {
  JoinWatch watch(60s, 12);
  CHECK(watch.on_store_reply(7, 60s, kStart) == Ask::Everybody);
  watch.asking_everybody(3);
  CHECK(watch.host_says("algo-3", ranks({8, 10, 11}), 0, kStart).empty());
  CHECK(watch.host_says("algo-1", {}, 0, kStart).empty());
  CHECK(watch.host_says("algo-2", ranks({9, 5}), 0, kStart) ==
        "ranks 5, 9 on algo-2, ranks 8, 10, 11 on algo-3 have not joined the process group after 60 s (7 of 12 have; "
        "--join-warn)");
  CHECK(watch.host_says("algo-2", ranks({5}), 0, kStart).empty());
}

TEST_CASE("join watch: one rank, and many") {
  JoinWatch one(2s, 4);
  one.on_store_reply(3, 2s, kStart);
  one.asking_everybody(1);
  CHECK(one.host_says("a", ranks({2}), 0, kStart) ==
        "rank 2 on a has not joined the process group after 2 s (3 of 4 have; --join-warn)");
  JoinWatch many(2s, 2000);
  many.on_store_reply(1, 2s, kStart);
  many.asking_everybody(12);
  std::string said;
  for (std::uint32_t i = 0; i < 12; ++i)
    said = many.host_says("h" + std::to_string(i), ranks({4 * i, 4 * i + 1, 4 * i + 2}), 0, kStart);
  CHECK(said.starts_with("ranks 0-2 on h0, ranks 4-6 on h1, "));
  CHECK(said.find(" on h9 and those of 2 more hosts have not joined") != std::string::npos);
}

TEST_CASE("join watch: when every worker holds a connection there is nobody to name") {
  JoinWatch watch(60s, 4);
  watch.on_store_reply(3, 60s, kStart);
  watch.asking_everybody(1);
  CHECK(watch.host_says("a", {}, 0, kStart).empty());
}

TEST_CASE("join watch: of a store that rank 0 has, some who stay away for the whole patience are named") {
  JoinWatch watch(60s, 4, JoinWatch::Store::OfRank0);
  CHECK(watch.first() == Ask::Everybody);
  watch.started(kStart);
  watch.asking_everybody(2);
  CHECK(watch.host_says("a", ranks({0, 1}), 0, kStart + 60s).empty());
  CHECK(watch.host_says("b", ranks({2, 3}), 0, kStart + 60s).empty());  // they have not begun, or never will
  CHECK(watch.due() == kStart + 120s);
  watch.asking_everybody(2);
  CHECK(watch.host_says("a", ranks({1}), 1, kStart + 120s).empty());
  CHECK(watch.host_says("b", {}, 2, kStart + 120s).empty());  // on their way, perhaps
  CHECK(watch.due() == kStart + 180s);
  watch.asking_everybody(2);
  CHECK(watch.host_says("a", ranks({1}), 1, kStart + 180s).empty());
  CHECK(watch.host_says("b", {}, 2, kStart + 180s) ==
        "rank 1 on a has not joined the process group after 60 s (3 of 4 have; --join-warn)");
  CHECK_FALSE(watch.due());
}

TEST_CASE("join watch: with a store of rank 0, workers that have not begun are asked again") {
  JoinWatch watch(60s, 4, JoinWatch::Store::OfRank0);
  watch.asking_everybody(1);
  CHECK(watch.host_says("a", {}, 0, kStart).empty());
  CHECK(watch.due() == kStart + 60s);
}

TEST_CASE("join watch: of a store that rank 0 has, workers who have ended and others who do not meet are no matter") {
  JoinWatch watch(60s, 4, JoinWatch::Store::OfRank0);
  for (int i = 1; i < 5; ++i) {
    watch.asking_everybody(1);
    CHECK(watch.host_says("a", ranks({2, 3}), 0, kStart).empty());
    CHECK(watch.due() == kStart + 60s);
  }
  watch.asking_everybody(1);
  CHECK(watch.host_says("a", {}, 4, kStart).empty());
  CHECK_FALSE(watch.due());
}

TEST_CASE("join watch: where nobody comes to our store it is said why that may be, once") {
  JoinWatch watch(60s, 4);
  watch.on_store_reply(0, 0s, kStart);
  CHECK(watch.why_nobody(4).empty());
  watch.on_store_reply(0, 0s, kStart);
  CHECK(watch.why_nobody(0).empty());  // they may load it yet, or never
  watch.on_store_reply(0, 0s, kStart);
  const std::string why = watch.why_nobody(1);
  CHECK(why.starts_with("no worker has joined the process group after 3 min; one that names an address"));
  CHECK(why.find("--no-torch-store") != std::string::npos);
  watch.on_store_reply(0, 0s, kStart);
  CHECK(watch.why_nobody(4).empty());
}
