// Compares the key that the host has sent with the known keys, and decides whether the log-in may go on.
#pragma once
#include <span>

#include "common/core/error.h"
#include "launcher/transport/ssh/host_keys/known_hosts.h"
#include "launcher/transport/ssh/login_settings.h"

namespace sml::ssh {

// `shown` is the key of the host; `known` are the lines for its name in all files. A known key passes; an unknown one
// passes only if the settings allow it, and is then added to the first of the user's known_hosts files (a file that
// cannot be written does not stop the log-in, as with ssh). A changed or revoked key, or one of another type than the
// known keys, never passes. Error: HostKey, with fingerprints, the file that holds the other key, and advice.
Result<void> check_host_key(const HostKey& shown, std::span<const KnownKey> known, const LoginSettings& settings);

}  // namespace sml::ssh
