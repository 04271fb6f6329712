// Commands for the user that start no job.
#pragma once
#include <string>
#include <vector>

#include "launcher/inputs/this_host.h"

namespace sml {

// --make-secret: makes the secret file of this user and prints its path. Each of these functions prints its error, and
// returns the exit status.
int make_secret(const ThisHost& here);

// --install-links: makes links to this program in that folder, named like other launchers, and prints their paths.
int make_links(const std::string& folder);

// ps, status and the other subcommands that query or control running jobs.
int speak_to_jobs(const std::vector<std::string>& arguments);

}  // namespace sml
