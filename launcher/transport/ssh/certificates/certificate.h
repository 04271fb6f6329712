// Certificates of users' keys, as OpenSSH makes them. Pure.
#pragma once
#include <string>
#include <string_view>

namespace sml::ssh {

// Whether the certificate is for that public key; both in base64, as their files have it. libssh 0.10 cannot compare
// the two.
bool certifies(std::string_view certificate, std::string_view key);
// The same for both in the wire format.
bool certifies_key(std::string_view certificate, std::string_view key);
// The certificate in `file`, the contents of a file such as KEY-cert.pub, in the wire format; empty: there is none.
std::string certificate_in(std::string_view file);

}  // namespace sml::ssh
