#include "launcher/run/restarts/host_pool.h"

#include <optional>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::run;
using namespace std::chrono_literals;

namespace {

using Names = std::vector<std::string>;
const TimePoint kStart = TimePoint(1h);

plan::JobMap map_of(const char* list) {
  plan::JobMap map = *plan::map_job({*hosts::parse_host_list(list), "-H"}, std::nullopt, plan::Oversubscribe::No);
  plan::number_hosts(map);
  return map;
}

struct Stage {
  explicit Stage(std::optional<std::uint32_t> slots = std::nullopt) : pool(map_of("a:2,b:2"), slots, kStart) {}
  HostPool pool;
  TimePoint now = kStart;
  std::vector<HostId> lost;
  HostPool::News says(const char* list, HostPool::MayConnect may = HostPool::MayConnect::All, Duration after = 1s) {
    now += after;
    return pool.listed(*hosts::parse_host_list(list), lost, may, now);
  }
};

std::vector<std::uint32_t> ids(const HostPool::News& news) {
  std::vector<std::uint32_t> out;
  for (const plan::MappedHost& host : news.added) out.push_back(host.id.value());
  return out;
}

}  // namespace

TEST_CASE("pool: a list that says the same is no news") {
  Stage stage;
  const HostPool::News news = stage.says("b,a:2");
  CHECK(news.come.empty());
  CHECK(news.added.empty());
  CHECK(news.withdrawn.empty());
  CHECK(stage.pool.changed() == kStart);
}

TEST_CASE("pool: hosts that come get the ids that follow, and the slots of the first host") {
  Stage stage;
  const HostPool::News news = stage.says("a:2,b:2,c:3,d");
  CHECK(news.come == Names{"c", "d"});
  REQUIRE(ids(news) == std::vector<std::uint32_t>{2, 3});
  CHECK(news.added[0].slots == 3);
  CHECK(news.added[1].slots == 2);
  CHECK(news.added[1].duty == plan::HostDuty::Spare);
  CHECK(stage.pool.changed() == stage.now);
  CHECK(stage.says("a,b,c,d").added.empty());
  CHECK(stage.pool.changed() == stage.now - 1s);
  CHECK(stage.pool.newcomers().size() == 2);
  CHECK(Stage(5).says("a,b,c").added[0].slots == 5);
}

TEST_CASE("pool: the list names no host but these") {
  Stage stage;
  CHECK(stage.pool.lists_only({HostId(0), HostId(1)}));
  CHECK_FALSE(stage.pool.lists_only({HostId(1)}));
  stage.says("b:2");
  CHECK(stage.pool.lists_only({HostId(1)}));
  stage.says("b:2,c:2");
  CHECK_FALSE(stage.pool.lists_only({HostId(1)}));
}

TEST_CASE("pool: whom nobody lists is withdrawn until it is listed again") {
  Stage stage;
  CHECK(stage.says("a:2").withdrawn == Names{"b"});
  CHECK(stage.pool.withdrawn() == std::vector{HostId(1)});
  CHECK(stage.says("a:2").withdrawn.empty());
  CHECK(stage.says("a:2,b:2").back == Names{"b"});
  CHECK(stage.pool.withdrawn().empty());
}

TEST_CASE("pool: a lost host is reached again after a while, and then seldomer") {
  Stage stage;
  stage.lost = {HostId(1)};
  CHECK(ids(stage.says("a,b")).empty());
  CHECK(ids(stage.says("a,b", HostPool::MayConnect::All, 59s)).empty());
  CHECK(ids(stage.says("a,b", HostPool::MayConnect::Nobody, 2s)).empty());
  CHECK(ids(stage.says("a,b")) == std::vector<std::uint32_t>{1});
  CHECK(ids(stage.says("a,b")).empty());
  CHECK(ids(stage.says("a,b", HostPool::MayConnect::All, 100s)).empty());
  CHECK(ids(stage.says("a,b", HostPool::MayConnect::All, 30s)) == std::vector<std::uint32_t>{1});
}

TEST_CASE("pool: a lost host that was withdrawn meanwhile is reached when it is listed again") {
  Stage stage;
  stage.lost = {HostId(1)};
  CHECK(stage.says("a").withdrawn == Names{"b"});
  const HostPool::News news = stage.says("a,b");
  CHECK(news.back == Names{"b"});
  CHECK(ids(news) == std::vector<std::uint32_t>{1});
}

TEST_CASE("pool: who may not come now comes later") {
  Stage stage;
  CHECK(stage.says("a,b,c", HostPool::MayConnect::Nobody).come.empty());
  CHECK(stage.says("a,b,c").come == Names{"c"});
}

TEST_CASE("pool: a host keeps its slots, and that is said once") {
  Stage stage;
  CHECK(stage.says("a:4,b:2").resized == Names{"a is listed with 4 slots now; it keeps the 2 that it had"});
  CHECK(stage.says("a:4,b:2").resized.empty());
}
