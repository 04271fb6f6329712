// Derivation of the job's key, and digests. Pure. HKDF: RFC 5869, with SHA-256.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

// Derives a key from a secret of any length. Different values of `purpose` give independent keys of one secret. Fast:
// if the secret can be guessed, so can the key. Error (Internal): the crypto library fails.
Result<Key> derive_key(std::string_view secret, std::string_view purpose);

// Derives a key from guessable facts by scrypt (RFC 7914), so that each guess costs some 0.1 s and 64 MiB. Error
// (Internal): the crypto library fails.
Result<Key> derive_slowly(std::string_view facts, std::string_view purpose);

// A random key. Error (Internal): the system has no random bytes. Not pure.
Result<Key> random_key();

// SHA-256, in hexadecimal digits.
std::string digest(std::string_view text);

}  // namespace sml::dialin
