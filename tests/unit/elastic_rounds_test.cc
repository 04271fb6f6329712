#include "launcher/attempt/elastic_rounds.h"

#include "common/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using attempt::ElasticRounds;
using End = ElasticRounds::End;

namespace {

plan::JobMap map_of(const char* list) {
  plan::JobMap map =
      *plan::map_job(plan::HostList{*hosts::parse_host_list(list), "-H"}, std::nullopt, plan::Oversubscribe::No);
  plan::number_hosts(map);
  return map;
}

ElasticRounds rounds_of(const char* list, std::uint32_t least, std::uint32_t resets = 10) {
  ElasticRounds out(map_of(list), {.hosts = {}, .ranks = least}, resets);
  for (std::uint32_t rank = 0; rank < map_of(list).world_size(); ++rank) out.registered(Rank(rank));
  return out;
}

// "0=0,2,...; out 1; left 1": who goes on as whom, and without whom. Else what there is instead.
std::string text_of(const ElasticRounds::Step& step) {
  if (std::holds_alternative<ElasticRounds::GoesOn>(step)) return "goes on";
  if (std::holds_alternative<ElasticRounds::GivenUp>(step)) return "given up";
  if (const auto* end = std::get_if<ElasticRounds::Finished>(&step)) return "finished: " + std::to_string(end->waiting);
  const auto& next = std::get<ElasticRounds::Next>(step);
  std::string out = std::to_string(next.number) + ":";
  for (const auto& member : next.members) out += " " + std::to_string(member.rank.value()) + "=" + member.numbers;
  out += "; out";
  for (const HostIndex host : next.out) out += " " + std::to_string(host.value());
  out += "; left";
  for (const Rank rank : next.left) out += " " + std::to_string(rank.value());
  return out;
}

}  // namespace

TEST_CASE("elastic rounds: those that survive are numbered anew when each waits") {
  ElasticRounds rounds = rounds_of("a:1,b:1,c:2", 2);
  rounds.ended(Rank(1), End::Failure);
  CHECK(rounds.some_may_go_on());
  CHECK(text_of(rounds.look()) == "goes on");
  CHECK(rounds.ready(Rank(3)) == ElasticRounds::Answer::Later);
  CHECK(rounds.ready(Rank(0)) == ElasticRounds::Answer::Later);
  CHECK(rounds.ready(Rank(0)) == ElasticRounds::Answer::Later);  // it has asked again
  CHECK(text_of(rounds.look()) == "goes on");
  CHECK(rounds.ready(Rank(2)) == ElasticRounds::Answer::Later);
  CHECK(text_of(rounds.look()) == "1: 0=0,3,0,1,0,2 2=1,3,0,2,1,2 3=2,3,1,2,0,1; out 1; left 1");
  CHECK(text_of(rounds.look()) == "goes on");
  CHECK(rounds.ready(Rank(1)) == ElasticRounds::Answer::Removed);
  CHECK(rounds.is_out(Rank(1)));
}

TEST_CASE("elastic rounds: one after the other, and rank 0 is the oldest that is left") {
  ElasticRounds rounds = rounds_of("a:1,b:1,c:1", 1);
  rounds.ended(Rank(0), End::Failure);
  rounds.ready(Rank(1));
  rounds.ready(Rank(2));
  CHECK(text_of(rounds.look()) == "1: 1=0,2,0,1,0,2 2=1,2,0,1,1,2; out 0; left 0");
  rounds.ended(Rank(1), End::Failure);
  rounds.ready(Rank(2));
  CHECK(text_of(rounds.look()) == "2: 2=0,1,0,1,0,1; out 1; left 1");
  CHECK(rounds.resets() == 2);
  CHECK(rounds.out() == std::vector{HostIndex(0), HostIndex(1)});
}

TEST_CASE("elastic rounds: the others on the host of one that failed are out, whatever they do") {
  ElasticRounds rounds = rounds_of("a:1,b:2,c:1", 1);
  rounds.ended(Rank(1), End::Failure);
  for (const std::uint32_t rank : {0U, 2U, 3U}) rounds.ready(Rank(rank));
  CHECK(text_of(rounds.look()) == "1: 0=0,2,0,1,0,2 3=1,2,0,1,1,2; out 1; left 1 2");
  rounds.ended(Rank(2), End::Failure);  // ended for it
  CHECK(text_of(rounds.look()) == "goes on");
  rounds.ended(Rank(0), End::Success);
  rounds.ended(Rank(3), End::Success);
  CHECK(text_of(rounds.look()) == "goes on");  // to its end
}

TEST_CASE("elastic rounds: one that waits and then dies has failed") {
  ElasticRounds rounds = rounds_of("a:1,b:1,c:1", 1);
  rounds.ready(Rank(1));
  rounds.ended(Rank(1), End::Failure);
  rounds.ready(Rank(0));
  CHECK(text_of(rounds.look()) == "goes on");
  rounds.ready(Rank(2));
  CHECK(text_of(rounds.look()) == "1: 0=0,2,0,1,0,2 2=1,2,0,1,1,2; out 1; left 1");
}

TEST_CASE("elastic rounds: all of a lost host have failed") {
  ElasticRounds rounds = rounds_of("a:1,b:2", 1);
  rounds.host_lost(HostIndex(1));
  rounds.ready(Rank(0));
  CHECK(text_of(rounds.look()) == "1: 0=0,1,0,1,0,1; out 1; left 1 2");
}

TEST_CASE("elastic rounds: where nobody has failed all get their numbers again") {
  ElasticRounds rounds = rounds_of("a:1,b:1", 2);
  rounds.ready(Rank(0));
  rounds.ready(Rank(1));
  CHECK(text_of(rounds.look()) == "1: 0=0,2,0,1,0,2 1=1,2,0,1,1,2; out; left");
}

TEST_CASE("elastic rounds: too few, all failed, or no reset left") {
  ElasticRounds few = rounds_of("a:1,b:1,c:1", 3);
  few.ended(Rank(2), End::Failure);
  CHECK_FALSE(few.some_may_go_on());
  few.ready(Rank(0));
  few.ready(Rank(1));
  CHECK(text_of(few.look()) == "given up");

  ElasticRounds all = rounds_of("a:1,b:1", 1);
  all.ended(Rank(0), End::Failure);
  CHECK(all.some_may_go_on());
  all.ended(Rank(1), End::Failure);
  CHECK_FALSE(all.some_may_go_on());
  CHECK(text_of(all.look()) == "given up");

  ElasticRounds spent = rounds_of("a:1,b:1,c:1", 1, 1);
  spent.ended(Rank(0), End::Failure);
  spent.ready(Rank(1));
  spent.ready(Rank(2));
  CHECK(text_of(spent.look()).starts_with("1: "));
  spent.ended(Rank(1), End::Failure);
  CHECK_FALSE(spent.some_may_go_on());
  spent.ready(Rank(2));
  CHECK(text_of(spent.look()) == "given up");
}

TEST_CASE("elastic rounds: who waits for those that have finished waits in vain") {
  ElasticRounds rounds = rounds_of("a:1,b:1", 1);
  rounds.ended(Rank(0), End::Success);
  CHECK(text_of(rounds.look()) == "goes on");
  rounds.ready(Rank(1));
  CHECK(text_of(rounds.look()) == "finished: 1");
}

TEST_CASE("elastic rounds: who has not registered does not go on") {
  ElasticRounds rounds(map_of("a:1,b:1,c:1"), {.hosts = {}, .ranks = 1}, 10);
  rounds.registered(Rank(0));
  rounds.ended(Rank(2), End::Failure);
  CHECK_FALSE(rounds.some_may_go_on());
  rounds.registered(Rank(1));
  CHECK(rounds.some_may_go_on());
}

TEST_CASE("elastic rounds: workers are known by host and local rank") {
  const ElasticRounds rounds = rounds_of("a:1,b:2", 1);
  CHECK(rounds.rank_of("b:1") == Rank(2));
  CHECK(rounds.slot_of(Rank(1)) == "b:0");
  CHECK(rounds.rank_of("b:2") == std::nullopt);
  CHECK(rounds.rank_of("b") == std::nullopt);
}

TEST_CASE("elastic rounds: a host that waits gets no workers") {
  plan::JobMap map = map_of("a:1,b:1");
  map.hosts.push_back({.host = {.name = "c", .user = {}, .slots = 1},
                       .slots = 1,
                       .ranks = {},
                       .id = HostId(2),
                       .duty = plan::HostDuty::Spare});
  ElasticRounds rounds(map, {.hosts = {}, .ranks = 1}, 10);
  rounds.ended(Rank(1), End::Failure);
  rounds.ready(Rank(0));
  CHECK(text_of(rounds.look()) == "1: 0=0,1,0,1,0,1; out 1; left 1");
}
