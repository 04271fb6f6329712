// Stacks as tools print them, and what the kernel alone tells, in the same form. Pure. Whatever comes from a host may
// be anything: the answers hold bytes that are still to be escaped.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/process_trace.h"

namespace sml::report {

// Of the main thread, the innermost first: "recv (socket.py:706)", "clock_nanosleep". Empty: `text`, as `tool` printed
// it, has none.
std::vector<std::string> main_frames(std::string_view tool, std::string_view text);

// Where a thread is by the kernel's account: "recvfrom (socket to 10.0.0.1:29500)", "futex_wait_queue", "its own code".
std::string kernel_place(const ThreadTrace& thread);
// The same without whom it is connected to, so that ranks that wait alike have the same words.
std::string kernel_place_of_any(const ThreadTrace& thread);

// "sleeping", "running", "stopped", ...
std::string_view state_word(char state);

}  // namespace sml::report
