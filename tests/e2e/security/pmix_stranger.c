/* Another user who is a rank of a job, as far as libpmix can tell: pmix_stranger join | spawn COMMAND | abort.
 *
 * Its environment has a rank's PMIX_*, and what libpmix asks the system about the user answers root. Prints "served" or
 * "refused". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/agent/pmix/pmix_abi.h"

uid_t geteuid(void) { return 0; }
uid_t getuid(void) { return 0; }
gid_t getegid(void) { return 0; }
gid_t getgid(void) { return 0; }

static void* function(const char* name) {
  static void* library;
  if (library == NULL) library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
  return library == NULL ? NULL : dlsym(library, name);
}

static int join(void) {
  int (*init)(PmixProc*, PmixInfo*, size_t) = NULL;
  PmixProc self;
  *(void**)&init = function("PMIx_Init");
  return init == NULL ? kPmixError : init(&self, NULL, 0);
}

static int spawn(char* command) {
  int (*call)(const PmixInfo*, size_t, const PmixApp*, size_t, char*) = NULL;
  char* words[] = {"/bin/sh", "-c", command, NULL};
  char name[kNamespaceSize];
  const PmixApp app = {.command = words[0], .argv = words, .count = 1};
  *(void**)&call = function("PMIx_Spawn");
  return call(NULL, 0, &app, 1, name);
}

static int end_job(void) {
  int (*call)(int, const char*, PmixProc*, size_t) = NULL;
  *(void**)&call = function("PMIx_Abort");
  return call(66, "by another user", NULL, 0);
}

int main(int count, char** words) {
  int status = join();
  if (status == kPmixSuccess && count > 2 && strcmp(words[1], "spawn") == 0) status = spawn(words[2]);
  if (status == kPmixSuccess && count > 1 && strcmp(words[1], "abort") == 0) status = end_job();
  printf("%s\n", status == kPmixSuccess ? "served" : "refused");
  fflush(stdout);
  _exit(0);
}
