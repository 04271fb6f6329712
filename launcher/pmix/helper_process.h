/* What both helpers are: processes that end with their agent, and not before the workers. */
#pragma once
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

/* What ends the workers does not end us before them; SIGKILL does. The name is for ps, which has the number of the
 * descriptor that we were started from otherwise. */
static void become_helper(const char* name) {
  static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) signal(signals[i], SIG_IGN);
  prctl(PR_SET_NAME, name);
}
