/* The common behaviour of both helpers (PMIx and NVML): they outlive the workers, end with their agent, and no other
 * process of the same user, such as a worker, can attach to them as a debugger does. */
#pragma once
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

/* Ignores the signals that end or stop the workers, except SIGKILL and SIGSTOP, so that the helper outlives them. Sets
 * the name that ps shows, which otherwise is the number of the descriptor from which the helper was executed. Forbids
 * tracing (PR_SET_DUMPABLE): a tracer could read what ranks publish, and would keep a killed helper from being reaped.
 * `name`: at most 15 bytes. */
static void become_helper(const char* name) {
  static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) signal(signals[i], SIG_IGN);
  prctl(PR_SET_NAME, name);
  prctl(PR_SET_DUMPABLE, 0L);
}
