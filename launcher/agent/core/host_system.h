// The objects by which every room of the agent uses its host; tests/simulation stands in for them.
#pragma once
#include <functional>

#include <boost/asio/io_context.hpp>

#include "launcher/agent/core/network.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/core/scratch_folder.h"

namespace sml::agent {

// Does `work`, which may block for as long as a file system takes, off the loop, and then calls `then` on the loop: see
// os::SideThread::post(). Work is done in the order in which it is posted. This is how the agent looks at files that
// may lie on a file server, such as those of the user's home.
using FileWork = std::function<void(std::function<void()> work, std::function<void()> then)>;

struct HostSystem {
  boost::asio::io_context& loop;
  Processes& processes;
  Network& network;
  const ScratchFolder& scratch;
  FileWork file_work{};
};

}  // namespace sml::agent
