// Messages about ranks that use MPI and run alone (MPI singletons). Pure.
#pragma once
#include <string>

#include "common/core/error.h"
#include "common/plan/ranks/job_shape.h"
#include "common/wire/messages.h"

namespace sml::attempt {

// In both functions `host` is the name of the rank's host; empty: the text does not name the host, as its caller does.

// The text of a warning, a part of a sentence: the user may have wanted the ranks to run alone. `pmi_mode`: the PMI
// mode of the job.
std::string mpi_singleton_warning(const wire::MpiUse& use, const std::string& host, plan::PmiMode pmi_mode);

// The error (Spawn) that is the reason why the job does not start, or is ended.
Error mpi_singleton_refusal(const wire::MpiUse& use, const std::string& host, plan::PmiMode pmi_mode);

}  // namespace sml::attempt
