// The key by which the hosts of a job authenticate each other when they call the coordinator.
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
  std::string advice;  // a message for people; empty: none
};

// Derives the key from the secret of --secret-file, $SML_JOB_SECRET, or the user's own file. Without a secret, if
// --insecure-job-key is given or the platform isolates the job's hosts from others, derives it from facts that all
// hosts know; that takes a tenth of a second, which each guess of an attacker costs too. Error (Usage or Config): no
// key can be made, with advice; or a file cannot be trusted.
Result<JobKey> find_job_key(const Options& options, const ThisHost& here, const dialin::Settings& settings);

// Whether a key can be made without an option: from the variable, the user's own file or a platform. Does not check
// that the secret can be trusted.
bool key_is_there(const ThisHost& here);

// Advice for users that have no secret.
std::string_view advice_on_secrets();

}  // namespace sml
