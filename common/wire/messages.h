// The messages between launcher and agent. One struct per message, grouped by direction.
//
// Both sides are the same build; the version in Hello detects others. Byte strings (std::string) hold any bytes. Times
// are nanoseconds of the agent's own monotonic clock.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/exit_status.h"
#include "common/core/process_settings.h"
#include "common/core/signal_target.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/plan/channel.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/fifos.h"
#include "common/plan/machine/binding.h"
#include "common/plan/machine/devices.h"
#include "common/plan/machine/host_facts.h"
#include "common/plan/rank_monitor.h"
#include "common/plan/ranks/job_shape.h"
#include "common/wire/horovod_messages.h"
#include "common/wire/host_messages.h"
#include "common/wire/link_messages.h"
#include "common/wire/trace_messages.h"
#include "common/wire/wire_up_messages.h"

namespace sml::wire {

inline constexpr std::uint32_t kProtocolVersion = 22;

using sml::Stream;
enum class StdinSource : std::uint8_t { Null, Launcher };

// ---- launcher → agent

// The first message, sent once. The agent replies with HelloAck, or with Bye if it does not support `version`. Attempts
// follow, one after the other: Prepare, Prepared, Start, Started, news of workers, Cleared; finally Leave, Bye.
struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::string job_id;
  std::string host;                        // the host's name in the job, for messages
  std::uint32_t heartbeat_timeout_ms = 0;  // end everything if the launcher has been silent for this long
  std::uint32_t grace_ms = 0;              // between SIGTERM and SIGKILL if the launcher is lost
  std::uint64_t credit = 0;                // output bytes that may be sent before the first Credit
  std::string return_secret{};             // authenticates a new connection of the launcher; empty: none is accepted
  std::uint32_t hold_ms = 0;               // time for which the workers go on after the connection has broken
  void fields(auto& a) { a(version, job_id, host, heartbeat_timeout_ms, grace_ms, credit, return_secret, hold_ms); }
};

// One program of the job; ranks that run the same program share it.
struct App {
  std::vector<std::string> argv;
  std::string working_directory;
  plan::BaseEnvironment base = plan::BaseEnvironment::Launcher;
  plan::Environment launcher_environment;
  plan::Environment user_environment;
  plan::WorldTold world = plan::WorldTold::Yes;
  std::uint32_t local_rank_at = 0;  // see plan::Program
  std::string search_path{};        // likewise
  void fields(auto& a) {
    a(argv, working_directory, base, launcher_environment, user_environment, world, local_rank_at, search_path);
  }
};

enum class StderrPipe : std::uint8_t { Own, OfStdout };
enum class StdoutEnd : std::uint8_t { Pipe, Terminal };  // Terminal: a pipe, where the host has no more of them

struct Worker {
  Rank rank;
  LocalRank local_rank;
  std::uint32_t app = 0;  // index into Prepare::apps
  StdinSource stdin_source = StdinSource::Null;
  plan::Environment environment;  // plan::rank_environment()
  std::string stdout_log{};       // absolute path on the agent's host of a file that gets a copy; empty: none
  std::string stderr_log{};
  std::string cores{};  // as a rankfile names them; empty: any
  StderrPipe stderr_pipe = StderrPipe::Own;
  StdoutEnd stdout_end = StdoutEnd::Pipe;
  void fields(auto& a) {
    a(rank, local_rank, app, stdin_source, environment, stdout_log, stderr_log, cores, stderr_pipe, stdout_end);
  }
};

enum class LogOverwrite : std::uint8_t { No, Yes };  // No: a file that exists already is a PreflightError
// How the agent writes Worker::stdout_log and stderr_log.
struct WorkerLogs {
  std::uint64_t max_size = 0;  // bytes before rotation; 0: no limit
  LogOverwrite overwrite = LogOverwrite::No;
  void fields(auto& a) { a(max_size, overwrite); }
};

// A service that an agent offers for an attempt at a port of its host. WorkerPort: a free port that a worker listens
// on.
enum class ServiceKind : std::uint8_t { TorchStore, HorovodStore, WorkerPort };
enum class ServiceReach : std::uint8_t { ThisMachine, Network };  // where its clients are
struct ServiceWish {
  ServiceKind kind = ServiceKind::WorkerPort;
  ServiceReach reach = ServiceReach::Network;
  void fields(auto& a) { a(kind, reach); }
};

enum class MpiLook : std::uint8_t { No, Yes };  // Yes: report workers that use MPI alone (MpiUse)

enum class Workers : std::uint8_t { Planned, Spawned };
// For a host that runs no rank until some are spawned there: all its workers come by AddWorkers, and the agent waits
// for the first of them.
struct LateStart {
  Workers workers = Workers::Planned;
  WireUp service = WireUp::Pmi;  // the service by which they find each other
  std::string job{};             // the job's id
  std::string host{};            // the host's name
  void fields(auto& a) { a(workers, service, job, host); }
};

// How ranks that use MPI find each other.
struct MpiPlan {
  plan::PmiMode meeting = plan::PmiMode::None;
  MpiLook look = MpiLook::No;
  // this host's index in `shape`; an index beyond it is unique and means that the host has no members
  std::uint32_t host = 0;
  plan::JobShape shape{};
  std::string pmix_library{};  // the library to load; empty: the host's own
  std::string name_space{};    // plan::JobIdentity
  LateStart late{};
  void fields(auto& a) { a(meeting, look, host, shape, pmix_library, name_space, late); }
};

// Python modules that one process imports before it forks the workers, so that each has them imported already.
struct PreloadWish {
  std::vector<std::string> modules;  // empty: none
  std::uint32_t limit_ms = 0;        // time limit for the imports; then workers are started without them
  std::uint32_t likely = 0;  // for a host without workers: the number of workers of the first program that it may get
  void fields(auto& a) { a(modules, limit_ms, likely); }
};

// Yes: record how much memory NVIDIA's accelerators use before any worker runs, for the AskHealth of a later attempt.
enum class AcceleratorLook : std::uint8_t { No, Yes };

// Describes what will run. The agent checks the directory and the program, reserves ports if requested, starts nothing,
// and replies with Prepared. It first discards all state of an earlier attempt.
struct Prepare {
  std::vector<App> apps;
  std::vector<Worker> workers;
  std::vector<ServiceWish> services{};
  WorkerLogs logs{};
  std::vector<std::string> interfaces{};  // interfaces for the workers: names and networks; empty: any
  plan::BindingWish binding{};
  plan::DeviceWish devices{};
  plan::FifoPlan fifos{};
  std::vector<plan::HostChannel> channels{};
  std::string mark{};  // set in the workers' environment, so that EndLeft can find them
  MpiPlan mpi{};
  std::uint32_t attempt = 1;        // counts from 1
  std::uint32_t restarts = 0;       // plan::JobIdentity::restarts, for a host that calls
  UsageLook usage = UsageLook::No;  // Yes: send HostUsed while the workers run
  PreloadWish preload{};
  plan::RankMonitor monitor{};
  TorchTraces torch_traces = TorchTraces::No;
  AcceleratorLook accelerators = AcceleratorLook::No;
  // For a host that calls, and derives for itself what it should receive: all hosts of the job so far, in their order,
  // and those that have no workers in this attempt.
  std::vector<HostId> order{};
  std::vector<HostId> idle{};
  ProcessSettings inherited{};  // from the launcher, for workers
  void fields(auto& a) {
    a(apps, workers, services, logs, interfaces, binding, devices, fifos, channels, mark, mpi, attempt, restarts,
      usage);
    a(preload, monitor, torch_traces, accelerators, order, idle, inherited);
  }
};

// Asks which of these addresses the host can reach. The agent replies with Probed within timeout_ms.
struct Probe {
  std::vector<std::string> addresses;  // numeric
  std::uint16_t port = 0;
  std::uint32_t timeout_ms = 0;
  void fields(auto& a) { a(addresses, port, timeout_ms); }
};

enum class HorovodRounds : std::uint8_t { No, Yes };  // Yes: send HorovodNews
// The stores that the host with MASTER_PORT serves to the workers of all hosts.
struct Stores {
  plan::TorchStore torch = plan::TorchStore::OfRank0;  // OfRank0: the port is left to the workers
  std::uint32_t world_size = 0;
  std::vector<std::string> hosts;  // numeric addresses of the job's hosts: no other client is served
  HorovodRounds rounds = HorovodRounds::No;
  void fields(auto& a) { a(torch, world_size, hosts, rounds); }
};

// Variables of one rank that are known only after the rendezvous of the hosts.
struct RankVariables {
  Rank rank;
  plan::Environment environment;
  void fields(auto& a) { a(rank, environment); }
};

// Starts every worker of Prepare. `rendezvous` is added after the workers' own variables.
struct Start {
  plan::Environment rendezvous;
  Stores stores{};
  std::vector<RankVariables> variables{};  // added after all other variables
  void fields(auto& a) { a(rendezvous, stores, variables); }
};

// Sends a signal to these workers, once; nothing else happens.
struct Signal {
  std::int32_t signo = 0;
  std::vector<Rank> ranks{};  // ranks, of which those on this host get the signal; empty: all
  SignalTarget target = SignalTarget::Group;
  void fields(auto& a) { a(signo, ranks, target); }
};

// Ends the workers: signal, SIGCONT, SIGKILL after the grace period. A second Stop can shorten the grace period, but
// never lengthens it.
struct Stop {
  std::int32_t signo = 0;
  std::uint32_t grace_ms = 0;
  SignalTarget target = SignalTarget::Group;  // of the signal; SIGKILL goes to all processes
  void fields(auto& a) { a(signo, grace_ms, target); }
};

struct StdinData {  // at most what StdinCredit allowed
  Rank rank;
  std::string bytes;
  void fields(auto& a) { a(rank, bytes); }
};
struct StdinEof {
  Rank rank;
  void fields(auto& a) { a(rank); }
};

// Allows this many more bytes of output.
struct Credit {
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(bytes); }
};

// The agent replies with Pong at once.
struct Ping {
  std::uint64_t token = 0;
  void fields(auto& a) { a(token); }
};

// Stops the workers (SIGSTOP) and the agent's timers: a suspended launcher sends no Ping, but is not lost. Resume, or
// any other message, makes both continue.
struct Suspend {
  void fields(auto& a) { a(); }
};
struct Resume {
  void fields(auto& a) { a(); }
};

// No attempt will follow. The agent sends Bye and exits: now, or when the running attempt is over.
struct Leave {
  void fields(auto& a) { a(); }
};

// Asks which workers have joined torch's store. The agent replies with Joined.
struct AskJoined {
  std::uint16_t port = 0;  // of the store; 0: only the count
  void fields(auto& a) { a(port); }
};

// A TCP connection to a store, as the store's agent sees it.
struct Caller {
  std::uint32_t id = 0;  // the same in the reply
  std::string address;   // numeric, of the client's end
  std::uint16_t port = 0;
  std::string store_address;  // of the store's end
  std::uint16_t store_port = 0;
  void fields(auto& a) { a(id, address, port, store_address, store_port); }
};
inline constexpr std::size_t kMaxCallers = 1024;  // in one message

// No: another user's, or closed; Unknown: there is no such connection here, or its owner cannot be determined.
enum class PeerOwnership : std::uint8_t { No, Yes, Unknown };
struct PeerVerdict {
  std::uint32_t id = 0;
  PeerOwnership is_ours = PeerOwnership::Unknown;
  void fields(auto& a) { a(id, is_ours); }
};

// Asks whether these connections, which come from the agent's host, belong to this job. The agent replies with
// PeerVerdictsOfHost.
struct CheckPeerOwnership {
  std::vector<Caller> callers;
  void fields(auto& a) { a(callers); }
};

// To the agent that serves the stores: the results of some of its AskPeerOwnership.
struct PeerVerdicts {
  std::vector<PeerVerdict> rulings;
  void fields(auto& a) { a(rulings); }
};

// Requests the properties of the host. Sent after Prepare; the agent replies with Inspected.
struct Inspect {
  void fields(auto& a) { a(); }
};

// Sent instead of Prepare: an earlier agent of this job is gone without a Bye, and what it has left on this host is to
// be ended. The agent replies with LeftEnded.
struct EndLeft {
  std::string mark;  // Prepare::mark, and what HelloAck told:
  std::string cgroup;
  std::string scratch;
  void fields(auto& a) { a(mark, cgroup, scratch); }
};

// Additional workers, a world of their own in which the ranks are counted from `first`: the agent checks that they can
// be started, and starts nothing. Sent while workers run, or while the agent waits for the first; the agent replies
// with Added. At most one such world waits for StartAdded at a time.
struct AddWorkers {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;  // the service by which they find each other, and which requested them
  Rank first;
  std::vector<App> apps;
  std::vector<Worker> workers;  // on this host; Worker::app is an index into these apps
  plan::JobShape shape;         // of that whole world
  std::vector<SpawnKey> keys;
  void fields(auto& a) { a(attempt, service, first, apps, workers, shape, keys); }
};

// ---- agent → launcher

struct HelloAck {
  std::uint32_t version = kProtocolVersion;
  std::string build_id;
  std::int32_t pid = 0;
  std::uint64_t now_ns = 0;
  std::vector<std::string> addresses;  // of this host: the one that the login used first, no loopback
  std::string machine{};               // equal for agents on one machine; empty: unknown
  std::string cgroup{};                // folder of the cgroup made for the workers; empty: none
  std::string scratch{};               // the agent's folder; empty: none
  std::string door{};                  // where a messenger finds it; empty: nowhere
  void fields(auto& a) { a(version, build_id, pid, now_ns, addresses, machine, cgroup, scratch, door); }
};

// Why a worker cannot run here, found before anything is started.
struct PreflightError {
  std::uint8_t kind = 0;  // ErrorKind
  std::string message;
  std::string hint;
  void fields(auto& a) { a(kind, message, hint); }
};

struct Bound {
  Rank rank;
  std::string where;  // "socket 0, NUMA node 0, core 2, CPUs 2,18"; empty: not bound
  void fields(auto& a) { a(rank, where); }
};

// Whether a rank received what its library needs to find the others.
enum class MpiOffer : std::uint8_t { None, Made };

// A program that uses MPI, whose ranks no service here connects. Once per host: in Prepared if the program file shows
// it, otherwise while it runs.
struct MpiUse {
  Rank rank;
  std::int32_t pid = 0;  // the worker's own process or a descendant; 0: nothing has been started
  std::string program;
  std::string library;
  MpiOffer offer = MpiOffer::None;
  void fields(auto& a) { a(rank, pid, program, library, offer); }
};

struct Service {
  ServiceKind kind = ServiceKind::WorkerPort;
  std::uint16_t port = 0;
  void fields(auto& a) { a(kind, port); }
};

struct Prepared {
  std::vector<PreflightError> obstacles;
  std::vector<Service> services{};       // as in Prepare::services; those of one kind in their order
  std::vector<std::string> addresses{};  // of the requested interfaces
  std::vector<std::string> warnings{};   // clauses for the user
  std::vector<Bound> bindings{};         // if requested
  std::vector<MpiUse> mpi{};             // by the first rank of each such program
  std::string pmix{};                    // the library that serves the ranks, and its version; empty: none
  TellingLimits limits{};                // of the workers
  void fields(auto& a) { a(obstacles, services, addresses, warnings, bindings, mpi, pmix, limits); }
};

struct ProbeResult {
  std::string address;
  std::int32_t sys_errno = 0;  // 0: reached
  void fields(auto& a) { a(address, sys_errno); }
};
struct Probed {
  std::vector<ProbeResult> results;
  void fields(auto& a) { a(results); }
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
};

struct Output {  // sent only within credit; keeps the order of each rank and stream
  Rank rank;
  Stream stream = Stream::Stdout;
  std::string_view bytes;   // not owned: in a decoded message, valid until its decoder is used again
  std::uint64_t at_ns = 0;  // when the agent read them
  void fields(auto& a) { a(rank, stream, at_ns, bytes); }
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
};

enum class DrainEnd : std::uint8_t { Eof, Quiet };  // Quiet: another process still holds its pipe
struct Drained {                                    // no more output of this rank will follow
  Rank rank;
  DrainEnd end = DrainEnd::Eof;
  void fields(auto& a) { a(rank, end); }
};

enum class LogLevel : std::uint8_t { Warning, Info, Debug };
struct AgentLog {
  LogLevel level = LogLevel::Info;
  std::string text;
  void fields(auto& a) { a(level, text); }
};

struct Pong {
  std::uint64_t token = 0;
  std::uint64_t now_ns = 0;
  void fields(auto& a) { a(token, now_ns); }
};

struct StdinCredit {
  Rank rank;
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(rank, bytes); }
};

// The attempt is over: every worker and all its descendants are gone, or are named in `left`. Services for other hosts
// continue until the next Prepare or Leave.
struct Cleared {
  std::uint32_t attempt = 1;
  std::vector<std::string> left;  // "pid 4711 (python3), state D, in nfs_wait": could not be ended
  void fields(auto& a) { a(attempt, left); }
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
};
inline constexpr std::size_t kMaxErrorFile = std::size_t{64} << 10;

// The kernel has killed processes in the agent's cgroup for lack of memory, since the last such message or the start;
// sent before the ExitedWorker of a worker that was killed by SIGKILL.
struct OutOfMemory {
  std::uint64_t kills = 0;
  std::string evidence;  // "oom_kill in /sys/fs/cgroup/.../memory.events rose from 0 to 1"
  void fields(auto& a) { a(kills, evidence); }
};

struct Joined {
  // from the agent that serves the store: clients that have joined; otherwise workers here that hold a connection to
  // the requested port, or, of those that no longer run, that have joined others by MPI
  std::uint64_t count = 0;
  std::uint64_t since_first_ms = 0;  // time since the first of them joined
  std::vector<Rank> missing;         // running workers here without a connection to the requested port
  std::uint64_t with_torch = 0;      // if none has joined: workers here that have torch's library loaded
  void fields(auto& a) { a(count, since_first_ms, missing, with_torch); }
};

// From the agent that serves the stores: clients from other hosts. The launcher replies with PeerVerdicts, in pieces
// and in any order.
struct AskPeerOwnership {
  std::vector<Caller> callers;
  void fields(auto& a) { a(callers); }
};

struct PeerVerdictsOfHost {
  std::vector<PeerVerdict> rulings;
  void fields(auto& a) { a(rulings); }
};

// A file of Worker::stdout_log or stderr_log cannot be written and is given up; the worker goes on.
struct LogFailed {
  std::string why;
  void fields(auto& a) { a(why); }
};

// A channel of Prepare::fifos cannot be fed any more: the job cannot go on.
struct FifoFailed {
  std::string why;  // names channel, epoch and position
  void fields(auto& a) { a(why); }
};

struct Inspected {
  plan::HostFacts facts;
  std::uint64_t at_ns = 0;
  std::uint64_t unix_ns = 0;  // the time of day at at_ns
  void fields(auto& a) { a(facts, at_ns, unix_ns); }
};

struct LeftEnded {
  std::uint32_t count = 0;        // processes
  std::vector<std::string> left;  // as in Cleared
  void fields(auto& a) { a(count, left); }
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
  std::string why;        // a clause that follows "rank 3 on algo-1"
  std::uint64_t at_ns = 0;
  void fields(auto& a) { a(attempt, rank, kind, code, why, at_ns); }
};

// Whether the workers of an AddWorkers can be started here.
struct Added {
  std::uint32_t attempt = 1;
  Rank first;
  std::vector<PreflightError> obstacles;
  void fields(auto& a) { a(attempt, first, obstacles); }
};

using ToAgent = std::variant<Hello, Prepare, Probe, Start, Signal, Stop, StdinData, StdinEof, Credit, Ping, Suspend,
                             Resume, Leave, AskJoined, Inspect, CheckPeerOwnership, PeerVerdicts, EndLeft, Fenced,
                             Relay, AskTraces, AskUse, AskHealth, Received, Return, AddWorkers, StartAdded, SpawnAnswer,
                             HorovodRound, HorovodCall, AskRecorded>;
using ToLauncher =
    std::variant<HelloAck, Prepared, Probed, Started, Output, ExitedWorker, Drained, AgentLog, Pong, StdinCredit, Bye,
                 ErrorFile, OutOfMemory, Joined, LogFailed, Inspected, FifoFailed, MpiUse, AskPeerOwnership,
                 PeerVerdictsOfHost, LeftEnded, Cleared, FenceData, Relay, RankFault, HostUsed, Trace, Traced,
                 WorkersUse, Health, Recorded, Received, SpawnWish, Added, HorovodNews, HorovodAnswer, RecordedAll>;

// The ports of that kind, in the order of the requests.
std::vector<std::uint16_t> ports_of(const Prepared& message, ServiceKind kind);
// The first port of that kind; 0: there is none.
std::uint16_t port_of(const Prepared& message, ServiceKind kind);

// ExitStatus is sent as three numbers; Lost is never sent (the launcher concludes it).
ExitedWorker pack_exit(Rank rank, const ExitStatus& status, EndedBy ended_by, std::uint64_t at_ns);
ExitStatus unpack_exit(const ExitedWorker& message);

}  // namespace sml::wire
