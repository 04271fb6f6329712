// Assigns each worker its processors, memory and devices of the host. This code reads the host; plan::bind_workers()
// and plan::device_variables() decide.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/affinity.h"
#include "common/wire/messages.h"

namespace sml::agent {

struct ShareRequest {
  const wire::Worker& worker;
  const plan::Environment& composed;  // the variables that all workers of its program share
};

struct ResourceAssignment {
  os::KernelCalls settings;     // bind it, and set its priority
  plan::Environment variables;  // for its devices, and OMP_NUM_THREADS
  std::string words;            // describes the processors that it is bound to; empty if it is not bound
  std::string cpus;             // plan::cpu_list_text() of these processors
  std::string locality;         // plan::locality_text() of these processors
  std::size_t place = 0;        // its slot on the host, counted from 0; set by WorkerStarter, not by share_out()
};

struct ResourceAssignments {
  std::vector<ResourceAssignment> workers;  // in the order of the requests
  std::vector<std::string> warnings;        // parts of sentences: which bindings are impossible, and why
  std::vector<Error> errors;                // each is a reason not to start the workers
};

// `requests` are by local rank. Sets each worker's OMP_NUM_THREADS to the number of its processors, or to an equal
// share of the host's if it is not bound, unless the variable is set already or the only worker is not bound. Reads no
// files of the host if neither binding nor devices are asked for.
ResourceAssignments share_out(const plan::BindingRequest& binding, const plan::DeviceRequest& devices,
                              std::span<const ShareRequest> requests);

// True if `wanted` binds workers that no rankfile places, to processors or memory, or lowers their priority.
bool asks_for_binding(const plan::BindingRequest& wanted);

// The names in a folder, in any order, with "." and ".."; empty if the folder cannot be read.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace sml::agent
