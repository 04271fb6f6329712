// The type of function by which the agent looks at files that may lie on a file server, such as those of the user's
// home, without blocking its loop.
#pragma once
#include <functional>

namespace sml::agent {

// Does `work`, which may block for as long as a file system takes, off the loop, and then calls `then` on the loop: see
// os::SideThread::post(). What is posted first is done first.
using FileWork = std::function<void(std::function<void()> work, std::function<void()> then)>;

}  // namespace sml::agent
