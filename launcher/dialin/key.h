// The job's key, and digests. Pure. HKDF: RFC 5869, with SHA-256.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

// From a secret of any length, or from facts that only the hosts of the job know; `purpose` keeps keys of the same
// secret for different uses apart. A secret that can be guessed gives a key that can be guessed. Error (Internal): the
// library refuses.
Result<Key> derive_key(std::string_view secret, std::string_view purpose);

// SHA-256, in hexadecimal digits.
std::string digest(std::string_view text);

}  // namespace sml::dialin
