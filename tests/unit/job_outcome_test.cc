#include "launcher/report/outcome/job_outcome.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "launcher/report/outcome/job_report.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

const TimePoint kStart = TimePoint(1000h);

AttemptFacts facts() {
  AttemptFacts f;
  f.started = kStart;
  f.program = "train.py";
  return f;
}

AttemptFacts::WorkerEnd end_of(std::uint32_t rank, const std::string& host, ExitStatus status, Duration after,
                               bool by_itself = true) {
  AttemptFacts::WorkerEnd end;
  end.rank = Rank(rank);
  end.host = host;
  end.pid = 4711;
  end.status = std::move(status);
  end.by_itself = by_itself;
  end.at = kStart + after;
  return end;
}

// "algo-7" is the host with index 7; the letters a, b, ... count from 0.
std::uint32_t index_in(const std::string& host) {
  const char last = host.back();
  return static_cast<std::uint32_t>(last >= 'a' ? last - 'a' : last - '0');
}

AttemptFacts::HostFault fault_of(const std::string& host, Error why, Duration after) {
  AttemptFacts::HostFault fault;
  fault.index = HostIndex(index_in(host));
  fault.host = host;
  fault.why = std::move(why);
  fault.at = kStart + after;
  return fault;
}

}  // namespace

TEST_CASE("a job of which nothing is told went well") {
  const JobOutcome verdict = judge(facts());
  CHECK(verdict.exit_code == 0);
  CHECK(verdict.lines.empty());
}

TEST_CASE("the worker that failed first by itself decides, in whatever order the news came") {
  AttemptFacts f = facts();
  f.ends = {end_of(4, "algo-2", Exited{1}, 2500ms), end_of(5, "algo-1", Exited{7}, 1500ms),
            end_of(0, "algo-1", Signaled{SIGSEGV, true}, 3s)};
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 7);
  CHECK(verdict.lines == Lines{"rank 5 on algo-1 exited with status 7 after 1.5 s"});
}

TEST_CASE("each way to fail has its status and its words") {
  struct Row {
    ExitStatus status;
    int code;
    const char* words;
  };
  const Row rows[] = {
      {Exited{1}, 1, "rank 3 on h exited with status 1 after 0.2 s"},
      {Exited{255}, 255, "rank 3 on h exited with status 255 after 0.2 s"},
      {Signaled{SIGKILL, false}, 137, "rank 3 on h was killed by SIGKILL (killed) after 0.2 s"},
      {Signaled{SIGSEGV, true}, 139, "rank 3 on h was killed by SIGSEGV (segmentation fault), core dumped after 0.2 s"},
      {SpawnFailed{SpawnStep::Exec, ENOENT}, 127,
       "rank 3 on h did not start: cannot execute the program: no such file or directory (train.py)"},
      {SpawnFailed{SpawnStep::Exec, EACCES}, 126,
       "rank 3 on h did not start: cannot execute the program: permission denied (train.py)"},
      {SpawnFailed{SpawnStep::Fork, EAGAIN}, 125,
       "rank 3 on h did not start: cannot make a process: resource temporarily unavailable (ulimit -u "
       "or the pids limit of its cgroup is reached) (train.py)"},
      {Lost{"its agent went away"}, 125, "rank 3 on h lost: its agent went away after 0.2 s"},
  };
  for (const Row& row : rows) {
    AttemptFacts f = facts();
    f.ends = {end_of(3, "h", row.status, 200ms)};
    const JobOutcome verdict = judge(f);
    CHECK(verdict.exit_code == row.code);
    CHECK(verdict.lines == Lines{row.words});
  }
}

TEST_CASE("workers that we stopped never decide") {
  AttemptFacts f = facts();
  f.ends = {end_of(0, "a", Signaled{SIGTERM, false}, 1s, false), end_of(1, "b", Exited{3}, 2s),
            end_of(2, "b", Signaled{SIGKILL, false}, 500ms, false)};
  CHECK(judge(f).exit_code == 3);
  f.ends.erase(f.ends.begin() + 1);
  f.stop_signal = SIGTERM;
  f.stop_at = kStart;
  CHECK(judge(f).exit_code == 143);
}

TEST_CASE("the user's signal decides when nothing had failed before") {
  for (const auto& [signo, code, words] :
       {std::tuple{SIGINT, 130, "stopped by SIGINT"}, std::tuple{SIGTERM, 143, "stopped by SIGTERM"},
        std::tuple{SIGHUP, 129, "stopped by SIGHUP"}, std::tuple{SIGQUIT, 131, "stopped by SIGQUIT"}}) {
    AttemptFacts f = facts();
    f.stop_signal = signo;
    f.stop_at = kStart + 1s;
    f.ends = {end_of(0, "a", Exited{9}, 1100ms)};
    const JobOutcome verdict = judge(f);
    CHECK(verdict.exit_code == code);
    CHECK(verdict.lines == Lines{words});
  }
}

TEST_CASE("a failure before the user's signal keeps its verdict") {
  AttemptFacts f = facts();
  f.stop_signal = SIGINT;
  f.stop_at = kStart + 1s;
  f.ends = {end_of(0, "a", Exited{9}, 900ms)};
  CHECK(judge(f).exit_code == 9);
  f.ends.clear();
  f.faults = {fault_of("a", Error(ErrorKind::Connect, "connection refused"), 900ms)};
  CHECK(judge(f).exit_code == 125);
}

TEST_CASE("a signal that workers and launcher get at once is the user's") {
  AttemptFacts f = facts();
  f.stop_signal = SIGTERM;
  f.stop_at = kStart + 1s;
  f.ends = {end_of(0, "a", Signaled{SIGTERM, false}, 900ms), end_of(1, "b", Exited{143}, 950ms)};
  CHECK(judge(f).exit_code == 143);
  CHECK(judge(f).lines == Lines{"stopped by SIGTERM"});
  f.ends.front().status = Exited{143};  // a shell whose command the signal has ended
  CHECK(judge(f).lines == Lines{"stopped by SIGTERM"});
  f.stop_at = kStart + 5s;
  CHECK(judge(f).lines.front() != "stopped by SIGTERM");
  f.stop_at = kStart + 1s;
  f.ends.front().status = Signaled{SIGKILL, false};
  CHECK(judge(f).exit_code == 137);
}

TEST_CASE("a stop of all processes that reaches an agent first is the user's stop all the same") {
  AttemptFacts f = facts();
  f.faults = {fault_of("algo-3", Error(ErrorKind::Lost, "its agent was asked to end by SIGTERM"), 900ms)};
  f.stop_signal = SIGTERM;
  f.stop_at = kStart + 1s;
  CHECK(judge(f).exit_code == 143);
  CHECK(judge(f).lines == Lines{"stopped by SIGTERM"});
  f.stop_at = kStart + 5s;
  CHECK(judge(f).exit_code == 125);
  f.stop_at = kStart + 1s;
  f.stop_signal = SIGINT;
  CHECK(judge(f).exit_code == 125);
}

TEST_CASE("between a fault and a worker's end the earlier one decides") {
  AttemptFacts f = facts();
  f.faults = {fault_of(
      "algo-3", Error(ErrorKind::Lost, "lost: nothing received for 30 s").with_hint("--heartbeat-timeout waits longer"),
      2s)};
  f.ends = {end_of(1, "algo-1", Exited{4}, 3s)};
  JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.lines == Lines{"algo-3: lost: nothing received for 30 s", "hint: --heartbeat-timeout waits longer"});

  f.ends = {end_of(1, "algo-1", Exited{4}, 1s)};
  verdict = judge(f);
  CHECK(verdict.exit_code == 4);
  CHECK(verdict.lines == Lines{"rank 1 on algo-1 exited with status 4 after 1.0 s",
                               "algo-3: lost: nothing received for 30 s", "hint: --heartbeat-timeout waits longer"});
}

TEST_CASE("a worker that is killed right before its host is lost went with the host") {
  AttemptFacts f = facts();
  const Error why(ErrorKind::Lost, "srun was killed by SIGKILL (killed)");
  f.ends = {end_of(7, "algo-8", Signaled{SIGKILL, false}, 1s),
            end_of(0, "algo-1", Signaled{SIGTERM, false}, 2s, false)};
  f.lost_in_stop = {fault_of("algo-7", why, 2s), fault_of("algo-8", why, 3s)};
  blame_hosts_for_kills(f);
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.by == FailureCause::Host);
  CHECK(verdict.lines == Lines{"2 hosts: srun was killed by SIGKILL (killed): algo-[7-8]",
                               "  then: rank 7 on algo-8 was killed by SIGKILL (killed) after 1.0 s"});

  const auto stays_with_the_worker = [&](AttemptFacts& of) {
    blame_hosts_for_kills(of);
    return of.faults.empty();
  };
  f.faults.clear();
  f.lost_in_stop = {fault_of("algo-7", why, 2s)};
  CHECK(stays_with_the_worker(f));  // its own host goes on
  f.lost_in_stop = {fault_of("algo-8", why, 2s)};
  f.ends[0].out_of_memory = "python3 (pid 9)";
  CHECK(stays_with_the_worker(f));  // the kernel did it
  f.ends[0].out_of_memory.clear();
  f.ends[0].status = Signaled{SIGSEGV, false};
  CHECK(stays_with_the_worker(f));
}

TEST_CASE("what a host told that broke the protocol later does not count") {
  AttemptFacts f = facts();
  f.ends = {end_of(1, "algo-2", Signaled{SIGKILL, false}, 1s), end_of(0, "algo-1", Exited{1}, 1500ms)};
  f.faults = {fault_of("algo-2", Error(ErrorKind::Protocol, "broke the protocol: lied"), 2s)};
  const JobOutcome other = judge(f);
  CHECK(other.exit_code == 1);
  CHECK(other.lines.front() == "rank 0 on algo-1 exited with status 1 after 1.5 s");
  f.ends.pop_back();
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.lines == Lines{"algo-2: broke the protocol: lied"});
}

TEST_CASE("faults of the same words fold into one line that names all their hosts") {
  const auto refused = [] { return Error(ErrorKind::Connect, "connection refused").with_hint("is sshd running?"); };
  AttemptFacts f = facts();
  f.faults = {fault_of("algo-4", refused(), 1s), fault_of("algo-9", Error(ErrorKind::Auth, "refused the login"), 1s),
              fault_of("algo-5", refused(), 1s), fault_of("algo-6", refused(), 2s)};
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.lines ==
        Lines{"3 hosts: connection refused: algo-[4-6]", "hint: is sshd running?", "algo-9: refused the login"});
}

TEST_CASE("details of hosts follow the line that names them all, and the hint names them too") {
  AttemptFacts f = facts();
  const auto unknown = [](const char* key) {
    return Error(ErrorKind::HostKey, "unknown key").with_detail(key).with_hint("scan {hosts} >> known");
  };
  f.faults = {fault_of("algo-1", unknown("K1"), 1s)};
  CHECK(judge(f).lines == Lines{"algo-1: unknown key: K1", "hint: scan algo-1 >> known"});
  f.faults.push_back(fault_of("algo-2", unknown("K2"), 1s));
  CHECK(judge(f).lines ==
        Lines{"2 hosts: unknown key: algo-[1-2]", "  algo-1: K1", "  algo-2: K2", "hint: scan algo-1 algo-2 >> known"});
}

TEST_CASE("a host with two faults of the same words is one host") {
  AttemptFacts f = facts();
  const Error no_socket(ErrorKind::Io, "cannot make a socket");
  f.faults = {fault_of("algo-2", no_socket, 1s), fault_of("algo-2", no_socket, 2s)};
  CHECK(judge(f).lines == Lines{"algo-2: cannot make a socket"});
}

TEST_CASE("a hint that several faults share is told once, behind the last of them") {
  AttemptFacts f = facts();
  f.faults = {fault_of("a", Error(ErrorKind::HostKey, "not known: A").with_hint("add it"), 1s),
              fault_of("b", Error(ErrorKind::HostKey, "not known: B").with_hint("add it"), 1s),
              fault_of("c", Error(ErrorKind::Connect, "refused"), 1s)};
  CHECK(judge(f).lines == Lines{"a: not known: A", "b: not known: B", "hint: add it", "c: refused"});
}

TEST_CASE("faults that differ in the hint alone stay apart, for the hint may name the host's own way out") {
  AttemptFacts f = facts();
  f.faults = {fault_of("a", Error(ErrorKind::Auth, "refused").with_hint("one"), 1s),
              fault_of("b", Error(ErrorKind::Auth, "refused").with_hint("two"), 1s)};
  CHECK(judge(f).lines == Lines{"a: refused", "hint: one", "b: refused", "hint: two"});
}

TEST_CASE("a missing program is 127, one that may not run 126, and the launcher's own failure outranks both") {
  const Error missing(ErrorKind::NotFound, "there is no program x");
  const Error refused(ErrorKind::NotExecutable, "x may not be executed");
  const Error unreachable(ErrorKind::Connect, "connection refused");
  struct Row {
    std::vector<Error> errors;
    int code;
  };
  const Row rows[] = {{{missing}, 127},          {{missing, missing}, 127},     {{refused}, 126},
                      {{missing, refused}, 126}, {{missing, unreachable}, 125}, {{unreachable, refused, missing}, 125}};
  for (const Row& row : rows) {
    AttemptFacts f = facts();
    for (std::size_t i = 0; i < row.errors.size(); ++i)
      f.faults.push_back(fault_of("h" + std::to_string(i), row.errors[i], 1s));
    CHECK(judge(f).exit_code == row.code);
  }
}

TEST_CASE("a lost reader is SIGPIPE's status, without a word to nobody") {
  AttemptFacts f = facts();
  f.output_gone = true;
  f.ends = {end_of(0, "a", Signaled{SIGTERM, false}, 1s, false)};
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 141);
  CHECK(verdict.lines.empty());
  f.ends.push_back(end_of(1, "a", Exited{6}, 500ms));
  CHECK(judge(f).exit_code == 6);
}

TEST_CASE("output that cannot be written for another reason is the launcher's failure, and told") {
  AttemptFacts f = facts();
  f.output_gone = true;
  f.output_errno = ENOSPC;
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.lines == Lines{"stopped: cannot write the workers' output: no space left on device"});
  f.output_errno = EPIPE;
  CHECK(judge(f).exit_code == 141);
}

TEST_CASE("faults are told in host order, whoever was quicker") {
  const auto missing = [] { return Error(ErrorKind::NotFound, "there is no program x"); };
  AttemptFacts f = facts();
  f.faults = {fault_of("algo-4", missing(), 1s), fault_of("algo-2", Error(ErrorKind::Auth, "refused the login"), 2s),
              fault_of("algo-1", missing(), 3s), fault_of("algo-3", missing(), 4s)};
  CHECK(judge(f).lines == Lines{"3 hosts: there is no program x: algo-[1,3-4]", "algo-2: refused the login"});
}

TEST_CASE("a program that did not start is shown, not obeyed") {
  AttemptFacts f = facts();
  f.program = "\x1b[2Jevil";
  f.ends = {end_of(0, "a", SpawnFailed{SpawnStep::Exec, ENOEXEC}, 1s)};
  CHECK(judge(f).lines == Lines{"rank 0 on a did not start: cannot execute the program: it has no \"#!\" line, or is "
                                "for another processor (\\x1b[2Jevil)"});
}

TEST_CASE("what could not be ended is named, and hosts without a last word make a good end a bad one") {
  AttemptFacts f = facts();
  f.left_behind = {"algo-3: pid 4711 (python3), state D"};
  f.unconfirmed = {"algo-1", "algo-2"};
  JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.lines == Lines{"could not be ended: algo-3: pid 4711 (python3), state D",
                               "no word that all is over from: algo-[1-2]; its agent ends everything by itself when it "
                               "sees that we are gone"});
  f.ends = {end_of(0, "a", Exited{3}, 1s)};
  verdict = judge(f);
  CHECK(verdict.exit_code == 3);
  CHECK(verdict.lines.size() == 3);
}

TEST_CASE("the worker that decides is named, and nobody when no worker does") {
  AttemptFacts f = facts();
  CHECK(judge(f).root_cause == nullptr);
  f.ends = {end_of(4, "a", Exited{1}, 2s), end_of(5, "a", Exited{7}, 1s)};
  CHECK(judge(f).root_cause == &f.ends[1]);
  f.stop_signal = SIGINT;
  f.stop_at = kStart;
  CHECK(judge(f).root_cause == nullptr);
}

TEST_CASE("a crash soon after an exit with 1 is taken for its cause, later it is not") {
  struct Row {
    ExitStatus first;
    int signo;
    Duration later;
    int code;
  };
  const Row rows[] = {
      {Exited{1}, SIGKILL, 1s, 137},
      {Exited{1}, SIGKILL, 1001ms, 1},
      {Exited{1}, SIGSEGV, 900ms, 139},
      {Exited{1}, SIGBUS, 900ms, 135},
      {Exited{1}, SIGILL, 900ms, 132},
      {Exited{1}, SIGABRT, 200ms, 134},
      {Exited{1}, SIGABRT, 201ms, 1},
      {Exited{1}, SIGTERM, 1ms, 1},
      {Exited{1}, SIGINT, 1ms, 1},
      {Exited{2}, SIGKILL, 1ms, 2},
      {Signaled{SIGABRT, false}, SIGKILL, 1ms, 134},
  };
  for (const Row& row : rows) {
    CAPTURE(row.signo, row.code);
    AttemptFacts f = facts();
    f.ends = {end_of(0, "a", row.first, 10s), end_of(1, "b", Signaled{row.signo, false}, 10s + row.later)};
    CHECK(judge(f).exit_code == row.code);
    std::swap(f.ends[0], f.ends[1]);
    CHECK(judge(f).exit_code == row.code);
  }
}

TEST_CASE("an abort gives way to a rank that ended by itself in the same moment, as its library may have seen that") {
  struct Row {
    Lines said;  // by who aborted
    ExitStatus other;
    Duration later;
    bool by_itself;
    int code;
  };
  const Lines lost{"An MPI communication peer process has unexpectedly disconnected.  This"};
  const Lines own{"MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD"};
  const Row rows[] = {
      {own, Signaled{SIGKILL, false}, 100ms, true, 137},
      {own, Signaled{SIGSEGV, false}, 100ms, true, 139},
      {own, Signaled{SIGKILL, false}, 1001ms, true, 14},
      {own, Signaled{SIGKILL, false}, 100ms, false, 14},
      {own, Exited{3}, 100ms, true, 14},
      {lost, Exited{3}, 100ms, true, 3},
      {lost, Exited{3}, 100ms, false, 14},
      {lost, Exited{3}, 1001ms, true, 14},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code, row.later, row.said);
    AttemptFacts f = facts();
    f.ends = {end_of(0, "a", Exited{14}, 10s), end_of(1, "b", row.other, 10s + row.later, row.by_itself)};
    f.ends[0].fault = "aborted the job (MPI_Abort or an error in MPI, code 14)";
    f.ends[0].aborted = true;
    f.ends[0].last_lines = row.said;
    CHECK(judge(f).exit_code == row.code);
  }
}

TEST_CASE("of aborts that follow a lost peer none is the cause of another") {
  AttemptFacts f = facts();
  f.ends = {end_of(0, "a", Exited{14}, 10s), end_of(1, "b", Exited{14}, 10s), end_of(2, "b", Exited{7}, 10100ms)};
  for (AttemptFacts::WorkerEnd& end : f.ends) {
    end.fault = "aborted the job";
    end.aborted = true;
  }
  f.ends[0].last_lines = {"An MPI communication peer process has unexpectedly disconnected.  This"};
  CHECK(judge(f).root_cause == &f.ends[0]);
  f.ends[2].last_lines = {"MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD"};
  CHECK(judge(f).root_cause == &f.ends[2]);
}

TEST_CASE("a rank that torch aborts because it has lost a peer is not the cause") {
  const Lines lost{"RuntimeError: [gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.4.2]:24282",
                   "terminate called without an active exception", "Fatal Python error: Aborted"};
  const Lines own{"ArithmeticError: the loss is no number"};
  struct Row {
    Lines said;  // by the one that aborted first
    ExitStatus other;
    Lines other_said;
    Duration later;
    int code;
  };
  const Row rows[] = {
      {lost, Exited{1}, own, 900ms, 1},
      {lost, Exited{1}, own, 1001ms, 134},
      {lost, Exited{3}, own, 900ms, 3},
      {lost, Signaled{SIGKILL, false}, {}, 900ms, 137},
      {lost, Signaled{SIGABRT, false}, lost, 1ms, 134},
      {{"Assertion `n > 0' failed."}, Exited{1}, own, 1ms, 134},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code, row.later, row.said);
    AttemptFacts f = facts();
    f.ends = {end_of(0, "a", Signaled{SIGABRT, false}, 10s), end_of(1, "b", row.other, 10s + row.later)};
    f.ends[0].last_lines = row.said;
    f.ends[1].last_lines = row.other_said;
    CHECK(judge(f).exit_code == row.code);
  }
  AttemptFacts after = facts();  // the abort comes right behind its cause
  after.ends = {end_of(0, "a", Exited{1}, 10s), end_of(1, "b", Signaled{SIGABRT, false}, 10050ms)};
  after.ends[0].last_lines = own;
  after.ends[1].last_lines = lost;
  CHECK(judge(after).exit_code == 1);
}

TEST_CASE("a crash that we caused outranks nothing") {
  AttemptFacts f = facts();
  f.ends = {end_of(0, "a", Exited{1}, 1s), end_of(1, "b", Signaled{SIGKILL, false}, 1100ms, false)};
  CHECK(judge(f).exit_code == 1);
}

TEST_CASE("of two crashes in the window the earlier one decides") {
  AttemptFacts f = facts();
  f.ends = {end_of(0, "a", Exited{1}, 1s), end_of(1, "b", Signaled{SIGKILL, false}, 1900ms),
            end_of(2, "b", Signaled{SIGSEGV, false}, 1500ms)};
  CHECK(judge(f).root_cause == &f.ends[2]);
}

TEST_CASE("what comes between an exit with 1 and its cause does not decide") {
  const auto with_cause = [] {
    AttemptFacts f = facts();
    f.ends = {end_of(0, "a", Exited{1}, 1s), end_of(1, "b", Signaled{SIGSEGV, false}, 1900ms)};
    return f;
  };
  AttemptFacts stopped = with_cause();
  stopped.stop_signal = SIGINT;
  stopped.stop_at = kStart + 1500ms;
  CHECK(judge(stopped).exit_code == 139);
  AttemptFacts faulty = with_cause();
  faulty.faults = {fault_of("c", Error(ErrorKind::Lost, "lost"), 1500ms)};
  CHECK(judge(faulty).exit_code == 139);
}

TEST_CASE("the limit on the time decides when nothing had failed before") {
  AttemptFacts f = facts();
  f.timed_out = kStart + 90s;
  f.ends = {end_of(0, "a", Signaled{SIGTERM, false}, 91s, false)};
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 124);
  CHECK(verdict.lines == Lines{"stopped: the workers had run for 90.0 s, the limit of --timeout"});
  f.timeout_status = 110;
  CHECK(judge(f).exit_code == 110);
  f.ends.push_back(end_of(1, "a", Exited{5}, 89s));
  CHECK(judge(f).exit_code == 5);
}

TEST_CASE("the limit on the time decides while the job waits for another attempt, whatever had failed") {
  AttemptFacts f = facts();
  f.ends = {end_of(1, "a", Exited{5}, 1s)};
  f.timed_out = kStart + 90s;
  f.waited_out = 90s;
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 124);
  CHECK(verdict.by == FailureCause::TimeLimit);
  CHECK(verdict.lines ==
        Lines{"stopped: the job had gone on for 90.0 s, waits between attempts included, the limit of --timeout"});
}

TEST_CASE("a stop that the launcher gets when all is over counts if the same signal has ended what came first") {
  AttemptFacts worker = facts();
  worker.ends = {end_of(0, "a", Signaled{SIGTERM, false}, 2s)};
  CHECK(counts_late(worker, SIGTERM, kStart + 2500ms));
  CHECK_FALSE(counts_late(worker, SIGINT, kStart + 2500ms));
  CHECK_FALSE(counts_late(worker, SIGTERM, kStart + 4s));

  AttemptFacts agent = facts();
  agent.faults = {fault_of("a", Error(ErrorKind::Lost, "its agent was asked to end by SIGTERM"), 2s)};
  CHECK(counts_late(agent, SIGTERM, kStart + 2500ms));
  CHECK_FALSE(counts_late(agent, SIGHUP, kStart + 2500ms));

  AttemptFacts at_rest = agent;  // after a worker had failed
  at_rest.ends = {end_of(1, "b", Exited{3}, 1s)};
  CHECK(counts_late(at_rest, SIGTERM, kStart + 2500ms));
  at_rest.faults.clear();
  CHECK_FALSE(counts_late(at_rest, SIGTERM, kStart + 1500ms));

  CHECK_FALSE(counts_late(facts(), SIGTERM, kStart + 1s));  // all workers have succeeded
}

TEST_CASE("no failed worker ever gives status 0") {
  for (int code = 1; code < 256; ++code) {
    AttemptFacts f = facts();
    f.ends = {end_of(0, "a", Exited{code}, 1s)};
    CHECK(judge(f).exit_code == code);
  }
  for (int signo = 1; signo <= 64; ++signo) {
    AttemptFacts f = facts();
    f.ends = {end_of(0, "a", Signaled{signo, false}, 1s)};
    CHECK(judge(f).exit_code == 128 + signo);
  }
}

TEST_CASE("workers that ended by our signal without anybody's wish are no success") {
  // an agent that somebody on its host told to end: no failure by itself, no user's signal, but nothing was finished
  AttemptFacts f = facts();
  f.ends = {end_of(0, "a", Signaled{SIGTERM, false}, 1s, false)};
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code != 0);
  CHECK_FALSE(verdict.lines.empty());
}

TEST_CASE("success is what every rank has said") {
  AttemptFacts f = facts();
  CHECK(judge(f).exit_code == 0);
  f.unseen = 2;
  CHECK(judge(f).exit_code == 125);
  CHECK(judge(f).lines == Lines{"the end of 2 ranks was not reported, and the cause is unknown"});
}

TEST_CASE("what the launcher itself ended the job for decides, unless something failed before") {
  AttemptFacts f = facts();
  f.own_fault =
      AttemptFacts::OwnFault{Error(ErrorKind::Io, "the logs cannot be kept").with_hint("do that"), kStart + 2s};
  f.ends = {end_of(1, "b", Signaled{SIGTERM}, 3s, false)};
  const JobOutcome own = judge(f);
  CHECK(own.exit_code == 125);
  CHECK(own.lines == Lines{"stopped: the logs cannot be kept", "hint: do that"});
  f.ends.push_back(end_of(0, "a", Exited{4}, 1s));
  CHECK(judge(f).exit_code == 4);
}

TEST_CASE("a report is bounded, and says how many lines it leaves out") {
  AttemptFacts f = facts();
  for (int i = 0; i < 50; ++i) {
    const std::string name = "n" + std::to_string(i);
    f.faults.push_back(
        {HostIndex(static_cast<std::uint32_t>(i)), name, Error(ErrorKind::Connect, "no way " + name), kStart + 1s});
  }
  const Lines lines = job_report(f, judge(f));
  REQUIRE(lines.size() == kMaxLines);
  CHECK(lines[28] == "n28: no way n28");
  CHECK(lines[29] == "and 21 more lines");
  f.faults.resize(30);
  CHECK(job_report(f, judge(f)).back() == "n29: no way n29");
  f.faults.clear();
  f.ends = {end_of(0, "a", Exited{3}, 1s)};
  f.left_behind.assign(40, "a: pid 7 (x), state D");
  const Lines of_worker = job_report(f, judge(f));
  REQUIRE(of_worker.size() == kMaxLines);
  CHECK(of_worker[28] == "and 13 more lines");
  CHECK(of_worker[29] == "exit status 3, that of rank 0, which failed first");
}

TEST_CASE("a rank that is killed by nobody knows whom comes with the place to look at") {
  AttemptFacts f = facts();
  f.ends = {end_of(1, "b", Signaled{SIGKILL, false}, 1s)};
  const std::string hint =
      "  hint: sml-run did not send SIGKILL; if the kernel did, for lack of memory, dmesg on b shows it";
  const auto says_it = [&] {
    const Lines lines = job_report(f, judge(f));
    return std::count(lines.begin(), lines.end(), hint) == 1;
  };
  CHECK(says_it());
  f.ends[0].out_of_memory = "limit 1 GiB";
  CHECK_FALSE(says_it());
  f.ends[0].out_of_memory.clear();
  f.ends[0].status = Signaled{SIGTERM, false};
  CHECK_FALSE(says_it());
}

TEST_CASE("those who failed after the first fold by kind, in the number of their ranks") {
  AttemptFacts f = facts();
  f.ends = {end_of(0, "a", Signaled{SIGUSR1, false}, 1s), end_of(1, "a", Signaled{SIGUSR1, false}, 2s),
            end_of(2, "b", Signaled{SIGUSR1, false}, 2s), end_of(3, "b", Signaled{SIGUSR2, false}, 2s)};
  const Lines lines = job_report(f, judge(f));
  const auto said = [&](const std::string& line) { return std::count(lines.begin(), lines.end(), line) == 1; };
  CHECK(said("  then: ranks 1-2 on a,b were killed by SIGUSR1 (user defined signal 1)"));
  CHECK(said("  then: rank 3 on b was killed by SIGUSR2 (user defined signal 2)"));
}

TEST_CASE("a rank that failed by what it did, not by its end, is told so, with its words escaped") {
  AttemptFacts f = facts();
  f.ends = {end_of(3, "algo-1", Exited{7}, 1500ms)};
  f.ends[0].fault = "called MPI_Abort with code 7\n\x1b[2J";
  const JobOutcome verdict = judge(f);
  CHECK(verdict.exit_code == 7);
  CHECK(verdict.lines == Lines{"rank 3 on algo-1 called MPI_Abort with code 7\\n\\x1b[2J after 1.5 s"});
}
