// What /proc tells of where a process is, without stopping it. Linux.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "common/core/process_trace.h"

namespace sml::os {

// Sockets by inode: the other end of each TCP connection of this machine, "10.0.0.1:29500", "[::1]:29500".
using SocketPeers = std::vector<std::pair<ino_t, std::string>>;
// Adds those of the text of /proc/net/tcp or tcp6 that are established.
void add_peers(SocketPeers& peers, std::string_view table);
SocketPeers socket_peers();

// The rank's own process, or, where that only waits for its one child as a shell does, that child, and so on.
pid_t main_process(pid_t pid);

// State, threads and sockets; no stacks. A process that has gone has no threads.
ProcessTrace trace_process(pid_t pid, const SocketPeers& peers);

}  // namespace sml::os
