// The messages from launcher to agent (part of messages.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/process_settings.h"
#include "common/core/runs.h"
#include "common/core/scratch_rule.h"
#include "common/core/signal_target.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/plan/channel.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/fifos.h"
#include "common/plan/machine/binding.h"
#include "common/plan/machine/devices.h"
#include "common/plan/rank_monitor.h"
#include "common/plan/ranks/job_shape.h"
#include "common/wire/host_messages.h"
#include "common/wire/message_rules.h"
#include "common/wire/protocol_version.h"
#include "common/wire/trace_messages.h"
#include "common/wire/wire_up_messages.h"

namespace sml::wire {

enum class StdinSource : std::uint8_t { Null, Launcher };  // Null: empty; Launcher: StdinData, until StdinEof

// The process whose end is the end of the pipe between launcher and agent. Guardian: a starter, such as srun, passes on
// nothing more once the process that it has started, the agent's first guardian, has ended.
enum class PipeEnd : std::uint8_t { Agent, Guardian };

// The first message, sent once. The agent replies with HelloAck, or with Bye if it does not support `version`. Attempts
// follow, one after the other: Prepare, Prepared, Start, Started, news of workers, Cleared; finally Leave, Bye.
struct Hello {
  std::uint32_t version = kProtocolVersion;  // of the launcher
  std::string job_id;
  std::string host;                        // the host's name in the job, for messages
  std::uint32_t heartbeat_timeout_ms = 0;  // the agent ends everything if it receives nothing for this long
  std::uint32_t grace_ms = 0;              // between SIGTERM and SIGKILL if the launcher is lost
  std::uint64_t credit = 0;                // output bytes that may be sent before the first Credit
  std::string return_secret{};             // authenticates a new connection of the launcher; empty: none is accepted
  std::uint32_t hold_ms = 0;               // how long the workers continue after the connection has broken
  std::uint32_t guardian_hold_ms = 0;      // the same if the death of the agent's first guardian has broken it
  ScratchRule scratch = ScratchRule::Removed;
  PipeEnd pipe_end = PipeEnd::Agent;
  void fields(auto& a) {
    a(version, job_id, host, heartbeat_timeout_ms, grace_ms, credit, return_secret, hold_ms, guardian_hold_ms, scratch,
      pipe_end);
  }
};

// One program of the job; ranks that run the same program share it.
struct App {
  std::vector<std::string> argv;
  std::string working_directory;
  plan::BaseEnvironment base = plan::BaseEnvironment::Launcher;
  plan::Environment launcher_environment;
  plan::Environment user_environment;
  plan::Environment environment{};  // what its workers on the host have in common, see pack_environments()
  plan::WorldTold world = plan::WorldTold::Yes;
  std::uint32_t local_rank_at = 0;  // see plan::Program
  std::string search_path{};        // likewise
  void fields(auto& a) {
    a(argv, working_directory, base, launcher_environment, user_environment, environment, world, local_rank_at);
    a(search_path);
  }
};

enum class StderrPipe : std::uint8_t { Own, OfStdout };  // OfStdout: stderr goes into the pipe of stdout
enum class ResultPipe : std::uint8_t {
  No,
  Yes
};  // Yes: a pipe beside stdout and stderr, whose variable is SML_RESULTS_FD
enum class StdoutEnd : std::uint8_t { Pipe, Terminal };  // Terminal: a pseudo-terminal, or a pipe if none is free

struct Worker {
  Rank rank;
  LocalRank local_rank;
  std::uint32_t app = 0;  // index into Prepare::apps
  StdinSource stdin_source = StdinSource::Null;
  plan::Environment environment;  // what plan::rank_environment() sets beyond App::environment
  std::string stdout_log{};       // absolute path on the agent's host of a file that gets a copy; empty: none
  std::string stderr_log{};
  std::string cores{};  // as a rankfile names them; empty: any
  StderrPipe stderr_pipe = StderrPipe::Own;
  StdoutEnd stdout_end = StdoutEnd::Pipe;
  ResultPipe result_pipe = ResultPipe::No;
  void fields(auto& a) {
    a(rank, local_rank, app, stdin_source, environment, stdout_log, stderr_log, cores, stderr_pipe, stdout_end);
    a(result_pipe);
  }
};

enum class LogOverwrite : std::uint8_t { No, Yes };  // No: a file that exists already is a PreflightError
// How the agent writes Worker::stdout_log and stderr_log.
struct WorkerLogs {
  std::uint64_t max_size = 0;  // bytes before rotation; 0: no limit
  LogOverwrite overwrite = LogOverwrite::No;
  void fields(auto& a) { a(max_size, overwrite); }
};

// A service that an agent offers for an attempt at a port of its host. WorkerPort: a free port, on which a worker will
// listen.
enum class ServiceKind : std::uint8_t { TorchStore, HorovodStore, WorkerPort };
enum class ServiceReach : std::uint8_t { ThisMachine, Network };  // where its clients are
struct ServiceRequest {
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
  plan::PmiMode pmi_mode = plan::PmiMode::None;
  MpiLook look = MpiLook::No;
  // this host's index in `shape`; an index beyond it is unique and means that the host has no members
  std::uint32_t host = 0;
  plan::JobShape shape{};
  std::string pmix_library{};  // the library to load; empty: the host's own
  std::string name_space{};    // plan::JobIdentity
  LateStart late{};
  void fields(auto& a) { a(pmi_mode, pmix_library, look, host, shape, name_space, late); }
  static constexpr std::string_view kNames[] = {"--mpi", "--pmix", "", "", "", "", ""};  // see Prepare::kNames
};

// Python modules that one process imports before it forks the workers, so that each has them imported already.
struct PreloadRequest {
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
  std::vector<ServiceRequest> services{};
  WorkerLogs logs{};
  std::vector<std::string> interfaces{};  // interfaces for the workers: names and networks; empty: any
  plan::BindingRequest binding{};
  plan::DeviceRequest devices{};
  plan::FifoPlan fifos{};
  std::vector<plan::HostChannel> channels{};
  std::string mark{};  // set in the workers' environment, so that EndLeft can find them
  MpiPlan mpi{};
  std::uint32_t attempt = 1;        // counts from 1
  std::uint32_t restarts = 0;       // plan::JobIdentity::restarts, for a host that calls
  UsageLook usage = UsageLook::No;  // Yes: send HostUsed while the workers run
  PreloadRequest preload{};
  plan::RankMonitor monitor{};
  TorchTraces torch_traces = TorchTraces::No;
  AcceleratorLook accelerators = AcceleratorLook::No;
  // For a host that calls, and derives for itself what it should receive: all hosts of the job so far, in their order,
  // and those that have no workers in this attempt.
  HostIdRuns order{};
  HostIdRuns idle{};
  ProcessSettings inherited{};  // from the launcher, for workers
  void fields(auto& a) {
    a(apps, workers, logs, attempt, restarts, binding, devices, services, mpi, monitor, interfaces, fifos, channels,
      usage, preload, torch_traces, accelerators, mark, order, idle, inherited);
  }
  // The names of the fields, in the order of fields(), in an error about a plan that is not a host's own: each field's
  // option, or what else sets it. PlanVerifier compares the fields of a struct with kNames one by one, and does not
  // compile if one has no name. Empty: the name of the whole struct.
  static constexpr std::string_view kNames[] = {"plan of the programs",
                                                "plan of the workers",
                                                "plan of the log files",
                                                "number of the attempt",
                                                "number of restarts",
                                                "binding of the workers",
                                                "devices of the workers",
                                                "--elastic",
                                                "map of the ranks",
                                                "--rank-monitor",
                                                "--interface",
                                                "--pipe-fanout",
                                                "--channel",
                                                "--no-usage",
                                                "--preload",
                                                "--hang-report",
                                                "--max-restarts",
                                                "mark of the job",
                                                "order of the hosts",
                                                "choice of the hosts without workers",
                                                "limit of processes, or umask"};
};

// Asks which of these addresses the host can reach. The agent replies with Probed within timeout_ms.
struct Probe {
  std::vector<std::string> addresses;  // numeric
  std::uint16_t port = 0;
  std::uint32_t timeout_ms = 0;
  void fields(auto& a) { a(addresses, port, timeout_ms); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
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
  // Added after all other variables: those of each worker, and those that all of these have in common.
  std::vector<RankVariables> variables{};
  plan::Environment common{};
  void fields(auto& a) { a(rendezvous, stores, variables, common); }
};

// Sends a signal to these workers, once; nothing else happens.
struct Signal {
  std::int32_t signo = 0;
  std::vector<Rank> ranks{};  // may include ranks of other hosts, which this agent ignores; empty: all of this host
  SignalTarget target = SignalTarget::Group;
  void fields(auto& a) { a(signo, ranks, target); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// Ends the workers: signal, SIGCONT, SIGKILL after the grace period. A later Stop with a longer grace period makes it
// that long from where it began; any other can only shorten the rest of it. The processes that ended workers have left
// behind get no longer one.
struct Stop {
  std::int32_t signo = 0;
  std::uint32_t grace_ms = 0;
  SignalTarget target = SignalTarget::Group;  // of the signal; SIGKILL goes to all processes
  void fields(auto& a) { a(signo, grace_ms, target); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

struct StdinData {  // at most what StdinCredit allowed
  Rank rank;
  std::string bytes;
  void fields(auto& a) { a(rank, bytes); }
  static constexpr Rules kRules{.receiver = Receiver::Services};
};
struct StdinEof {
  Rank rank;
  void fields(auto& a) { a(rank); }
  static constexpr Rules kRules{.receiver = Receiver::Services};
};

// Allows this many more bytes of output.
struct Credit {
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(bytes); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

// The agent replies with Pong at once.
struct Ping {
  std::uint64_t token = 0;
  void fields(auto& a) { a(token); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

// Stops the workers (SIGSTOP) and the agent's timers: a suspended launcher sends no Ping, but is not lost. Resume, or
// any other message, makes both continue.
struct Suspend {
  void fields(auto& a) { a(); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};
struct Resume {
  void fields(auto& a) { a(); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

// No attempt will follow. The agent sends Bye and exits: now, or when the running attempt is over.
struct Leave {
  void fields(auto& a) { a(); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

enum class TorchLook : std::uint8_t { No, Yes };  // Yes: if none has joined, count the workers that have torch loaded

// Asks which workers have joined torch's store. The agent replies with Joined.
struct AskJoined {
  std::uint16_t port = 0;                // of the store; 0: only the count
  TorchLook torch_look = TorchLook::No;  // reads the maps of every worker and its children
  void fields(auto& a) { a(port, torch_look); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
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

// Whether a connection belongs to this job. No: its owner is a user who runs none of the job's processes, or it is
// closed; Unknown: there is no such connection here, or its owner cannot be determined.
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
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

// To the agent that serves the stores: the results of some of its AskPeerOwnership.
struct PeerVerdicts {
  std::vector<PeerVerdict> verdicts;
  void fields(auto& a) { a(verdicts); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// Requests the properties of the host. Sent after Prepare; the agent replies with Inspected.
struct Inspect {
  void fields(auto& a) { a(); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked};
};

// Sent instead of Prepare: an earlier agent of this job is gone without a Bye, and what it has left on this host is to
// be ended. The agent replies with LeftEnded.
struct EndLeft {
  std::string mark;     // Prepare::mark of that agent
  std::string cgroup;   // HelloAck::cgroup of that agent
  std::string scratch;  // HelloAck::scratch of that agent
  void fields(auto& a) { a(mark, cgroup, scratch); }
  // It could kill processes and remove a folder that are not in the plan.
  static constexpr Rules kRules{.peer_check = PeerCheck::Refused};
};

// Additional workers, with a world of their own, whose first rank is `first` in the job. The agent checks that they can
// be started, starts nothing, and replies with Added. Sent while workers run, or while the agent waits for the first
// ones (LateStart). At most one such world waits for StartAdded at a time.
struct AddWorkers {
  std::uint32_t attempt = 1;
  WireUp service = WireUp::Pmi;  // the service by which they find each other, and which requested them
  Rank first;
  std::vector<App> apps;
  std::vector<Worker> workers;  // on this host; Worker::app is an index into these apps
  plan::JobShape shape;         // of that whole world
  std::vector<SpawnKey> keys;
  void fields(auto& a) { a(attempt, service, first, apps, workers, shape, keys); }
  // A host that calls cannot compute such workers beforehand.
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Refused};
};

}  // namespace sml::wire
