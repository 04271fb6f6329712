#include "launcher/dialin/coordinator/connection_limiter.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::dialin;
using namespace std::chrono_literals;

namespace {

const TimePoint kStart{};

ConnectionLimiter::Id enter(ConnectionLimiter& limiter, const std::string& address, TimePoint now = kStart) {
  const auto admission = limiter.knock(address, now);
  REQUIRE(admission);
  CHECK_FALSE(admission->displaced);
  return admission->id;
}

}  // namespace

TEST_CASE("door: one source has so many callers at a time, and others have theirs") {
  ConnectionLimiter limiter;
  std::vector<ConnectionLimiter::Id> ids;
  for (std::size_t i = 0; i < ConnectionLimiter::kMostOfOne; ++i) ids.push_back(enter(limiter, "10.0.0.1"));
  CHECK_FALSE(limiter.knock("10.0.0.1", kStart));
  enter(limiter, "10.0.0.2");
  limiter.settled(ids.front());
  enter(limiter, "10.0.0.1");
  CHECK_FALSE(limiter.knock("10.0.0.1", kStart));
}

TEST_CASE("door: a source that keeps coming without a word is let in once a second, and forgiven in time") {
  ConnectionLimiter limiter;
  TimePoint now = kStart;
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) {
    if (const auto admission = limiter.knock("10.0.0.1", now)) {
      ++admitted;
      limiter.left(admission->id, now);
    }
    now += 1ms;
  }
  CHECK(admitted == 11);  // ten are tolerated, and the first second has paid for one
  enter(limiter, "10.0.0.2", now);
  CHECK(limiter.knock("10.0.0.1", now + 1s));

  ConnectionLimiter patient;
  for (std::size_t i = 0; i < ConnectionLimiter::kMostOfOne; ++i) enter(patient, "10.0.0.1");
  for (ConnectionLimiter::Id id = 1; id <= ConnectionLimiter::kMostOfOne; ++id) patient.left(id, kStart);
  CHECK_FALSE(patient.knock("10.0.0.1", kStart + 5s));
  CHECK(patient.knock("10.0.0.1", kStart + 6s));
}

TEST_CASE("door: who proves the key and says who it is clears its source") {
  ConnectionLimiter limiter;
  const ConnectionLimiter::Id ours = enter(limiter, "10.0.0.1");
  for (int i = 0; i < 10; ++i) limiter.left(enter(limiter, "10.0.0.1"), kStart);
  limiter.settled(ours);
  limiter.left(ours, kStart);  // that is no matter any more
  for (int i = 0; i < 10; ++i) limiter.left(enter(limiter, "10.0.0.1"), kStart);
}

TEST_CASE("door: when all places are taken the oldest gives way, and its source pays for it") {
  ConnectionLimiter limiter;
  for (std::size_t i = 0; i < ConnectionLimiter::kMost; ++i)
    enter(limiter, "10.0.1." + std::to_string(i / ConnectionLimiter::kMostOfOne));
  for (ConnectionLimiter::Id oldest = 1; oldest <= 11; ++oldest) {
    const auto admission = limiter.knock("10.0.2." + std::to_string(oldest), kStart);
    REQUIRE(admission);
    CHECK(admission->displaced == oldest);
    limiter.settled(admission->id);
    if (oldest < 11) CHECK(limiter.knock("10.0.3." + std::to_string(oldest), kStart));
  }
  CHECK_FALSE(limiter.knock("10.0.1.0", kStart));
}

TEST_CASE("door: addresses of one IPv6 network are one source") {
  CHECK(source_of("10.0.0.1") == "10.0.0.1");
  CHECK(source_of("fd00::1") == source_of("fd00::2:3%eth0"));
  CHECK(source_of("fd00::1") != source_of("fd00:0:0:1::1"));
  ConnectionLimiter limiter;
  for (std::size_t i = 0; i < ConnectionLimiter::kMostOfOne; ++i) enter(limiter, "fd00::" + std::to_string(i));
  CHECK_FALSE(limiter.knock("fd00::ffff", kStart));
}

TEST_CASE("door: strangers from everywhere take no memory without bound, and do not shut it") {
  ConnectionLimiter limiter;
  for (int i = 0; i < 20000; ++i) {
    const auto admission = limiter.knock(
        "10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) + "." + std::to_string(i % 256),
        kStart);
    REQUIRE(admission);
    limiter.left(admission->id, kStart);
  }
}
