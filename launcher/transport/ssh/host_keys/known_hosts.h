// The files of known host keys: reading all of them, and adding a new key.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/transport/ssh/host_keys/known_keys.h"

namespace sml::ssh {

// Returns the keys of `name` in the files; a file that does not exist has none. Reads whole files, of any size, in
// little memory. Error: HostKey if a file exists and cannot be read to its end, or is neither a regular file nor
// /dev/null: the unread part may revoke a key. (ssh itself takes an unreadable file for an empty one.)
Result<std::vector<KnownKey>> known_keys(std::span<const std::string> files, const std::string& name);

// The keys of a file that RevokedHostKeys names; the file must exist, as for ssh. Error: as of known_keys().
Result<std::vector<KnownKey>> revoked_keys(const std::string& file);

// Adds a line for the key unless the file has it already; creates the file and its folder, for this user only, if they
// do not exist. Other threads and processes may do the same at the same time (lock, one appending write). Error:
// HostKey if a different key of this type was added meanwhile, or the key was revoked, or the file cannot be read; Io
// if it cannot be written.
Result<void> add_known_host(const std::string& file, const std::string& name, const HostKey& key);

}  // namespace sml::ssh
