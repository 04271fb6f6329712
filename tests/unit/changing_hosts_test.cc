#include "launcher/run/restarts/changing_hosts.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"
#include "tests/support/printed_lines.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace sml::run;
using namespace std::chrono_literals;

namespace {

struct Hosts final : ChangingHosts::Hosts {
  HostPool::MayConnect may_come() const override { return HostPool::MayConnect::All; }
  std::vector<HostId> lost() const override { return {}; }
  void come(const plan::MappedHost& host) override { come_names.push_back(host.host.name); }
  bool is_ready(HostId id) const override { return ready.contains(id); }
  void look_for_growth() override { ++looks; }

  std::vector<std::string> come_names;
  std::set<HostId> ready;
  int looks = 0;
};

struct Stage {
  explicit Stage(const char* list) {
    map = *plan::map_job({*hosts::parse_host_list(list), "-H"}, std::nullopt, plan::Oversubscribe::No);
    plan::number_hosts(map);
    ::close(::mkstemp(path.data()));
    std::remove(path.c_str());
    options.max = 1;
    options.discovery.watch_hosts = DiscoveryOptions::Watch::Yes;
    options.discovery.hostfile = path;
    options.discovery.interval = 1ms;
    make(map);
  }
  void make(const plan::JobMap& first) {
    changing = std::make_unique<ChangingHosts>(
        loop, first, ChangingHosts::Deps{.options = options, .hosts = hosts, .events = events, .printer = printed});
  }
  ~Stage() { std::remove(path.c_str()); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void write(const char* text) const { std::ofstream(path) << text; }
  // Until it has read what is there now.
  void read(bool answers = true) {
    changing->begin();
    const TimePoint limit = Clock::now() + fake::watchdog();
    const auto over = [&, seen = hosts.looks, heard = printed.lines.size()] {
      return answers ? hosts.looks > seen : printed.lines.size() > heard;
    };
    while (!over() && Clock::now() < limit) loop.run_one_until(limit);
    changing->end();
    loop.restart();
  }
  std::string next(std::vector<HostId> out = {}) const {
    const Result<plan::JobMap> found = changing->next(map, std::move(out));
    if (!found) return found.error().message();
    std::string text;
    for (const plan::MappedHost& host : found->hosts) {
      if (!host.ranks.empty()) text += (text.empty() ? "" : " ") + host.host.name;
    }
    return text;
  }
  // "b=0,1 c=2": which host has which ranks after a round, in the order of the ranks.
  std::string round(const plan::JobMap& before, const std::vector<HostId>& out) const {
    const Result<plan::JobMap> found = changing->next_round(before, out);
    if (!found) return found.error().message();
    std::string text;
    for (const plan::MappedHost& host : found->hosts) {
      if (host.ranks.empty()) continue;
      text += (text.empty() ? "" : " ") + host.host.name + "=";
      for (const Rank rank : host.ranks) text += (rank == host.ranks.front() ? "" : ",") + std::to_string(rank.value());
    }
    return text;
  }
  std::string reason(TimePoint at) const { return changing->reason_to_regroup(map, *changing->next(map, {}), at); }

  boost::asio::io_context loop;
  RestartOptions options;
  plan::JobMap map;
  std::string path = "/tmp/sml-changing-XXXXXX";
  Hosts hosts;
  report::EventFeed events;
  fake::PrintedLines printed;
  std::unique_ptr<ChangingHosts> changing;
};

}  // namespace

TEST_CASE("changing hosts: who comes takes the place of a lost host, or ranks of its own when it is ready") {
  Stage stage("a:1,b:1");
  stage.write("a\nb\nc\n");
  stage.read();
  CHECK(stage.hosts.come_names == std::vector<std::string>{"c"});
  CHECK(stage.printed.lines == std::vector<std::string>{"c is new in the list of hosts"});
  CHECK(stage.next() == "a b");
  stage.hosts.ready = {HostId(2)};
  CHECK(stage.next() == "a b c");
  CHECK(stage.next({HostId(0)}) == "c b");
}

TEST_CASE("changing hosts: a job does without withdrawn hosts where it can") {
  Stage stage("a:1,b:1");
  stage.write("a\n");
  stage.read();
  CHECK(stage.next() == "a b");
  stage.options.least.hosts = 1;
  CHECK(stage.next() == "a");
}

TEST_CASE("changing hosts: an attempt ends for others only after a quiet time, and to grow only where that is wanted") {
  Stage stage("a:1,b:1");
  stage.hosts.ready = {HostId(0), HostId(1), HostId(2)};
  stage.write("a\nb\nc\n");
  stage.read();
  const TimePoint later = Clock::now() + 1h;
  CHECK(stage.reason(later).empty());
  stage.options.discovery.grow_after = 10s;
  CHECK(stage.reason(Clock::now()).empty());
  CHECK(stage.reason(later) == "there are hosts for 3 ranks (--grow-after)");
  stage.options.discovery.most_ranks = 2;
  CHECK(stage.reason(later).empty());
  stage.options.discovery.grow_after.reset();
  stage.write("a\nc\n");  // another takes its place
  stage.read();
  CHECK(stage.reason(Clock::now()).empty());
  CHECK(stage.reason(later) == "b is listed no more");
}

TEST_CASE("changing hosts: those that come make up for others that are out, and are waited for") {
  Stage stage("a:1,b:2");
  stage.options.least.ranks = 3;
  stage.options.discovery.wait = 10s;
  const TimePoint now = Clock::now();
  const auto next = [&] { return stage.changing->next(stage.map, {HostId(1)}); };
  CHECK(stage.next({HostId(1)}) == "b is out, and 1 rank is fewer than the 3 of --min-np");
  CHECK(stage.changing->wait_for(next(), now) == Duration(1ms));
  CHECK(stage.changing->wait_for(next(), now + 9s) == Duration(1ms));
  CHECK(stage.printed.lines ==
        std::vector<std::string>{"b is out, and 1 rank is fewer than the 3 of --min-np; others are waited "
                                 "for, up to 10 s (--elastic-timeout)"});
  CHECK_FALSE(stage.changing->wait_for(next(), now + 10s));
  stage.write("a:1\nc:1\nd:1\n");
  stage.read();
  stage.hosts.ready = {HostId(2), HostId(3)};
  CHECK(stage.next({HostId(1)}) == "a c d");
  CHECK_FALSE(stage.changing->wait_for(next(), now));
}

TEST_CASE("changing hosts: where there is no answer the last one stands, and that is said once") {
  Stage stage("a:1,b:1");
  stage.options.least.hosts = 1;
  stage.read(false);
  REQUIRE(stage.printed.lines.size() == 1);
  CHECK(stage.printed.lines[0].ends_with("; the hosts stay as they were"));
  for (const char* text : {"not a host!\n", ""}) {
    stage.write(text);
    stage.changing->begin();
    stage.loop.run_for(20ms);
    stage.changing->end();
    stage.loop.restart();
  }
  CHECK(stage.printed.lines.size() == 1);
  CHECK(stage.next() == "a b");
}

TEST_CASE("changing hosts: in a round who stays is in front, and who comes behind") {
  Stage stage("a:1,b:2");
  stage.options.least.ranks = 1;
  CHECK(stage.round(stage.map, {}) == "a=0 b=1,2");
  CHECK(stage.round(stage.map, {HostId(0)}) == "b=0,1");
  stage.write("a\nb\nc:2\n");
  stage.read();
  CHECK(stage.round(stage.map, {HostId(0)}) == "b=0,1");
  stage.hosts.ready = {HostId(2)};
  CHECK(stage.round(stage.map, {}) == "a=0 b=1,2 c=3,4");
  CHECK(stage.round(stage.map, {HostId(0)}) == "b=0,1 c=2,3");
  stage.options.discovery.most_ranks = 3;
  CHECK(stage.round(stage.map, {HostId(0)}) == "b=0,1 c=2");
  stage.write("b\nc:2\n");
  stage.read();
  CHECK(stage.round(stage.map, {}) == "b=0,1 c=2");  // without the one that is listed no more
  stage.options.least.ranks = 3;
  stage.hosts.ready.clear();
  CHECK(stage.round(stage.map, {}) == "a=0 b=1,2");  // there are too few without it
  CHECK(stage.round(stage.map, {HostId(0)}) == "a is out, and 2 ranks are fewer than the 3 of --min-np");
}

TEST_CASE("changing hosts: in a round spares make up for who is out, and no more") {
  Stage stage("a:1,b:1,c:1");
  stage.options.discovery = {};
  stage.options.least.ranks = 1;
  stage.options.spares = 1;
  plan::JobMap map = *plan::map_job({*hosts::parse_host_list("a:1,b:1"), "-H"}, std::nullopt, plan::Oversubscribe::No);
  plan::number_hosts(map);
  map.hosts.push_back(stage.map.hosts[2]);
  map.hosts.back().ranks.clear();
  map.hosts.back().duty = plan::HostDuty::Spare;
  stage.make(map);
  stage.hosts.ready = {HostId(2)};
  CHECK(stage.round(map, {}) == "a=0 b=1");
  CHECK(stage.round(map, {HostId(0)}) == "b=0 c=1");
}
