#include "launcher/report/live/live_use.h"

#include <catch2/catch.hpp>
#include <chrono>

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
