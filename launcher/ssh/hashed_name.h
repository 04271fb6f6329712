// Names of hosts that known_hosts keeps hashed (HashKnownHosts).
#pragma once
#include <string>

namespace sml::ssh {

// Does the hashed name field ("|1|salt|hash") of a known_hosts line stand for `name`? A field that is malformed stands
// for none. Half a microsecond: a file may have 100,000 such lines, each of which every host of the job asks. Throws
// only when OpenSSL has no SHA-1, as a key that is revoked could not be found.
bool hashed_name_matches(const std::string& name, const std::string& field);

}  // namespace sml::ssh
