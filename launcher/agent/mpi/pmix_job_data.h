// Makes the job data for libpmix: a description of the job, and of this host's part in it. Pure.
//
// The keys are those that Open MPI 4.1 (opal/mca/pmix/ext3x, orte/mca/ess/pmi) and Open MPI 5 and 6
// (ompi/runtime/ompi_rte.c) read, and those from which libpmix itself derives other values. The map of hosts and the
// map of their ranks have the type PMIX_REGEX: above some size libpmix compresses them, with zero bytes inside.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/environment/worker_env.h"
#include "common/plan/ranks/job_shape.h"
#include "launcher/agent/mpi/pmix_frames.h"

namespace sml::agent::pmix {

// The CPU binding of a rank of this host.
struct Place {
  Rank rank;             // of the namespace, as in JobData::shape
  std::string cpus;      // "0-3,8"
  std::string locality;  // plan::locality_text()
};

// One namespace: the job's own, or that of ranks that one request has spawned.
struct JobData {
  std::string name_space;  // equal on all hosts, and different from that of any other job
  plan::JobShape shape;    // of the ranks of this namespace
  std::uint32_t host = 0;  // index of this host in the shape; the number of hosts or more if it is not among them
  std::string host_name;
  std::string folder;            // for libpmix's files on this host; private to the user
  std::vector<Place> places{};   // of the ranks of this host that are bound
  std::uint32_t cpus = 0;        // available to the ranks of this host; 0: unknown
  std::optional<Rank> parent{};  // the rank of the job that spawned these ranks; nullopt: they are not spawned
};

// The ranks on that host, ascending, as in the shape; empty if it has none.
std::vector<Rank> ranks_of_host(const plan::JobShape& shape, std::uint32_t host);

// The message with which the helper starts libpmix's server.
Serve make_serve(const JobData& job);
// The same for spawned ranks; `first`: see AddWorld.
AddWorld make_world(const JobData& job, Rank first);

// Variables that Open MPI's workers need and that libpmix does not set itself. Open MPI 4.1 must not take itself for a
// singleton although none of its own launchers has started it, and must leave binding to sml-run; all ranks need the
// same key for networks that use PSM; ranks yield where a host has more of them than CPUs. Leaves out variables that
// `theirs`, the program's environment, has.
plan::Environment open_mpi_variables(const JobData& job, const plan::Environment& theirs);

// Variables for the helper and the workers: they select modules for security and storage that every libpmix has, so
// that the worker's libpmix can connect even if it is another build than the helper's. Leaves out variables that
// `theirs` has.
plan::Environment pmix_variables(const plan::Environment& theirs);

}  // namespace sml::agent::pmix
