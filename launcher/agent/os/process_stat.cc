#include "launcher/agent/os/process_stat.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

#include "common/os/small_file.h"

namespace sml::os {

ProcessStat process_stat(const std::string& folder) {
  // Fields of proc_pid_stat(5), counted from the state, which is 0 here.
  constexpr int kUserTime = 11;
  constexpr int kSystemTime = 12;
  constexpr int kChildrensUserTime = 13;
  constexpr int kChildrensSystemTime = 14;
  constexpr int kThreads = 17;
  constexpr int kPages = 21;
  const std::string text = read_small_file(folder + "/stat");
  const std::size_t end = text.rfind(')');  // end of the name, which may contain anything
  ProcessStat out;
  if (end == std::string::npos || end + 2 >= text.size()) return out;
  out.state = text[end + 2];
  const char* at = text.c_str() + end + 3;
  for (int i = 1; i <= kPages; ++i) {
    char* next = nullptr;
    const auto value = static_cast<std::uint64_t>(std::strtoll(at, &next, 10));
    if (i == kUserTime || i == kSystemTime) out.ticks += value;
    if (i == kChildrensUserTime || i == kChildrensSystemTime) out.children += value;
    if (i == kThreads) out.threads = static_cast<std::uint32_t>(value);
    if (i == kPages) out.pages = value;
    at = next;
  }
  return out;
}

std::uint64_t milliseconds_of(std::uint64_t ticks) {
  return ticks * 1000 / static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
}

}  // namespace sml::os
