// What libpmix is told of a job and of this host's part in it. Pure.
//
// Keys by what reads them: Open MPI 4.1 (opal/mca/pmix/ext3x, orte/mca/ess/pmi), Open MPI 5 and 6
// (ompi/runtime/ompi_rte.c), and libpmix itself to answer for the rest. The two maps have type PMIX_REGEX: above some
// size libpmix compresses them, zeros inside.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/job_shape.h"
#include "common/plan/worker_env.h"
#include "common/rendezvous/pmix_frames.h"

namespace sml::rendezvous::pmix {

// Where a rank of this host is bound to.
struct Place {
  Rank rank;
  std::string cpus;      // "0-3,8"
  std::string locality;  // plan::locality_text()
};

struct JobData {
  std::string name_space;  // the same on all hosts, and of no other job
  plan::JobShape shape;
  std::uint32_t host = 0;  // this one, in the shape; where it is none of them, its size or more
  std::string host_name;
  std::string folder;            // of this host, for the user alone
  std::vector<Place> places{};   // of the ranks that are bound
  std::uint32_t cpus = 0;        // that the ranks of this host may use; 0: unknown
  std::optional<Rank> parent{};  // of the job, that has asked for these ranks
};

std::vector<Rank> ranks_of_host(const plan::JobShape& shape, std::uint32_t host);

Serve make_serve(const JobData& job);
// Ranks that are spawned; `first` is their rank 0, see AddWorld.
AddWorld make_world(const JobData& job, Rank first);

// What libpmix's own environment does not say, for the workers of a job: that Open MPI 4.1 is not alone, though nobody
// of its own has started it; that it leaves binding to us; that ranks without a core of their own yield; a number that
// all have for PSM. None that `theirs` has.
plan::Environment open_mpi_variables(const JobData& job, const plan::Environment& theirs);

// For the helper and the workers: security and store of a kind that every libpmix has, so that one of another build
// understands ours. None that `theirs` has.
plan::Environment pmix_variables(const plan::Environment& theirs);

}  // namespace sml::rendezvous::pmix
