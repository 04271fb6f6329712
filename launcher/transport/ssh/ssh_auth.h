// Authenticates the user: by keys of the ssh agent and key files. Never uses a password, never prompts.
#pragma once
#include <functional>
#include <string>

#include "common/core/error.h"
#include "launcher/transport/net/waiting.h"
#include "launcher/transport/ssh/login_settings.h"
#include "launcher/transport/ssh/ssh_session.h"

namespace sml::ssh {

// Waits until the session's socket is ready, or the deadline or `cancel` of authenticate() ends the wait.
using WaitForSession = std::function<net::Waited()>;

// Tries keys in this order: the file of --ssh-identity-file, those of the ssh agent, the other identity files. With
// IdentitiesOnly the ssh agent comes last, and only if one of the files is encrypted or unreadable, as it may hold that
// key. The certificates of each key come before it, wherever the key is. Blocks. Errors: Auth, which names all
// attempts; Timeout at `deadline`, or after `cancel`; Connect if the connection broke.
Result<void> authenticate(SshSession& session, const LoginSettings& settings, TimePoint deadline,
                          net::CancelToken& cancel, const WaitForSession& wait);

}  // namespace sml::ssh
