#include "launcher/attempt/dynamic/elastic_rounds.h"

#include "launcher/hosts/host_list.h"
#include "launcher/plan/growth.h"
#include "launcher/plan/regroup.h"
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

// The rules of a job whose hosts stay as they are.
ElasticRounds::Following shrinking(std::uint32_t least) {
  return [least](plan::JobMap map, const std::vector<HostId>& out) {
    return plan::regroup(std::move(map), out, {.hosts = {}, .ranks = least});
  };
}

// ... and of one in which each host of `ready` has ranks as soon as there is another round.
ElasticRounds::Following growing(const std::vector<HostId>& ready) {
  return [ready](plan::JobMap map, const std::vector<HostId>& out) {
    for (plan::MappedHost& host : map.hosts) {
      if (host.duty == plan::HostDuty::Spare) host.duty = plan::HostDuty::Out;  // takes nobody's place
    }
    Result<plan::JobMap> some = plan::regroup(std::move(map), out, {.hosts = {}, .ranks = 1});
    if (!some) return some;
    plan::let_back(*some, out);
    some = plan::grow(std::move(*some), {}, ready);
    return some;
  };
}

void all_register(ElasticRounds& rounds, const char* list) {
  for (std::uint32_t rank = 0; rank < map_of(list).world_size(); ++rank) rounds.registered(Rank(rank));
}

ElasticRounds rounds_of(const char* list, std::uint32_t least, std::uint32_t resets = 10) {
  ElasticRounds out(map_of(list), shrinking(least), resets);
  all_register(out, list);
  return out;
}

// With `c` of two slots, which waits.
ElasticRounds growing_rounds_of(const char* list, std::uint32_t resets = 10) {
  plan::JobMap map = map_of(list);
  const HostId id(static_cast<std::uint32_t>(map.hosts.size()));
  map.hosts.push_back({.host = {.name = "c", .user = {}, .slots = 2},
                       .slots = 2,
                       .ranks = {},
                       .id = id,
                       .duty = plan::HostDuty::Spare});
  ElasticRounds out(map, growing({id}), resets);
  all_register(out, list);
  return out;
}

// The ranks that join are 100 and so on in the first round that follows, 200 in the second.
ElasticRounds::Step look(ElasticRounds& rounds) {
  ElasticRounds::Step step = rounds.look();
  if (const auto* next = std::get_if<ElasticRounds::Next>(&step)) rounds.begin(*next, Rank(100 * next->number));
  return step;
}

// "1: 0=0,2,...; out 1; left 1": who goes on as whom, and without whom. Else what there is instead.
std::string text_of(const ElasticRounds::Step& step) {
  if (std::holds_alternative<ElasticRounds::Continue>(step)) return "goes on";
  if (std::holds_alternative<ElasticRounds::GivenUp>(step)) return "given up";
  if (const auto* end = std::get_if<ElasticRounds::Finished>(&step)) return "finished: " + std::to_string(end->waiting);
  const auto& next = std::get<ElasticRounds::Next>(step);
  std::string out = std::to_string(next.number) + ":";
  for (const auto& member : next.members) out += " " + std::to_string(member.rank.value()) + "=" + member.numbers;
  out += "; out";
  for (const HostId host : next.out) out += " " + std::to_string(host.value());
  out += "; left";
  for (const Rank rank : next.left) out += " " + std::to_string(rank.value());
  for (const auto& host : next.joining) {
    out += "; joins " + std::to_string(host.host.value()) + " with " + std::to_string(host.ranks);
  }
  return out;
}

}  // namespace

TEST_CASE("elastic rounds: those that survive are numbered anew when each waits") {
  ElasticRounds rounds = rounds_of("a:1,b:1,c:2", 2);
  rounds.ended(Rank(1), End::Failure);
  CHECK(rounds.some_may_go_on());
  CHECK(text_of(look(rounds)) == "goes on");
  CHECK(rounds.ready(Rank(3)) == ElasticRounds::Answer::Later);
  CHECK(rounds.ready(Rank(0)) == ElasticRounds::Answer::Later);
  CHECK(rounds.ready(Rank(0)) == ElasticRounds::Answer::Later);  // it has asked again
  CHECK(text_of(look(rounds)) == "goes on");
  CHECK(rounds.ready(Rank(2)) == ElasticRounds::Answer::Later);
  CHECK(text_of(look(rounds)) == "1: 0=0,3,0,1,0,2 2=1,3,0,2,1,2 3=2,3,1,2,0,1; out 1; left 1");
  CHECK(text_of(look(rounds)) == "goes on");
  CHECK(rounds.ready(Rank(1)) == ElasticRounds::Answer::Removed);
  CHECK(rounds.is_out(Rank(1)));
}

TEST_CASE("elastic rounds: one after the other, and rank 0 is the oldest that is left") {
  ElasticRounds rounds = rounds_of("a:1,b:1,c:1", 1);
  rounds.ended(Rank(0), End::Failure);
  rounds.ready(Rank(1));
  rounds.ready(Rank(2));
  CHECK(text_of(look(rounds)) == "1: 1=0,2,0,1,0,2 2=1,2,0,1,1,2; out 0; left 0");
  rounds.ended(Rank(1), End::Failure);
  rounds.ready(Rank(2));
  CHECK(text_of(look(rounds)) == "2: 2=0,1,0,1,0,1; out 1; left 1");
  CHECK(rounds.resets() == 2);
  CHECK(rounds.out() == std::vector{HostId(0), HostId(1)});
}

TEST_CASE("elastic rounds: the others on the host of one that failed are out, whatever they do") {
  ElasticRounds rounds = rounds_of("a:1,b:2,c:1", 1);
  rounds.ended(Rank(1), End::Failure);
  for (const std::uint32_t rank : {0U, 2U, 3U}) rounds.ready(Rank(rank));
  CHECK(text_of(look(rounds)) == "1: 0=0,2,0,1,0,2 3=1,2,0,1,1,2; out 1; left 1 2");
  rounds.ended(Rank(2), End::Failure);  // ended for it
  CHECK(text_of(look(rounds)) == "goes on");
  rounds.ended(Rank(0), End::Success);
  rounds.ended(Rank(3), End::Success);
  CHECK(text_of(look(rounds)) == "goes on");  // to its end
}

TEST_CASE("elastic rounds: one that waits and then dies has failed") {
  ElasticRounds rounds = rounds_of("a:1,b:1,c:1", 1);
  rounds.ready(Rank(1));
  rounds.ended(Rank(1), End::Failure);
  rounds.ready(Rank(0));
  CHECK(text_of(look(rounds)) == "goes on");
  rounds.ready(Rank(2));
  CHECK(text_of(look(rounds)) == "1: 0=0,2,0,1,0,2 2=1,2,0,1,1,2; out 1; left 1");
}

TEST_CASE("elastic rounds: all of a lost host have failed") {
  ElasticRounds rounds = rounds_of("a:1,b:2", 1);
  rounds.host_lost(HostId(1));
  rounds.ready(Rank(0));
  CHECK(text_of(look(rounds)) == "1: 0=0,1,0,1,0,1; out 1; left 1 2");
}

TEST_CASE("elastic rounds: where nobody has failed all get their numbers again") {
  ElasticRounds rounds = rounds_of("a:1,b:1", 2);
  rounds.ready(Rank(0));
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "1: 0=0,2,0,1,0,2 1=1,2,0,1,1,2; out; left");
}

TEST_CASE("elastic rounds: too few, all failed, or no reset left") {
  ElasticRounds few = rounds_of("a:1,b:1,c:1", 3);
  few.ended(Rank(2), End::Failure);
  CHECK_FALSE(few.some_may_go_on());
  few.ready(Rank(0));
  few.ready(Rank(1));
  CHECK(text_of(look(few)) == "given up");

  ElasticRounds all = rounds_of("a:1,b:1", 1);
  all.ended(Rank(0), End::Failure);
  CHECK(all.some_may_go_on());
  all.ended(Rank(1), End::Failure);
  CHECK_FALSE(all.some_may_go_on());
  CHECK(text_of(look(all)) == "given up");

  ElasticRounds spent = rounds_of("a:1,b:1,c:1", 1, 1);
  spent.ended(Rank(0), End::Failure);
  spent.ready(Rank(1));
  spent.ready(Rank(2));
  CHECK(text_of(look(spent)).starts_with("1: "));
  spent.ended(Rank(1), End::Failure);
  CHECK_FALSE(spent.some_may_go_on());
  spent.ready(Rank(2));
  CHECK(text_of(look(spent)) == "given up");
}

TEST_CASE("elastic rounds: who waits for those that have finished waits in vain") {
  ElasticRounds rounds = rounds_of("a:1,b:1", 1);
  rounds.ended(Rank(0), End::Success);
  CHECK(text_of(look(rounds)) == "goes on");
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "finished: 1");
}

TEST_CASE("elastic rounds: who has not registered does not go on") {
  ElasticRounds rounds(map_of("a:1,b:1,c:1"), shrinking(1), 10);
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

TEST_CASE("elastic rounds: workers on a host that has come join those that go on, behind them") {
  ElasticRounds rounds = growing_rounds_of("a:1,b:1");
  CHECK(rounds.hosts_have_changed());
  CHECK(rounds.leader() == Rank(0));
  rounds.ended(Rank(0), End::Failure);
  CHECK_FALSE(rounds.hosts_have_changed());  // they will hear of it anyway
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "1: 1=0,3,0,1,0,2; out 0; left 0; joins 2 with 2");
  CHECK_FALSE(rounds.hosts_have_changed());
  CHECK(rounds.leader() == Rank(1));
  CHECK(rounds.rank_of("c:1") == Rank(101));
  CHECK(rounds.slot_of(Rank(100)) == "c:0");
  rounds.ended(Rank(100), End::Failure);
  rounds.ready(Rank(101));
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "2: 1=0,1,0,1,0,1; out 2; left 100 101");  // it does not come again
  CHECK(rounds.out() == std::vector{HostId(0), HostId(2)});
}

TEST_CASE("elastic rounds: a host that is withdrawn may come again, where one failed on it does not") {
  std::vector<HostId> withdrawn;
  std::vector<HostId> ready;
  ElasticRounds rounds(
      map_of("a:1,b:1"),
      [&](const plan::JobMap& map, std::vector<HostId> out) {
        out.insert(out.end(), withdrawn.begin(), withdrawn.end());
        return growing(ready)(map, out);
      },
      10);
  all_register(rounds, "a:1,b:1");
  CHECK_FALSE(rounds.hosts_have_changed());
  withdrawn = {HostId(0)};
  CHECK(rounds.hosts_have_changed());
  rounds.ready(Rank(0));
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "1: 1=0,1,0,1,0,1; out 0; left 0");
  CHECK(rounds.is_out(Rank(0)));
  CHECK(rounds.out().empty());
  withdrawn.clear();
  ready = {HostId(0)};
  CHECK(rounds.hosts_have_changed());
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "2: 1=0,2,0,1,0,2; out; left; joins 0 with 1");
  CHECK(rounds.rank_of("a:0") == Rank(200));
  CHECK(rounds.ready(Rank(0)) == ElasticRounds::Answer::Removed);
  rounds.ready(Rank(200));
  rounds.ready(Rank(1));
  CHECK(text_of(look(rounds)) == "3: 1=0,2,0,1,0,2 200=1,2,0,1,1,2; out; left");
}

TEST_CASE("elastic rounds: nobody is told of hosts when no reset is left, or before all have registered") {
  ElasticRounds spent = growing_rounds_of("a:1,b:1", 0);
  CHECK_FALSE(spent.hosts_have_changed());
  ElasticRounds rounds(map_of("a:1,b:1"), growing({}), 10);
  rounds.registered(Rank(0));
  CHECK_FALSE(rounds.hosts_have_changed());
}

TEST_CASE("elastic rounds: a host that comes or leaves when no reset is left lacks one") {
  CHECK(growing_rounds_of("a:1,b:1", 0).lacks_a_reset());
  CHECK_FALSE(growing_rounds_of("a:1,b:1", 1).lacks_a_reset());
  std::vector<HostId> withdrawn;
  const auto following = [&](const plan::JobMap& map, std::vector<HostId> out) {
    out.insert(out.end(), withdrawn.begin(), withdrawn.end());
    return growing({})(map, out);
  };
  ElasticRounds spent(map_of("a:1,b:1"), following, 0);
  all_register(spent, "a:1,b:1");
  CHECK_FALSE(spent.lacks_a_reset());
  withdrawn = {HostId(1)};
  CHECK(spent.lacks_a_reset());
  ElasticRounds enough(map_of("a:1,b:1"), following, 1);
  all_register(enough, "a:1,b:1");
  CHECK_FALSE(enough.lacks_a_reset());
}

TEST_CASE("elastic rounds: a host on which a worker has failed is not out any more when it has come back") {
  bool back = false;
  ElasticRounds rounds(
      map_of("a:1,b:1"),
      [&](const plan::JobMap& map, const std::vector<HostId>& out) {
        return back ? growing({HostId(1)})(map, {}) : growing({})(map, out);
      },
      10);
  all_register(rounds, "a:1,b:1");
  rounds.ended(Rank(1), End::Failure);
  rounds.ready(Rank(0));
  CHECK(text_of(look(rounds)) == "1: 0=0,1,0,1,0,1; out 1; left 1");
  CHECK(rounds.out() == std::vector{HostId(1)});
  back = true;
  CHECK(rounds.hosts_have_changed());
  rounds.ready(Rank(0));
  CHECK(text_of(look(rounds)) == "2: 0=0,2,0,1,0,2; out; left; joins 1 with 1");
  CHECK(rounds.out().empty());
}
