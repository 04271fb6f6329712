// Assigns each worker its processors, memory and devices of the host. This code reads the host; plan::bind_workers()
// and plan::device_variables() decide.
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
  const plan::Environment& composed;  // shared by the workers of its program
};

struct ResourceAssignment {
  std::optional<os::ProcessBinding> binding;
  plan::Environment variables;
  std::string words;      // describes where it is bound; empty if it is not
  std::string cpus;       // plan::cpu_list_text() of its processors
  std::string locality;   // plan::locality_text()
  std::size_t place = 0;  // its index among the workers that share the host
};

struct ResourceAssignments {
  std::vector<ResourceAssignment> workers;  // in the order of the requests
  std::vector<std::string> warnings;        // clauses
  std::vector<Error> errors;                // of kind Spawn
};

// `requests` are by local rank. Sets OMP_NUM_THREADS to the number of each worker's processors unless it is set. Reads
// nothing from the host if neither binding nor devices are asked for.
ResourceAssignments share_out(const plan::BindingWish& binding, const plan::DeviceWish& devices,
                              std::span<const ShareRequest> requests);

// True if it asks for processors or memory for workers that no rankfile places.
bool asks_for_binding(const plan::BindingWish& wish);

// The names in a folder, in any order; empty if it does not exist.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace sml::agent
