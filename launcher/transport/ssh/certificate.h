// Certificates of users' keys, as OpenSSH makes them. Pure.
#pragma once
#include <string_view>

namespace sml::ssh {

// Whether the certificate is for that public key; both in base64, as their files have it. libssh 0.10 cannot compare
// the two.
bool certifies(std::string_view certificate, std::string_view key);

}  // namespace sml::ssh
