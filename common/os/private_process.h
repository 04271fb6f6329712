// Closes this process to other processes of the same user: its memory, its descriptors, its core file.
#pragma once

namespace sml::os {

// For the beginning of main(). After this call only root (CAP_SYS_PTRACE) may read this process's memory, open its
// descriptors through /proc, copy them with pidfd_getfd(), or attach to it; it leaves no core file. Forked children are
// protected as well; a program that is executed is not, until it calls this itself. Without it a worker, which runs as
// the same user, could write to the pipes between agent and launcher, and forge messages of any rank.
// Makes one system call (PR_SET_DUMPABLE); if that fails, the process goes on unprotected.
void become_private();

}  // namespace sml::os
