#include "launcher/dialin/coordinator/join_grace_period.h"

#include "tests/support/catch.h"

namespace {

using namespace sml;
using namespace sml::dialin;
using namespace std::chrono_literals;
using Answer = JoinGracePeriod::Answer;
using Enough = JoinGracePeriod::Enough;

const TimePoint kStart{100s};

JoinGracePeriod two_to_four() { return {2, 4, 600s, 30s, kStart}; }

}  // namespace

TEST_CASE("last call: those that are here when it is over make the job") {
  JoinGracePeriod call = two_to_four();
  CHECK(call.at(kStart) == Answer::Wait);
  CHECK(call.deadline() == kStart + 600s);
  CHECK(call.count(2, kStart + 10s) == Enough::JustNow);
  CHECK(call.deadline() == kStart + 40s);
  CHECK(call.count(3, kStart + 35s) == Enough::Known);  // does not put it off
  CHECK(call.at(kStart + 39s) == Answer::Wait);
  CHECK(call.at(kStart + 40s) == Answer::Begin);
  CHECK(call.hosts() == 3);
}

TEST_CASE("last call: nobody is waited for when all are here") {
  JoinGracePeriod call = two_to_four();
  call.count(4, kStart);
  CHECK(call.at(kStart) == Answer::Begin);
}

TEST_CASE("last call: one that leaves is none of them, and it begins anew") {
  JoinGracePeriod call = two_to_four();
  call.count(2, kStart + 10s);
  CHECK(call.count(1, kStart + 20s) == Enough::No);
  CHECK(call.at(kStart + 50s) == Answer::Wait);
  CHECK(call.count(2, kStart + 60s) == Enough::JustNow);
  CHECK(call.deadline() == kStart + 90s);
}

TEST_CASE("last call: it lasts no longer than the patience, after which too few are no job") {
  JoinGracePeriod few = two_to_four();
  CHECK(few.at(kStart + 600s) == Answer::TooFew);
  JoinGracePeriod enough = two_to_four();
  enough.count(2, kStart + 590s);
  CHECK(enough.at(kStart + 600s) == Answer::Begin);
}

TEST_CASE("last call: one host may do") {
  JoinGracePeriod call(1, 3, 600s, 0s, kStart);
  call.count(1, kStart);
  CHECK(call.at(kStart) == Answer::Begin);
}
