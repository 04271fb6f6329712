// Host names that are hashed in known_hosts (HashKnownHosts).
#pragma once
#include <string>

namespace sml::ssh {

// Whether the hashed name field ("|1|salt|hash") of a known_hosts line stands for `name`; a malformed field matches no
// name. Takes half a microsecond, as a file may have 100,000 such lines, all to be compared for every host of the job.
// Throws if OpenSSL has no SHA-1, since a revoked key could not be found then.
bool hashed_name_matches(const std::string& name, const std::string& field);

}  // namespace sml::ssh
