// Restricts which modules the cryptographic library may load.
#pragma once

namespace sml::ssh {

// Call once, before the first log-in and the first TLS connection. A static program must not follow the machine's
// openssl.cnf: the modules (providers) that it may name belong to another build of the library. Does nothing in a
// program that is not static, where that file applies as for every other program.
void keep_to_built_in_crypto();

}  // namespace sml::ssh
