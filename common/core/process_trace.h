// A snapshot of a process: what the agent of its host can observe without stopping it, and the stacks that a tool on
// the host prints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sml {

inline constexpr std::size_t kMostThreads = 64;  // the most threads of one process that are reported
inline constexpr std::size_t kMostSockets = 64;
inline constexpr std::size_t kLongestTrace = std::size_t{60} << 10;  // the most bytes of `stacks`

enum class TraceTools : std::uint8_t {
  NonStopping,  // py-spy
  All,          // also those that stop the process for a moment: eu-stack, gdb
};

struct ThreadTrace {
  std::int32_t tid = 0;
  std::string name{};
  char state = 0;              // as in /proc/PID/stat: R, S, D, T, Z, ...
  std::string wait_channel{};  // the kernel function in which the thread waits; empty: none, or unknown
  std::string system_call{};   // /proc/PID/task/TID/syscall: number and arguments, or "running"; empty: unknown
  std::string held{};  // the file or socket that the call uses: "socket to 10.0.0.1:29500", "/dev/shm/x"; empty: none
  std::string kernel_stack{};  // only if the agent runs as root
  bool operator==(const ThreadTrace&) const = default;
  void fields(auto& a) { a(tid, name, state, wait_channel, system_call, held, kernel_stack); }
};

struct ProcessTrace {
  std::int32_t pid = 0;  // of the rank's own process, or of its only child if it only waits for that one
  std::string command{};
  std::uint64_t cpu_ms = 0;  // CPU time that the process has used, milliseconds
  std::uint32_t thread_count = 0;
  std::vector<ThreadTrace> threads{};  // the first ones, the main thread first
  std::uint32_t socket_count = 0;
  std::vector<std::string> sockets{};  // peers of the first connected sockets: "10.0.0.1:29500"
  std::string tool{};                  // the tool that printed `stacks`: "py-spy"; empty: there was none
  std::string stacks{};                // the output of the tool
  std::string fault{};                 // the reason why there are no stacks, as a part of a sentence; empty: none
  bool operator==(const ProcessTrace&) const = default;
  void fields(auto& a) { a(pid, command, cpu_ms, thread_count, threads, socket_count, sockets, tool, stacks, fault); }
};

}  // namespace sml
