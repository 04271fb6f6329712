// The messages from agent to launcher (part of messages.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/plan/host_facts.h"
#include "common/wire/limits.h"
#include "common/wire/message_rules.h"
#include "common/wire/messages_to_agent.h"
#include "common/wire/protocol_version.h"

namespace sml::wire {

// The reply to Hello.
struct HelloAck {
  std::uint32_t version = kProtocolVersion;  // of the agent
  std::string build_id;
  std::int32_t pid = 0;                // of the agent
  std::uint64_t now_ns = 0;            // the agent's clock when it sends this
  std::vector<std::string> addresses;  // of this host: first the one that the login used; no loopback
  std::string machine{};               // equal for agents on one machine; empty: unknown
  std::string cgroup{};                // folder of the cgroup made for the workers; empty: none
  std::string scratch{};               // the agent's folder; empty: none
  std::string reconnect_socket{};      // where a reconnect helper finds the agent; empty: nowhere
  void fields(auto& a) { a(version, build_id, pid, now_ns, addresses, machine, cgroup, scratch, reconnect_socket); }
  using Answers = Hello;
};

// Why a worker cannot run here, found before anything is started.
struct PreflightError {
  std::uint8_t kind = 0;  // ErrorKind
  std::string message;
  std::string hint;
  void fields(auto& a) { a(kind, message, hint); }
};

// The binding of a worker, for BindingRequest::report.
struct Bound {
  Rank rank;
  std::string where;  // "socket 0, NUMA node 0, core 2, CPUs 2,18"; empty: not bound
  void fields(auto& a) { a(rank, where); }
};

// Whether a rank received the variables by which its library finds the others.
enum class MpiOffer : std::uint8_t { None, Made };

// A program that uses MPI, but whose ranks no service of this host connects. Sent once per host: in Prepared if the
// program's file shows it, otherwise while the program runs.
struct MpiUse {
  Rank rank;
  std::int32_t pid = 0;  // the worker's own process or a descendant; 0: nothing has been started
  std::string program;
  std::string library;
  MpiOffer offer = MpiOffer::None;
  void fields(auto& a) { a(rank, pid, program, library, offer); }
  static constexpr Rules kRules{.most = {.items = "programs that use MPI", .per_rank = 1, .only_if = If::LooksForMpi}};
};

// A service of Prepare::services, with its port.
struct Service {
  ServiceKind kind = ServiceKind::WorkerPort;
  std::uint16_t port = 0;
  void fields(auto& a) { a(kind, port); }
};

// The reply to Prepare.
struct Prepared {
  std::vector<PreflightError> errors;    // empty: the workers can be started
  std::vector<Service> services{};       // as in Prepare::services; those of one kind in their order
  std::vector<std::string> addresses{};  // of the requested interfaces
  std::vector<std::string> warnings{};   // for the user, as parts of sentences
  std::vector<Bound> bindings{};         // if requested
  std::vector<MpiUse> mpi{};             // by the first rank of each such program
  std::string pmix{};                    // the library that serves the ranks, and its version; empty: none
  ReportedLimits limits{};               // of the workers
  void fields(auto& a) { a(errors, services, addresses, warnings, bindings, mpi, pmix, limits); }
  static constexpr Rules kRules{.ranks = Ranks::OfHost};
  void amounts(const auto& at_most) const {
    at_most(errors.size(), Most{"preflight errors", kMostPreflightErrors, 1, 1});
    at_most(warnings.size(), Most{"warnings", 1000, 1});
    at_most(bindings.size(), Most{.items = "bindings", .per_rank = 1, .only_if = If::ReportsBindings});
    at_most(mpi.size(), Most{.items = "programs that use MPI", .per_program = 1, .only_if = If::LooksForMpi});
  }
};

struct ProbeResult {
  std::string address;
  std::int32_t sys_errno = 0;  // 0: reached
  void fields(auto& a) { a(address, sys_errno); }
};
struct Probed {
  std::vector<ProbeResult> results;
  void fields(auto& a) { a(results); }
  using Answers = Probe;
};

struct StartedWorker {
  Rank rank;
  std::int32_t pid = 0;
  std::uint64_t at_ns = 0;
  void fields(auto& a) { a(rank, pid, at_ns); }
};
struct Started {  // the running workers; those that could not be started follow as ExitedWorker
  std::vector<StartedWorker> workers;
  void fields(auto& a) { a(workers); }
  static constexpr Rules kRules{.ranks = Ranks::OwnRule};
};

struct Output {  // sent only within credit; keeps the order of each rank and stream
  Rank rank;
  sml::Stream stream = sml::Stream::Stdout;
  std::string_view bytes;   // not owned: in a decoded message, valid until its decoder is used again
  std::uint64_t at_ns = 0;  // when the agent read them
  void fields(auto& a) { a(rank, stream, at_ns, bytes); }
  static constexpr Rules kRules{.text_size = TextSize::OwnLimits, .ranks = Ranks::Started};
};

enum class EndedBy : std::uint8_t { Itself, Us };  // Us: after the agent had begun to stop it

struct ExitedWorker {  // sent at once, while output may still be in flight
  Rank rank;
  std::uint8_t how = 0;     // index into ExitStatus
  std::int32_t value = 0;   // code, signal or errno
  std::uint8_t detail = 0;  // core dumped, or SpawnStep
  EndedBy ended_by = EndedBy::Itself;
  std::uint64_t at_ns = 0;
  Usage usage{};
  void fields(auto& a) { a(rank, how, value, detail, ended_by, at_ns, usage); }
  static constexpr Rules kRules{.ranks = Ranks::Started};
};

// Eof: all ends of its pipes are closed. Quiet: another process still holds one, but the agent reads no more from it.
enum class DrainEnd : std::uint8_t { Eof, Quiet };
struct Drained {  // no more output of this rank will follow
  Rank rank;
  DrainEnd end = DrainEnd::Eof;
  void fields(auto& a) { a(rank, end); }
  static constexpr Rules kRules{.ranks = Ranks::Started};
};

enum class LogLevel : std::uint8_t { Warning, Info, Debug };
// A message of the agent for the user or for debugging.
struct AgentLog {
  LogLevel level = LogLevel::Info;
  std::string text;
  void fields(auto& a) { a(level, text); }
  static constexpr Rules kRules{.phase = Phase::Connection, .most_in_all = {"log messages", 100'000}};
};

// The agent's guardian has ended, and another one guards it. If the pipe ends with the guardian (PipeEnd), this is the
// agent's last message: it ends its workers as after the loss of the launcher.
struct GuardianReplaced {
  void fields(auto&) {}
  static constexpr Rules kRules{.phase = Phase::Connection};
};

struct Pong {
  std::uint64_t token = 0;   // as in Ping
  std::uint64_t now_ns = 0;  // the agent's clock when it sends this
  void fields(auto& a) { a(token, now_ns); }
  static constexpr Rules kRules{.phase = Phase::Connection};
};

// Allows this many more bytes of StdinData for the rank.
struct StdinCredit {
  Rank rank;
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(rank, bytes); }
  static constexpr Rules kRules{.ranks = Ranks::Started};
};

inline constexpr Most kMostLeft{"processes that are left", kMaxLeft};
// The attempt is over: every worker and all its descendants are gone, or are named in `left`. Services for other hosts
// continue until the next Prepare or Leave.
struct Cleared {
  std::uint32_t attempt = 1;
  std::vector<std::string> left;  // "pid 4711 (python3), state D, in nfs_wait": could not be ended
  void fields(auto& a) { a(attempt, left); }
  void amounts(const auto& at_most) const { at_most(left.size(), kMostLeft); }
};

// The last message: after Leave, or for a reason of the agent's own.
struct Bye {
  std::string reason;  // empty: because of Leave
  void fields(auto& a) { a(reason); }
};

// The contents of a failed worker's TORCHELASTIC_ERROR_FILE; sent before its ExitedWorker.
struct ErrorFile {
  std::string text;  // at most kMaxErrorFile bytes
  Rank rank;
  void fields(auto& a) { a(text, rank); }
  static constexpr Rules kRules{.ranks = Ranks::Started, .once = "an error file"};
};
inline constexpr std::size_t kMaxErrorFile = std::size_t{64} << 10;
static_assert(kMaxErrorFile <= kMaxText);

// The kernel has killed processes in the agent's cgroup for lack of memory, since the last such message or the start;
// sent before the ExitedWorker of a worker that was killed by SIGKILL.
struct OutOfMemory {
  std::uint64_t kills = 0;  // processes
  std::string evidence;     // "oom_kill in /sys/fs/cgroup/.../memory.events rose from 0 to 1"
  void fields(auto& a) { a(kills, evidence); }
  static constexpr Rules kRules{.most = {.items = "reports of lack of memory", .per_rank = 1}};
};

struct Joined {
  // From the agent that serves the store: clients that have joined it. From other agents: workers here that hold a
  // connection to the requested port; if no port was requested and no worker runs any more, workers that had joined
  // others by MPI.
  std::uint64_t count = 0;
  std::uint64_t since_first_ms = 0;  // time since the first of them joined
  std::vector<Rank> missing;         // running workers here without a connection to the requested port
  std::uint64_t with_torch = 0;      // with TorchLook::Yes: workers here that have torch's library loaded
  void fields(auto& a) { a(count, since_first_ms, missing, with_torch); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  void amounts(const auto& at_most) const { at_most(with_torch, Most{.items = "workers with torch", .per_rank = 1}); }
  using Answers = AskJoined;
};

// From the agent that serves the stores: clients from other hosts. The launcher replies with PeerVerdicts, in pieces
// and in any order.
struct AskPeerOwnership {
  std::vector<Caller> callers;
  void fields(auto& a) { a(callers); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  void amounts(const auto& at_most) const { at_most(callers.size(), Most{"callers at once", kMaxCallers}); }
};

// The reply to CheckPeerOwnership; its verdicts may come in several of these messages.
struct PeerVerdictsOfHost {
  std::vector<PeerVerdict> verdicts;
  void fields(auto& a) { a(verdicts); }
  static constexpr Rules kRules{.phase = Phase::Connection};
};

inline constexpr Most kMostFailures{"failures", 1000, 2};
// A file of Worker::stdout_log or stderr_log cannot be written and is given up; the worker goes on.
struct LogFailed {
  std::string why;
  void fields(auto& a) { a(why); }
  static constexpr Rules kRules{.most = kMostFailures};
};

// A channel of Prepare::fifos cannot be fed any more: the job cannot go on.
struct FifoFailed {
  std::string why;  // names channel, epoch and position
  void fields(auto& a) { a(why); }
  static constexpr Rules kRules{.most = kMostFailures};
};

struct Inspected {
  plan::HostFacts facts;
  std::uint64_t at_ns = 0;
  std::uint64_t unix_ns = 0;  // the time of day at at_ns
  void fields(auto& a) { a(facts, at_ns, unix_ns); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  void amounts(const auto& at_most) const {
    constexpr Most kMost{.items = "programs", .per_program = 1};
    at_most(facts.programs.size(), kMost);
    at_most(facts.mpi.size(), kMost);
  }
  using Answers = Inspect;
};

struct LeftEnded {
  std::uint32_t count = 0;        // processes that the agent has ended
  std::vector<std::string> left;  // as in Cleared
  void fields(auto& a) { a(count, left); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  void amounts(const auto& at_most) const { at_most(left.size(), kMostLeft); }
  using Answers = EndLeft;
};

// Aborted: the rank has asked for the end of the job. Broken: it has violated the protocol, and is killed. Silent: it
// hangs.
enum class FaultKind : std::uint8_t { Aborted, Broken, Silent };
// A service reports that a rank has failed, whatever the rank's process reports. Once per rank, and before its
// ExitedWorker.
struct RankFault {
  std::uint32_t attempt = 1;
  Rank rank;
  FaultKind kind = FaultKind::Broken;
  std::int32_t code = 1;  // exit status for the job
  std::string why;        // the rest of a sentence that begins with "rank 3 on algo-1"
  std::uint64_t at_ns = 0;
  void fields(auto& a) { a(attempt, rank, kind, code, why, at_ns); }
  static constexpr Rules kRules{.ranks = Ranks::Started, .once = "a fault"};
};

// Whether the workers of an AddWorkers can be started here.
struct Added {
  std::uint32_t attempt = 1;
  Rank first;
  std::vector<PreflightError> errors;
  void fields(auto& a) { a(attempt, first, errors); }
  static constexpr Rules kRules{.ranks = Ranks::OwnRule};
};

}  // namespace sml::wire
