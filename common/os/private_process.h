// Protects this process from other processes of the same user.
#pragma once

namespace sml::os {

// After this call only root may read this process's memory, open its descriptors through /proc, take them (pidfd_getfd)
// or attach to it; it leaves no core file. Forked children are protected as well; an executed program is not. Reason: a
// worker runs as the same user as its agent and the launcher, and a process that writes to their pipes can forge
// messages of any rank.
void become_private();

}  // namespace sml::os
