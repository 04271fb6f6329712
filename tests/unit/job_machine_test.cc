#include "launcher/job/job_machine.h"

#include <set>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::job;
using namespace std::chrono_literals;
using S = JobState;
using E = JobEvent;
using A = JobAction;

namespace {

const TimePoint kNow = TimePoint(1000h);
constexpr Duration kStartTimeout = 60s;
constexpr Duration kGrace = 10s;

constexpr S kStates[] = {S::Connecting, S::Failing, S::Probing, S::Running, S::Stopping, S::Finished};
constexpr E kEvents[] = {E::AllReady, E::AllSettled, E::OneMachine, E::HostFailed, E::AllProbed, E::WorkerFailed,
                         E::UserStop, E::OutputGone, E::NoProgress, E::RanksAlone, E::AllEnded,  E::Deadline};

JobMachine at(S state, TimePoint now = kNow) {
  std::vector<E> way;
  switch (state) {
    case S::Connecting: break;
    case S::Failing: way = {E::HostFailed}; break;
    case S::Probing: way = {E::AllReady}; break;
    case S::Running: way = {E::AllReady, E::AllProbed}; break;
    case S::Stopping: way = {E::UserStop}; break;
    case S::Finished: way = {E::UserStop, E::AllEnded}; break;
  }
  JobMachine machine(kStartTimeout, kGrace, kNow);
  for (const E event : way) machine.on(event, now);
  REQUIRE(machine.state() == state);
  return machine;
}

struct Expectation {
  S state;
  E event;
  S next;
  A action;
};

// Every other pair is news of something that is over.
const Expectation kExpected[] = {
    {S::Connecting, E::AllReady, S::Probing, A::Probe},         {S::Connecting, E::HostFailed, S::Failing, A::None},
    {S::Connecting, E::UserStop, S::Stopping, A::StopAll},      {S::Connecting, E::OutputGone, S::Stopping, A::StopAll},
    {S::Connecting, E::Deadline, S::Stopping, A::TimeOutStart}, {S::Failing, E::AllSettled, S::Stopping, A::StopAll},
    {S::Failing, E::AllEnded, S::Finished, A::Finish},          {S::Failing, E::UserStop, S::Stopping, A::StopAll},
    {S::Failing, E::OutputGone, S::Stopping, A::StopAll},       {S::Failing, E::Deadline, S::Stopping, A::StopAll},
    {S::Probing, E::AllProbed, S::Running, A::StartAll},        {S::Probing, E::HostFailed, S::Stopping, A::StopAll},
    {S::Probing, E::UserStop, S::Stopping, A::StopAll},         {S::Probing, E::OutputGone, S::Stopping, A::StopAll},
    {S::Probing, E::Deadline, S::Stopping, A::TimeOutStart},    {S::Running, E::WorkerFailed, S::Stopping, A::StopAll},
    {S::Running, E::HostFailed, S::Stopping, A::StopAll},       {S::Running, E::UserStop, S::Stopping, A::StopAll},
    {S::Running, E::OutputGone, S::Stopping, A::StopAll},       {S::Running, E::AllEnded, S::Finished, A::Finish},
    {S::Running, E::Deadline, S::Stopping, A::TimeOutRun},      {S::Stopping, E::UserStop, S::Stopping, A::KillAll},
    {S::Stopping, E::AllEnded, S::Finished, A::Finish},         {S::Stopping, E::Deadline, S::Finished, A::GiveUp},
    {S::Running, E::RanksAlone, S::Stopping, A::StopAll},       {S::Running, E::NoProgress, S::Stopping, A::StopAll},
    {S::Connecting, E::OneMachine, S::Stopping, A::StopAll},
};

}  // namespace

TEST_CASE("a job: every state and every event") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(name(state), name(event));
      const Expectation* expected = nullptr;
      for (const Expectation& row : kExpected) {
        if (row.state == state && row.event == event) expected = &row;
      }
      JobMachine machine = at(state);
      const std::optional<TimePoint> before = machine.deadline();
      const A action = machine.on(event, kNow + 1ms);
      CHECK(action == (expected != nullptr ? expected->action : A::None));
      CHECK(machine.state() == (expected != nullptr ? expected->next : state));
      if (machine.state() == state && action != A::KillAll) CHECK(machine.deadline() == before);
    }
  }
}

TEST_CASE("every state but a running job and a finished one has an end") {
  CHECK(at(S::Connecting).deadline() == kNow + kStartTimeout);
  CHECK(at(S::Failing).deadline() == kNow + JobMachine::kGather);
  CHECK(at(S::Probing, kNow + 5s).deadline() == kNow + kStartTimeout);
  CHECK_FALSE(at(S::Running).deadline());
  CHECK(at(S::Stopping).deadline() == kNow + kGrace + JobMachine::kConfirm);
  CHECK_FALSE(at(S::Finished).deadline());
}

TEST_CASE("a limit on the time of the workers begins with them") {
  JobMachine machine(kStartTimeout, kGrace, kNow, 90s);
  CHECK(machine.deadline() == kNow + kStartTimeout);
  machine.on(E::AllReady, kNow + 1s);
  CHECK(machine.deadline() == kNow + kStartTimeout);
  machine.on(E::AllProbed, kNow + 2s);
  CHECK(machine.deadline() == kNow + 92s);
  CHECK(machine.on(E::Deadline, kNow + 92s) == A::TimeOutRun);
  CHECK(machine.state() == S::Stopping);
  CHECK(machine.deadline() == kNow + 92s + kGrace + JobMachine::kConfirm);
}

TEST_CASE("gathering failures never outlasts the time to start") {
  CHECK(at(S::Failing, kNow + 59s).deadline() == kNow + kStartTimeout);
  JobMachine machine = at(S::Failing);
  machine.on(E::HostFailed, kNow + 1s);  // a further one does not begin it anew
  CHECK(machine.deadline() == kNow + JobMachine::kGather);
}

TEST_CASE("a second stop of the user ends the grace, a third changes nothing") {
  JobMachine machine = at(S::Running);
  CHECK(machine.on(E::UserStop, kNow) == A::StopAll);
  CHECK(machine.on(E::UserStop, kNow + 1s) == A::KillAll);
  CHECK(machine.deadline() == kNow + 1s + JobMachine::kConfirm);
  CHECK(machine.on(E::UserStop, kNow + 5s) == A::KillAll);
  CHECK(machine.deadline() == kNow + 1s + JobMachine::kConfirm);
}

TEST_CASE("a late second stop does not put the end off") {
  JobMachine machine = at(S::Running);
  machine.on(E::UserStop, kNow);
  machine.on(E::UserStop, kNow + kGrace + JobMachine::kConfirm - 1s);
  CHECK(machine.deadline() == kNow + kGrace + JobMachine::kConfirm);
}

TEST_CASE("a stop of the user during a stop for another reason ends the grace") {
  for (const E reason : {E::WorkerFailed, E::HostFailed, E::OutputGone}) {
    JobMachine machine = at(S::Running);
    CHECK(machine.on(reason, kNow) == A::StopAll);
    CHECK(machine.on(E::UserStop, kNow + 1s) == A::KillAll);
  }
}

TEST_CASE("news in a stop do not stop again") {
  JobMachine machine = at(S::Stopping);
  for (const E event : {E::WorkerFailed, E::HostFailed, E::OutputGone, E::AllReady, E::AllProbed, E::AllSettled}) {
    CHECK(machine.on(event, kNow + 1s) == A::None);
    CHECK(machine.state() == S::Stopping);
  }
}

TEST_CASE("from any state deadlines alone lead to the end once the user asked for it") {
  for (const S state : kStates) {
    CAPTURE(name(state));
    JobMachine machine = at(state);
    machine.on(E::UserStop, kNow);
    if (machine.state() != S::Finished) {
      REQUIRE(machine.deadline().has_value());
      CHECK(machine.on(E::Deadline, *machine.deadline()) == A::GiveUp);
    }
    CHECK(machine.state() == S::Finished);
  }
}

TEST_CASE("the names of a job's states and events are words of their own") {
  std::set<std::string_view> states;
  std::set<std::string_view> events;
  for (const S state : kStates) CHECK(states.insert(name(state)).second);
  for (const E event : kEvents) CHECK(events.insert(name(event)).second);
  CHECK(states.count("") + events.count("") == 0);
}

TEST_CASE("a stop signal may leave more time than a failure") {
  const TimePoint start{};
  JobMachine stopped(60s, 10s, start, std::nullopt, 100s);
  stopped.on(JobEvent::AllReady, start);
  stopped.on(JobEvent::AllProbed, start);
  JobMachine failed = stopped;
  stopped.on(JobEvent::UserStop, start);
  CHECK(stopped.deadline() == start + 100s + JobMachine::kConfirm);
  failed.on(JobEvent::WorkerFailed, start);
  CHECK(failed.deadline() == start + 10s + JobMachine::kConfirm);
}
