// Commands for the user that start no job.
#pragma once
#include <string>
#include <vector>

#include "launcher/inputs/this_host.h"

namespace sml {

// --make-secret: makes the secret file of this user and prints its path. Returns the exit status, as the others do.
int make_secret(const ThisHost& here);

// --install-links: makes links with the names of other launchers in that folder, and prints them.
int make_links(const std::string& folder);

// ps, status and the other subcommands that query or control running jobs.
int speak_to_jobs(const std::vector<std::string>& arguments);

}  // namespace sml
