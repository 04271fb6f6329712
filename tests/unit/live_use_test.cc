#include "launcher/report/live/live_use.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <tuple>

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;

namespace {

const TimePoint kStart = TimePoint() + 1h;

}  // namespace

TEST_CASE("use: one look tells memory, the next what share of a core was used between them", "[report]") {
  UseRates rates;
  CHECK_FALSE(rates.has_base(kStart));
  RankUses now = rates.add({{Rank(0), {1000, 5 << 20, 2}}, {Rank(1), {70, 1 << 20, 1}}}, kStart);
  CHECK_FALSE(now.at(Rank(0)).cpu_percent.has_value());
  CHECK(now.at(Rank(0)).memory == 5 << 20);
  CHECK(now.at(Rank(0)).processes == 2);
  CHECK(rates.has_base(kStart + 500ms));
  now = rates.add({{Rank(0), {1750, 6 << 20, 2}}, {Rank(1), {70, 1 << 20, 1}}}, kStart + 500ms);
  CHECK(now.at(Rank(0)).cpu_percent == 150.0);
  CHECK(now.at(Rank(1)).cpu_percent == 0.0);
}

TEST_CASE("use: a look that is too near or too far says nothing of CPU", "[report]") {
  UseRates rates;
  rates.add({{Rank(0), {1000, 1, 1}}}, kStart);
  CHECK_FALSE(rates.has_base(kStart + 100ms));
  CHECK_FALSE(rates.has_base(kStart + 11s));
  CHECK_FALSE(rates.add({{Rank(0), {1100, 1, 1}}}, kStart + 11s).at(Rank(0)).cpu_percent.has_value());
}

TEST_CASE("use: a rank that has begun anew, has come or has gone", "[report]") {
  UseRates rates;
  rates.add({{Rank(0), {1000, 1, 1}}, {Rank(1), {5, 1, 1}}}, kStart);
  const RankUses now = rates.add({{Rank(0), {20, 1, 1}}, {Rank(1), {0, 0, 0}}, {Rank(2), {9, 1, 1}}}, kStart + 1s);
  CHECK_FALSE(now.at(Rank(0)).cpu_percent.has_value());
  CHECK_FALSE(now.contains(Rank(1)));
  CHECK_FALSE(now.at(Rank(2)).cpu_percent.has_value());
}

TEST_CASE("use: the free space of a host has its keys always, and its numbers where its agent knows them", "[report]") {
  LiveUses uses;
  std::get<wire::DiskSpace>(uses.hosts["known"]) = {.id = 1, .free_bytes = 3 << 20, .total_bytes = 8 << 20};
  std::get<wire::DiskSpace>(uses.hosts["unknown"]) = {.id = 1};
  const auto disk = [&uses](const std::string& host) { return status_parts(uses, host).at(0); };
  CHECK(disk("known").known);
  CHECK(disk("known").text == "disk 3.0 MiB free");
  for (const char* host : {"unknown", "silent"}) CHECK_FALSE(disk(host).known);
  for (const char* host : {"known", "unknown", "silent"}) {
    REQUIRE(disk(host).numbers.size() == 2);
    CHECK(disk(host).numbers[0].key == std::string("disk_free_bytes"));
    CHECK(disk(host).numbers[1].key == std::string("disk_bytes"));
  }
  CHECK(disk("known").numbers[0].value == (3 << 20));
  CHECK(disk("known").numbers[1].value == (8 << 20));
}
