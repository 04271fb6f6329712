// For a process that is the first of a container (PID 1): the kernel gives it no default signal actions, and every
// orphan of the container becomes its child.
#pragma once

namespace sml::os {

// Does nothing unless this process is PID 1. Then it forks: the child returns from here and does the work; the parent
// forwards every signal to it, reaps all children, and when the child ends exits with its exit status (128+signal).
// If the fork fails, this process itself returns and does the work. Call before threads exist.
void serve_as_init();

}  // namespace sml::os
