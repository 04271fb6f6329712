// Where a process is at one moment: what its host's agent sees of it without stopping it, and what a tool of the host
// tells of its stacks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sml {

inline constexpr std::size_t kMostThreads = 64;  // of one process, that are told of
inline constexpr std::size_t kMostSockets = 64;
inline constexpr std::size_t kLongestTrace = std::size_t{60} << 10;  // bytes of a text

enum class TraceTools : std::uint8_t {
  NonStopping,  // py-spy
  All,          // ... and those that stop the process for a moment: eu-stack, gdb
};

struct ThreadTrace {
  std::int32_t tid = 0;
  std::string name{};
  char state = 0;              // as in /proc/PID/stat: R, S, D, T, Z, ...
  std::string wait_channel{};  // the kernel's function in which it waits; empty: none, or not told
  std::string system_call{};   // /proc/PID/task/TID/syscall: number and arguments, or "running"; empty: not told
  std::string held{};          // what the call's descriptor is: "socket to 10.0.0.1:29500", "/dev/shm/x"; empty: none
  std::string kernel_stack{};  // as root only
  bool operator==(const ThreadTrace&) const = default;
  void fields(auto& a) { a(tid, name, state, wait_channel, system_call, held, kernel_stack); }
};

struct ProcessTrace {
  std::int32_t pid = 0;  // of the rank's own process, or of its only child where it only waits for that
  std::string command{};
  std::uint64_t cpu_ms = 0;
  std::uint32_t thread_count = 0;
  std::vector<ThreadTrace> threads{};  // the first ones, the main thread first
  std::uint32_t socket_count = 0;
  std::vector<std::string> sockets{};  // peers of the first that are connected: "10.0.0.1:29500"
  std::string tool{};                  // that has told `stacks`: "py-spy"; empty: there was none
  std::string stacks{};                // what it printed
  std::string fault{};                 // why there are no stacks, as a clause; empty: there is nothing to say
  bool operator==(const ProcessTrace&) const = default;
  void fields(auto& a) { a(pid, command, cpu_ms, thread_count, threads, socket_count, sockets, tool, stacks, fault); }
};

}  // namespace sml
