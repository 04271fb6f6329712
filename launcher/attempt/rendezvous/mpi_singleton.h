// Messages about ranks that use MPI and run alone (MPI singletons). Pure.
#pragma once
#include <string>

#include "common/core/error.h"
#include "common/plan/ranks/job_shape.h"
#include "common/wire/messages.h"

namespace sml::attempt {

// `host` is empty where it is named otherwise.

// A clause for the user, who may have wanted it so. `meeting`: the PMI mode of the job.
std::string lone_mpi_warning(const wire::MpiUse& use, const std::string& host, plan::PmiMode meeting);

// Why the job does not start, or is ended (Spawn).
Error lone_mpi_refusal(const wire::MpiUse& use, const std::string& host, plan::PmiMode meeting);

}  // namespace sml::attempt
