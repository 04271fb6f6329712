// The key by which the hosts of a job know each other, where they call.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/dialin/settings.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

struct JobKey {
  dialin::Key key{};
  std::string advice;  // what people should know of it; empty: nothing
};

// From the secret that there is: of --secret-file, $SML_JOB_SECRET, or the user's own file. Else, where
// --insecure-job-key asks for it or a platform keeps the hosts of the job apart from others, from what all of them are
// told; that takes a tenth of a second, and so does each guess of somebody else. Error (Usage or Config): neither is
// there, and how it could be; or a file cannot be believed.
Result<JobKey> find_job_key(const Options& options, const ThisHost& here, const dialin::Settings& settings);

// Whether there is a key without an option that says so: of the variable, the user's own file or a platform. It need
// not be one that can be believed.
bool key_is_there(const ThisHost& here);

// What to do where there is none.
std::string_view advice_on_secrets();

}  // namespace sml
