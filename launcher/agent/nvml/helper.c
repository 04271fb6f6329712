/* sml-run-nvml: loads NVIDIA's management library (NVML) for the agent, which is static and cannot load it.
 *
 * The agent starts it where NVIDIA's driver is, with one end of a socket as standard input and output, and with the
 * path of a library that it may load though the loader does not know its folder, if there is one. For each byte that it
 * receives it sends a line with the utilization of each device and how much of its memory is in use at that moment
 * (launcher/agent/os/gpu_look.h). It decides nothing, asks NVML for nothing else, and exits when the socket closes.
 *
 * Runs on any glibc, as sml-run-pmix does: see launcher/agent/pmix/symbols.h. */
#include "launcher/agent/pmix/symbols.h"

#include "launcher/agent/pmix/helper_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kSocket = 0, kMostDevices = 64, kLongestLine = 4096, kSuccess = 0 };

/* As in nvml.h; unchanged since the first manual of NVML. */
typedef struct {
  unsigned int gpu; /* per cent of the last moments in which something ran on it */
  unsigned int memory;
} Utilization;

typedef struct {
  unsigned long long total; /* bytes */
  unsigned long long free;
  unsigned long long used;
} Memory;

static struct {
  int (*init)(void);
  int (*count)(unsigned int* count);
  int (*handle)(unsigned int index, void** device);
  int (*utilization)(void* device, Utilization* out);
  int (*memory)(void* device, Memory* out);
} nvml;

static void* devices[kMostDevices]; /* by NVML's index, which nvidia-smi uses too; null if NVML has no handle for it */
static unsigned int device_count;

static int bind_all(void* library) {
  const struct {
    const char* name;
    void* slot;
  } wanted[] = {
      {"nvmlInit_v2", &nvml.init},
      {"nvmlDeviceGetCount_v2", &nvml.count},
      {"nvmlDeviceGetHandleByIndex_v2", &nvml.handle},
      {"nvmlDeviceGetUtilizationRates", &nvml.utilization},
      {"nvmlDeviceGetMemoryInfo", &nvml.memory},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void* const found = dlsym(library, wanted[i].name);
    if (found == NULL) return 0;
    memmove(wanted[i].slot, &found, sizeof found);
  }
  return 1;
}

/* Loads the library by its name, or from `path`; null: there is none. */
static int load(const char* path) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == NULL && path != NULL) library = dlopen(path, RTLD_NOW);
  if (library == NULL || !bind_all(library) || nvml.init() != kSuccess) return 0;
  if (nvml.count(&device_count) != kSuccess) return 0;
  if (device_count > kMostDevices) device_count = kMostDevices;
  for (unsigned int i = 0; i < device_count; ++i) {
    if (nvml.handle(i, &devices[i]) != kSuccess) devices[i] = NULL;
  }
  return device_count > 0;
}

static unsigned long long microseconds(const struct timeval* time) {
  return (unsigned long long)time->tv_sec * 1000000 + (unsigned long long)time->tv_usec;
}

/* CPU time of this process so far. */
static unsigned long long spent(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime);
}

/* Leaves out a device that does not report its utilization, such as one that is partitioned into instances (MIG). */
static size_t describe(unsigned int index, char* to, size_t room) {
  Utilization busy = {0, 0};
  Memory memory = {0, 0, 0};
  if (devices[index] == NULL || nvml.utilization(devices[index], &busy) != kSuccess) return 0;
  if (nvml.memory(devices[index], &memory) != kSuccess) memory.used = memory.total = 0;
  const int size = snprintf(to, room, ";%u %u %llu %llu", index, busy.gpu, memory.used, memory.total);
  return size > 0 && (size_t)size < room ? (size_t)size : 0;
}

static void tell_look(void) {
  char found[kLongestLine], line[kLongestLine + 32];
  size_t size = 0;
  const unsigned long long before = spent();
  for (unsigned int i = 0; i < device_count; ++i) size += describe(i, found + size, sizeof found - size);
  const int length = snprintf(line, sizeof line, "%llu%.*s\n", spent() - before, (int)size, found);
  for (size_t sent = 0; length > 0 && sent < (size_t)length;) {
    const ssize_t n = write(kSocket, line + sent, (size_t)length - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0); /* the agent is gone */
    sent += (size_t)n;
  }
}

/* Waits for the next question. Returns false if the socket has closed. */
static int is_asked(void) {
  char asked = 0;
  ssize_t n = 0;
  do n = read(kSocket, &asked, 1);
  while (n < 0 && errno == EINTR);
  return n == 1;
}

static int run(int count, char** words, char** environment) {
  (void)environment;
  become_helper("sml-run-nvml");
  if (!load(count > 1 ? words[1] : NULL)) _exit(1);
  while (is_asked()) tell_look();
  _exit(0); /* skips the library's exit handlers, which may wait for a device */
}

SML_START(run)
