#include "launcher/report/hosts/stack_text.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <sys/syscall.h>

#include "common/core/text.h"

namespace sml::report {

namespace {

constexpr std::size_t kMostFrames = 200;

// System calls in which programs block, with the numbers of this build; the agent is of the same build.
struct CallName {
  long number;
  std::string_view name;
  bool has_descriptor;  // has a descriptor as its first argument
};
constexpr CallName kCalls[] = {{SYS_read, "read", true},
                               {SYS_readv, "readv", true},
                               {SYS_pread64, "pread", true},
                               {SYS_write, "write", true},
                               {SYS_writev, "writev", true},
                               {SYS_pwrite64, "pwrite", true},
                               {SYS_recvfrom, "recvfrom", true},
                               {SYS_recvmsg, "recvmsg", true},
                               {SYS_sendto, "sendto", true},
                               {SYS_sendmsg, "sendmsg", true},
                               {SYS_connect, "connect", true},
                               {SYS_accept, "accept", true},
                               {SYS_accept4, "accept", true},
                               {SYS_ioctl, "ioctl", true},
                               {SYS_fsync, "fsync", true},
                               {SYS_fdatasync, "fdatasync", true},
                               {SYS_flock, "flock", true},
                               {SYS_fcntl, "fcntl", true},
                               {SYS_close, "close", true},
                               {SYS_epoll_pwait, "epoll_wait", false},
                               {SYS_ppoll, "poll", false},
                               {SYS_pselect6, "select", false},
                               {SYS_futex, "futex", false},
                               {SYS_nanosleep, "nanosleep", false},
                               {SYS_clock_nanosleep, "clock_nanosleep", false},
                               {SYS_wait4, "wait4", false},
                               {SYS_waitid, "waitid", false},
                               {SYS_openat, "open", false},
                               {SYS_newfstatat, "stat", false},
                               {SYS_munmap, "munmap", false},
                               {SYS_madvise, "madvise", false},
                               {SYS_rt_sigtimedwait, "sigtimedwait", false},
                               {SYS_rt_sigsuspend, "sigsuspend", false},
                               {SYS_exit_group, "exit_group", false},
#ifdef SYS_poll
                               {SYS_poll, "poll", false},
                               {SYS_select, "select", false},
                               {SYS_epoll_wait, "epoll_wait", false},
                               {SYS_pause, "pause", false},
                               {SYS_open, "open", false},
                               {SYS_stat, "stat", false},
#endif
                               {SYS_sched_yield, "sched_yield", false}};

const CallName* call_of(const ThreadTrace& thread) {
  const std::string& text = thread.system_call;
  if (text.empty() || text[0] < '0' || text[0] > '9') return nullptr;
  const long number = std::atol(text.c_str());
  const auto* found = std::find_if(std::begin(kCalls), std::end(kCalls),
                                   [number](const CallName& call) { return call.number == number; });
  return found == std::end(kCalls) ? nullptr : found;
}

std::string place_of(const ThreadTrace& thread, std::string_view held) {
  if (thread.state == 'R' || thread.system_call == "running") return "its own code";
  const CallName* call = call_of(thread);
  if (call != nullptr) {
    return std::string(call->name) + (call->has_descriptor && !held.empty() ? " (" + std::string(held) + ")" : "");
  }
  if (!thread.wait_channel.empty()) return thread.wait_channel;
  const std::string number = thread.system_call.substr(0, thread.system_call.find(' '));
  return number.empty() || number == "-1" ? "an unknown place" : "system call " + number;
}

std::string_view without_indent(std::string_view line) { return trim(line, " \t\r"); }

// `header` recognizes the line before a thread's frames; `main` whether it is that of the main thread.
template <class Header, class Main, class Frame>
std::vector<std::string> frames_of_main(std::string_view text, Header header, Main main, Frame frame) {
  std::vector<std::string> first;
  std::vector<std::string> here;
  bool is_main = false;
  const auto end_thread = [&] {
    if (first.empty() || is_main) first = std::move(here);
    here.clear();
    return is_main;
  };
  for (const std::string_view line : split(text, '\n')) {
    if (header(line)) {
      if (end_thread() && !first.empty()) return first;
      is_main = main(line);
    } else if (here.size() < kMostFrames) {
      std::string one = frame(line);
      if (!one.empty()) here.push_back(std::move(one));
    }
  }
  end_thread();
  return first;
}

// "#3  0x00007f in recv (fd=3) from /lib/libc.so.6" → "recv"; "#3  0x00007f recv" → "recv".
std::string native_frame(std::string_view line) {
  line = without_indent(line);
  if (!line.starts_with('#')) return {};
  line.remove_prefix(std::min(line.find(' '), line.size()));
  line = without_indent(line);
  if (line.starts_with("0x")) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line = without_indent(line);
    if (line.starts_with("in ")) line.remove_prefix(3);
    if (line.starts_with("- ")) line.remove_prefix(2);
  }
  return std::string(line.substr(0, line.find(" (")));
}

// "  File "train.py", line 4 in load" → "load (train.py:4)", the form of py-spy.
std::string python_frame(std::string_view line) {
  constexpr std::string_view before = "  File \"";
  constexpr std::string_view between = "\", line ";
  const std::size_t name_end = line.find(between);
  const std::size_t number = name_end + between.size();
  const std::size_t in = line.find(" in ", std::min(number, line.size()));
  if (!line.starts_with(before) || name_end == line.npos || in == line.npos) return {};
  std::string_view file = line.substr(before.size(), name_end - before.size());
  file.remove_prefix(file.rfind('/') + 1);
  return std::string(line.substr(in + 4)) + " (" + std::string(file) + ":" +
         std::string(line.substr(number, in - number)) + ")";
}

}  // namespace

std::vector<std::string> main_frames(std::string_view tool, std::string_view text) {
  if (tool == "py-spy") {
    return frames_of_main(
        text, [](std::string_view line) { return line.starts_with("Thread "); },
        [](std::string_view line) { return line.find("\"MainThread\"") != std::string_view::npos; },
        [](std::string_view line) { return std::string(line.starts_with("    ") ? without_indent(line) : ""); });
  }
  // Python prints the main thread last.
  if (tool == "torch") {
    return frames_of_main(
        text, [](std::string_view line) { return line.starts_with("Thread ") || line.starts_with("Current thread "); },
        [text](std::string_view line) {
          const std::size_t after = static_cast<std::size_t>(line.data() - text.data()) + line.size();
          return text.find("\nThread ", after) == text.npos && text.find("\nCurrent thread ", after) == text.npos;
        },
        python_frame);
  }
  if (tool == "gdb") {
    return frames_of_main(
        text, [](std::string_view line) { return line.starts_with("Thread "); },
        [](std::string_view line) { return line.starts_with("Thread 1 "); }, native_frame);
  }
  return frames_of_main(
      text, [](std::string_view line) { return line.starts_with("TID "); }, [](std::string_view) { return true; },
      native_frame);
}

std::string kernel_place(const ThreadTrace& thread) { return place_of(thread, thread.held); }

std::string kernel_place_of_any(const ThreadTrace& thread) {
  return place_of(thread, std::string_view(thread.held).substr(0, thread.held.find_first_of(" :")));
}

std::string_view state_word(char state) {
  switch (state) {
    case 'R': return "running";
    case 'S': return "sleeping";
    case 'D': return "waiting (D)";
    case 'T': return "stopped";
    case 't': return "traced";
    case 'Z': return "a zombie";
    default: return "unknown";
  }
}

}  // namespace sml::report
