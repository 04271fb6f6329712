#include "launcher/agent/machines/monitor_machine.h"

#include <chrono>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent;
using namespace std::chrono_literals;

namespace {

using Kind = SectionChange::Kind;

const TimePoint kStart = TimePoint() + 1000s;
TimePoint at(Duration since) { return kStart + since; }

plan::RankMonitor limits(std::uint64_t first_s, std::uint64_t next_s) {
  return {.first_ms = first_s * 1000, .heartbeat_ms = next_s * 1000};
}
plan::RankMonitor of_sections(std::uint64_t outside_s) {
  return {.first_ms = 0,
          .heartbeat_ms = 0,
          .outside_ms = outside_s * 1000,
          .sections = {{"step", 10'000}, {"save", 60'000}, {"setup", 0}}};
}

SectionChange open(const std::string& name) { return {Kind::Open, name}; }
SectionChange close(const std::string& name) { return {Kind::Close, name}; }

}  // namespace

TEST_CASE("rank monitor: nobody is watched before it has come, and after it has gone") {
  MonitorMachine machine(limits(60, 10));
  CHECK_FALSE(machine.deadline());
  machine.heartbeat(at(0s));
  CHECK_FALSE(machine.deadline());
  CHECK_FALSE(machine.on_time(at(1000s)));
  machine.begin(at(0s));
  CHECK(machine.deadline() == at(60s));
  machine.end();
  CHECK_FALSE(machine.deadline());
}

TEST_CASE("rank monitor: the first heartbeat has another limit than those after it") {
  MonitorMachine machine(limits(60, 10));
  machine.begin(at(0s));
  CHECK_FALSE(machine.on_time(at(59s)));
  machine.heartbeat(at(59s));
  CHECK(machine.deadline() == at(69s));
  machine.heartbeat(at(65s));
  CHECK(machine.deadline() == at(75s));
  CHECK_FALSE(machine.on_time(at(74s)));
  CHECK(machine.on_time(at(75s)) == "has sent no heartbeat for 10 s (--rank-heartbeat-timeout)");
  CHECK_FALSE(machine.deadline());  // it has failed once
  CHECK_FALSE(machine.on_time(at(1000s)));

  machine.begin(at(100s));
  CHECK(machine.on_time(at(160s)) == "has sent no first heartbeat for 60 s (--initial-rank-heartbeat-timeout)");
}

TEST_CASE("rank monitor: a section that is open has its limit, whatever else is open") {
  MonitorMachine machine(of_sections(0));
  machine.begin(at(0s));
  CHECK_FALSE(machine.deadline());
  CHECK(machine.change(open("save"), at(0s)).has_value());
  CHECK(machine.deadline() == at(60s));
  CHECK(machine.change(open("step"), at(20s)).has_value());
  CHECK(machine.change(open("other"), at(20s)).has_value());  // that nobody has given a limit
  CHECK(machine.deadline() == at(30s));
  CHECK(machine.change(close("step"), at(29s)).has_value());
  CHECK(machine.deadline() == at(60s));
  CHECK(machine.on_time(at(60s)) == "has been in section \"save\" for 60 s (--rank-section-timeouts)");
}

TEST_CASE("rank monitor: what is open is not opened, and what is not is not closed") {
  MonitorMachine machine(of_sections(0));
  machine.begin(at(0s));
  CHECK(machine.change(open("step"), at(0s)).has_value());
  CHECK(machine.change(open("step"), at(5s)).error().message() == "section \"step\" is open already");
  CHECK(machine.deadline() == at(10s));
  CHECK(machine.change(close("save"), at(5s)).error().message() == "section \"save\" is not open");
  CHECK(machine.change({Kind::CloseAll}, at(6s)).has_value());
  CHECK_FALSE(machine.deadline());
  CHECK(machine.change({Kind::CloseAll}, at(6s)).has_value());
  CHECK(machine.change(close("step"), at(6s)).has_error());
}

TEST_CASE("rank monitor: sections are bounded in number") {
  MonitorMachine machine(of_sections(0));
  machine.begin(at(0s));
  for (std::size_t i = 0; i < kMaxSections; ++i) CHECK(machine.change(open(std::to_string(i)), at(0s)).has_value());
  CHECK(machine.change(open("step"), at(0s)).has_error());
}

TEST_CASE("rank monitor: time in no section counts from the end of the last one") {
  MonitorMachine machine(of_sections(30));
  machine.begin(at(0s));
  CHECK(machine.deadline() == at(30s));
  CHECK(machine.change(open("setup"), at(10s)).has_value());
  CHECK_FALSE(machine.deadline());  // that has none
  CHECK(machine.change(open("step"), at(11s)).has_value());
  CHECK(machine.change(close("setup"), at(12s)).has_value());
  CHECK(machine.deadline() == at(21s));
  CHECK(machine.change(close("step"), at(20s)).has_value());
  CHECK(machine.deadline() == at(50s));
  CHECK(machine.on_time(at(50s)) == "has been in no section for 30 s (--rank-out-of-section-timeout)");
}

TEST_CASE("rank monitor: limits that a script sets hold at once, until it comes anew") {
  MonitorMachine machine(limits(60, 10));
  machine.begin(at(0s));
  machine.set({.heartbeats = HeartbeatLimits{20s, 8s}});
  CHECK(machine.deadline() == at(20s));
  machine.heartbeat(at(4s));
  CHECK(machine.deadline() == at(12s));
  machine.set({.sections = SectionLimits{{{"step", 7000}}, 6s}});
  CHECK(machine.deadline() == at(6s));
  CHECK(machine.change(open("step"), at(4500ms)).has_value());
  CHECK(machine.deadline() == at(11500ms));
  CHECK(machine.change(close("step"), at(6s)).has_value());
  CHECK(machine.on_time(at(12s)) == "has sent no heartbeat for 8 s (the limit that its script has set)");
  machine.begin(at(10s));
  CHECK(machine.deadline() == at(70s));
  machine.set({.heartbeats = HeartbeatLimits{}});  // none
  CHECK_FALSE(machine.deadline());
}

TEST_CASE("rank monitor: limits of a moment, as scripts calculate them, end nobody who goes on") {
  MonitorMachine machine(limits(60, 10));
  machine.begin(at(0s));
  machine.set({.heartbeats = HeartbeatLimits{1ms, 20ms}, .sections = SectionLimits{{{"step", 1}}, 2ms}});
  CHECK(machine.deadline() == at(5s));
  machine.heartbeat(at(1s));
  CHECK(machine.change(open("step"), at(2s)).has_value());
  machine.heartbeat(at(3s));
  CHECK(machine.deadline() == at(7s));
}

TEST_CASE("rank monitor: no time passes while the job is suspended") {
  MonitorMachine machine(limits(60, 10));
  machine.begin(at(0s));
  machine.heartbeat(at(5s));
  machine.suspend(at(8s));
  CHECK_FALSE(machine.deadline());
  CHECK_FALSE(machine.on_time(at(500s)));
  machine.suspend(at(600s));
  machine.resume(at(1000s));
  CHECK(machine.deadline() == at(1007s));
  machine.resume(at(1001s));
  CHECK(machine.deadline() == at(1007s));
}

TEST_CASE("rank monitor: who could not do otherwise begins anew") {
  MonitorMachine machine(of_sections(30));
  machine.begin(at(0s));
  CHECK(machine.change(open("step"), at(0s)).has_value());
  machine.forgive(at(10s));
  CHECK(machine.deadline() == at(20s));
  machine.end();
  machine.forgive(at(11s));
  CHECK_FALSE(machine.deadline());
}
