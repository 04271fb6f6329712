// A process that others of its user keep their hands off.
#pragma once

namespace sml::os {

// Nobody but root may read this process's memory, open its descriptors through /proc, take them (pidfd_getfd) or attach
// to it; it leaves no core. What it forks is like it, what it executes is an ordinary process again. A worker runs as
// the same user as its agent and its launcher, and whoever writes to their pipes can say anything of any rank.
void become_private();

}  // namespace sml::os
