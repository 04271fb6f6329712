// What each worker gets of its host: processors, memory and devices. Reads the host; what is decided is decided by
// plan::bind_workers() and plan::device_variables().
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/affinity.h"
#include "common/wire/messages.h"

namespace sml::agent {

struct ShareRequest {
  const wire::Worker& worker;
  const plan::Environment& composed;  // what the workers of its program share
};

struct WorkerShare {
  std::optional<os::ProcessBinding> binding;
  plan::Environment variables;
  std::string words;      // where it is bound to; empty: nowhere
  std::string cpus;       // plan::cpu_list_text() of these processors
  std::string locality;   // plan::locality_text()
  std::size_t place = 0;  // among those that share the host
};

struct Shares {
  std::vector<WorkerShare> workers;   // as they were asked for
  std::vector<std::string> warnings;  // clauses
  std::vector<Error> obstacles;       // kind Spawn
};

// `requests` by local rank. OMP_NUM_THREADS is the share of each unless it is set.
// Without wishes nothing is read.
Shares share_out(const plan::BindingWish& binding, const plan::DeviceWish& devices,
                 std::span<const ShareRequest> requests);

// Whether it asks for processors or memory of workers for which no rankfile does.
bool asks_for_binding(const plan::BindingWish& wish);

// The names in a folder, in any order; empty when it is not there.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace sml::agent
