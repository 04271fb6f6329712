// The job data for libpmix: the job, and this host's part of it. Pure.
//
// The keys are those that Open MPI 4.1 (opal/mca/pmix/ext3x, orte/mca/ess/pmi), Open MPI 5 and 6
// (ompi/runtime/ompi_rte.c), and libpmix itself, to derive other values, read. The two maps have type PMIX_REGEX: above
// some size libpmix compresses them, with zero bytes inside.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/environment/worker_env.h"
#include "common/plan/ranks/job_shape.h"
#include "launcher/agent/mpi/pmix_frames.h"

namespace sml::agent::pmix {

// The binding of a rank of this host.
struct Place {
  Rank rank;
  std::string cpus;      // "0-3,8"
  std::string locality;  // plan::locality_text()
};

struct JobData {
  std::string name_space;  // equal on all hosts, and different from that of any other job
  plan::JobShape shape;
  std::uint32_t host = 0;  // index of this host in the shape; the number of hosts or more if it is not among them
  std::string host_name;
  std::string folder;            // of this host, private to the user
  std::vector<Place> places{};   // of the ranks that are bound
  std::uint32_t cpus = 0;        // available to the ranks of this host; 0: unknown
  std::optional<Rank> parent{};  // rank in the job that spawned these ranks
};

std::vector<Rank> ranks_of_host(const plan::JobShape& shape, std::uint32_t host);

Serve make_serve(const JobData& job);
// For spawned ranks; `first` is their rank 0, see AddWorld.
AddWorld make_world(const JobData& job, Rank first);

// Variables for the workers of a job that libpmix does not set itself: Open MPI 4.1 must not take itself for a
// singleton though none of its own launchers has started it; it must leave binding to sml-run; ranks without a core of
// their own yield; all share one key for PSM. Leaves out variables that `theirs` has.
plan::Environment open_mpi_variables(const JobData& job, const plan::Environment& theirs);

// Variables for the helper and the workers: security and store modules that every libpmix has, so that a different
// build can connect. Leaves out variables that `theirs` has.
plan::Environment pmix_variables(const plan::Environment& theirs);

}  // namespace sml::agent::pmix
