// Reads from /proc in which state a process is at the moment and for which calls it waits, without stopping it. Linux.
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

// `pid`: the process of a rank. Returns it or, if it only waits for its single child as a shell does, that child, and
// so on.
pid_t main_process(pid_t pid);

// Returns CPU time, threads and sockets, but no stacks of user code. A process that is gone has no threads in the
// result.
ProcessTrace trace_process(pid_t pid, const SocketPeers& peers);

}  // namespace sml::os
