// Authenticates the user: by keys of the ssh agent and key files. Never uses a password, never prompts.
#pragma once
#include <functional>
#include <string>

#include "common/core/error.h"
#include "launcher/transport/net/waiting.h"
#include "launcher/transport/ssh/login_settings.h"
#include "launcher/transport/ssh/ssh_session.h"

namespace sml::ssh {

// Waits until the session can go on.
using WaitForSession = std::function<net::Waited()>;

// Order: the identity file of the command line, the agent, the other identity files; with IdentitiesOnly the agent
// comes last, and only if one of the files is encrypted or unreadable. Blocks; the waits end at `deadline` or with
// `cancel`. Errors: Auth, with all attempts; Timeout; Connect if the connection broke.
Result<void> authenticate(SshSession& session, const LoginSettings& settings, TimePoint deadline,
                          net::CancelToken& cancel, const WaitForSession& wait);

}  // namespace sml::ssh
