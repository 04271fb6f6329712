// Being the first process of a container (PID 1): the kernel gives it no default signal actions, and every orphan of
// the container becomes its child.
#pragma once

namespace sml::os {

// Does nothing unless this process is PID 1. Then it forks: the child returns from here and does the work; the parent
// passes every signal on to it, reaps whatever ends, and when the child ends leaves with its exit status (128+signal).
// Call before threads exist.
void serve_as_init();

}  // namespace sml::os
