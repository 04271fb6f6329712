// Reads from /proc where a process is at the moment, without stopping it. Linux.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "common/core/process_trace.h"

namespace sml::os {

// By socket inode: the remote address of each TCP connection of this machine, "10.0.0.1:29500", "[::1]:29500".
using SocketPeers = std::vector<std::pair<ino_t, std::string>>;
// Adds the established connections in the text of /proc/net/tcp or tcp6.
void add_peers(SocketPeers& peers, std::string_view table);
SocketPeers socket_peers();

// Returns the rank's own process or, if that only waits for its one child as a shell does, that child, and so on.
pid_t main_process(pid_t pid);

// Returns state, threads and sockets; no stacks of user code. A process that has gone has no threads.
ProcessTrace trace_process(pid_t pid, const SocketPeers& peers);

}  // namespace sml::os
