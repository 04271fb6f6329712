// Parses the stacks that tools print, and describes in the same form where a thread is according to the kernel. Pure.
// Input from a host may contain any bytes: the caller must escape the results before it prints them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/process_trace.h"

namespace sml::report {

// The frames of the main thread, innermost first: "recv (socket.py:706)", "clock_nanosleep". Empty if `text`, the
// output of `tool`, has none.
std::vector<std::string> main_frames(std::string_view tool, std::string_view text);

// Where a thread is according to the kernel: "recvfrom (socket to 10.0.0.1:29500)", "futex_wait_queue", "its own code".
std::string kernel_place(const ThreadTrace& thread);
// The same without the address of a socket's far end, so that ranks that wait in the same way get the same text.
std::string kernel_place_of_any(const ThreadTrace& thread);

// `state` is the letter of /proc/PID/stat. "sleeping", "running", "stopped", ...
std::string_view state_word(char state);

}  // namespace sml::report
