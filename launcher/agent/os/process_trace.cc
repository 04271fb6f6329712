#include "launcher/agent/os/process_trace.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include <arpa/inet.h>
#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/os/descendants.h"
#include "common/os/small_file.h"
#include "launcher/agent/os/process_stat.h"

namespace sml::os {

namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kLongestCommand = 200;
constexpr std::size_t kLongestStack = 900;  // 64 of these are shorter than the longest text of a message
constexpr std::size_t kMostDescriptors = 4096;

std::string read_line(const std::string& path, std::size_t limit) {
  std::string text = read_small_file(path).substr(0, limit);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<int> numbers_in(const std::string& folder, std::size_t most) {
  std::vector<int> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return out;
  while (const dirent* entry = ::readdir(open.get())) {
    if (*entry->d_name >= '0' && *entry->d_name <= '9' && out.size() < most) out.push_back(std::atoi(entry->d_name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string link_of(const std::string& path) {
  char target[512];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return std::string(target, size > 0 ? static_cast<std::size_t>(size) : 0);
}

// "socket:[4711]" → 4711; 0 if it is no socket
ino_t socket_of(std::string_view link) {
  constexpr std::string_view kSocket = "socket:[";
  return link.starts_with(kSocket) ? leading_number<ino_t>(link.substr(kSocket.size())).value_or(0) : 0;
}

const std::string* peer_of(const SocketPeers& peers, ino_t socket) {
  for (const auto& [inode, peer] : peers) {
    if (inode == socket) return &peer;
  }
  return nullptr;
}

// Names the file or socket of a system call's first argument, if that is a descriptor.
std::string held_by(const std::string& process, const std::string& call, const SocketPeers& peers) {
  const std::size_t blank = call.find(' ');
  if (blank == std::string::npos) return {};
  const unsigned long long fd = std::strtoull(call.c_str() + blank, nullptr, 16);
  if (fd > kMostDescriptors) return {};
  std::string link = link_of(process + "/fd/" + std::to_string(fd));
  const ino_t inode = socket_of(link);
  if (inode == 0) return link;
  const std::string* peer = peer_of(peers, inode);
  return peer == nullptr ? "socket" : "socket to " + *peer;
}

ThreadTrace trace_thread(const std::string& process, int tid, const SocketPeers& peers) {
  const std::string thread = process + "/task/" + std::to_string(tid);
  ThreadTrace out{.tid = tid, .name = read_line(thread + "/comm", kLongestName)};
  out.state = process_stat(thread).state;
  out.wait_channel = read_line(thread + "/wchan", kLongestName);
  if (out.wait_channel == "0") out.wait_channel.clear();
  out.system_call = read_line(thread + "/syscall", kLongestCommand);
  out.held = held_by(process, out.system_call, peers);
  out.kernel_stack = read_line(thread + "/stack", kLongestStack);
  return out;
}

bool waits_for_children(pid_t pid) {
  const std::string call = read_small_file("/proc/" + std::to_string(pid) + "/syscall");
  const long number = call.empty() || call[0] < '0' || call[0] > '9' ? -1 : std::atol(call.c_str());
  return number == SYS_wait4 || number == SYS_waitid;
}

// Converts an address as the kernel prints it: words of 4 bytes in the byte order of this machine, "0100007F:7530".
std::string endpoint(std::string_view hex) {
  const std::size_t colon = hex.find(':');
  const bool v6 = colon == 32;
  if (colon != 8 && !v6) return {};
  unsigned char bytes[16] = {};
  for (std::size_t word = 0; word < colon / 8; ++word) {
    const std::uint32_t value = leading_number<std::uint32_t>(hex.substr(word * 8, 8), 16).value_or(0);
    const auto* raw = reinterpret_cast<const unsigned char*>(&value);
    std::copy(raw, raw + 4, bytes + word * 4);
  }
  const unsigned port = leading_number<unsigned>(hex.substr(colon + 1), 16).value_or(0);
  const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool is_mapped = v6 && std::equal(mapped, mapped + 12, bytes);
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(v6 && !is_mapped ? AF_INET6 : AF_INET, is_mapped ? bytes + 12 : bytes, text, sizeof text);
  return (v6 && !is_mapped ? "[" + std::string(text) + "]" : std::string(text)) + ":" + std::to_string(port);
}

}  // namespace

void add_peers(SocketPeers& peers, std::string_view table) {
  constexpr int kRemote = 2;
  constexpr int kState = 3;
  constexpr int kInode = 9;
  while (!table.empty()) {
    std::string_view line = take_until(table, '\n');
    std::string_view words[kInode + 1];
    for (std::string_view& word : words) word = take_word(line);
    if (words[kState] != "01") continue;
    const ino_t inode = parse_number<ino_t>(words[kInode]).value_or(0);
    if (inode != 0) peers.emplace_back(inode, endpoint(words[kRemote]));
  }
}

SocketPeers socket_peers() {
  SocketPeers out;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) add_peers(out, read_small_file(table));
  return out;
}

pid_t main_process(pid_t pid) {
  constexpr int kDeepest = 8;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const std::vector<pid_t> children = children_of(pid);
    if (children.size() != 1 || !waits_for_children(pid)) break;
    pid = children.front();
  }
  return pid;
}

ProcessTrace trace_process(pid_t pid, const SocketPeers& peers) {
  const std::string process = "/proc/" + std::to_string(pid);
  ProcessTrace out{.pid = pid, .command = read_small_file(process + "/cmdline").substr(0, kLongestCommand)};
  std::replace(out.command.begin(), out.command.end(), '\0', ' ');
  const ProcessStat stat = process_stat(process);
  out.cpu_ms = milliseconds_of(stat.ticks);
  out.thread_count = stat.threads;
  for (const int tid : numbers_in(process + "/task", kMostThreads)) {
    out.threads.push_back(trace_thread(process, tid, peers));
  }
  for (const int fd : numbers_in(process + "/fd", kMostDescriptors)) {
    const std::string* peer = peer_of(peers, socket_of(link_of(process + "/fd/" + std::to_string(fd))));
    if (peer == nullptr) continue;
    if (out.sockets.size() < kMostSockets) out.sockets.push_back(*peer);
    ++out.socket_count;
  }
  return out;
}

}  // namespace sml::os
