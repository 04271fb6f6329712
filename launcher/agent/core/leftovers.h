// Ends what is left on a host where an agent and its guardian were killed at the same time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/messages.h"

namespace sml::agent {

// The environment variable that identifies the workers of a host, and the processes that they start, as part of the
// job.
std::string mark_entry(const std::string& mark);

struct Leftovers {
  std::uint32_t ended = 0;        // the number of processes ended
  std::vector<std::string> left;  // descriptions of processes that would not end
};

// Ends it, waiting some seconds at most: all of that agent's cgroup if it had one, what carries the mark and has nobody
// above it (os::abandoned), and last the agent's folder. What has shed the mark is found by the cgroup only. While that
// agent or a guardian of it lives, the host is their business, and they are waited for; where they stand still, they
// are killed.
Leftovers end_leftovers(const wire::EndLeft& job);

}  // namespace sml::agent
