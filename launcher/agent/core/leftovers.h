// Ends what is left on a host where an agent and its guardian were killed at the same time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/messages.h"

namespace sml::agent {

// The environment entry ("NAME=VALUE") that identifies the workers of a host, and the processes that they start, as
// part of the job.
std::string mark_entry(const std::string& mark);

struct Leftovers {
  std::uint32_t ended = 0;        // the number of processes ended
  std::vector<std::string> left;  // descriptions of processes that would not end
};

// Ends the leftovers of one agent. Blocks, for some seconds at most. First waits, for 2 seconds at most, while that
// agent or a guardian of it lives, since these end the processes themselves; kills those that live if all are stopped.
// Then kills all processes of the agent's cgroup, if it had one, and the processes with the mark that have been
// abandoned (os::abandoned()); a process without the mark in its environment is found by the cgroup only. Last, removes
// the agent's scratch folder.
Leftovers end_leftovers(const wire::EndLeft& job);

}  // namespace sml::agent
