// The messages between launcher and agent: one struct per message, a header for each direction, and headers for those
// of one topic.
//
// Both sides are the same build; the version in Hello detects others. Byte strings (std::string) hold any bytes. Times
// are nanoseconds of the agent's own monotonic clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/core/exit_status.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/wire/horovod_messages.h"
#include "common/wire/host_messages.h"
#include "common/wire/link_messages.h"
#include "common/wire/messages_to_agent.h"
#include "common/wire/messages_to_launcher.h"
#include "common/wire/protocol_version.h"
#include "common/wire/trace_messages.h"
#include "common/wire/wire_up_messages.h"

namespace sml::wire {

using sml::Stream;

using ToAgent = std::variant<Hello, Prepare, Probe, Start, Signal, Stop, StdinData, StdinEof, Credit, Ping, Suspend,
                             Resume, Leave, AskJoined, Inspect, CheckPeerOwnership, PeerVerdicts, EndLeft, Fenced,
                             Relay, AskTraces, AskUse, AskHealth, Received, ReconnectRequest, AddWorkers, StartAdded,
                             SpawnAnswer, HorovodRound, HorovodCall, AskRecorded, AskDiskSpace, AskSharedMemory>;
using ToLauncher =
    std::variant<HelloAck, Prepared, Probed, Started, Output, ExitedWorker, Drained, AgentLog, Pong, StdinCredit, Bye,
                 ErrorFile, OutOfMemory, Joined, LogFailed, Inspected, FifoFailed, MpiUse, AskPeerOwnership,
                 PeerVerdictsOfHost, LeftEnded, Cleared, FenceData, Relay, RankFault, HostUsed, Trace, Traced,
                 WorkersUse, Health, Recorded, Received, SpawnRequest, Added, HorovodNews, HorovodAnswer, RecordedAll,
                 DiskSpace, GuardianReplaced, SharedMemory>;

// The index of one of the alternatives of ToAgent.
template <class Request>
constexpr std::size_t index_in_to_agent() {
  return []<class... Message>(const std::variant<Message...>*) {
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<Message, Request> || (++index, false)) || ...));
    return index;
  }(static_cast<const ToAgent*>(nullptr));
}

// The ports of that kind, in the order of the requests.
std::vector<std::uint16_t> ports_of(const Prepared& message, ServiceKind kind);
// The first port of that kind; 0: there is none.
std::uint16_t port_of(const Prepared& message, ServiceKind kind);

// Variables that the workers of a program, or the workers of a host, have in common travel once.
// pack_environments() moves them out of the workers' own lists, and unpack_environments() puts them back, before the
// rest. Each name must occur only once in a list.
void pack_environments(std::vector<App>& apps, std::vector<Worker>& workers);
void unpack_environments(const std::vector<App>& apps, std::vector<Worker>& workers);
void pack_environments(Start& start);
void unpack_environments(Start& start);

// ExitStatus is sent as three numbers; Lost is never sent: the launcher concludes it, also from numbers that make no
// sense.
ExitedWorker pack_exit(Rank rank, const ExitStatus& status, EndedBy ended_by, std::uint64_t at_ns);
ExitStatus unpack_exit(const ExitedWorker& message);

}  // namespace sml::wire
