/* A libnvidia-ml.so.1 with three devices: the first is busy, the second does not tell how busy it is, as one that is
 * cut into instances, and the third tells nothing of its memory. FAKE_NVML=hang: it never answers; FAKE_NVML=lost: nor
 * does it say that there are devices. FAKE_NVML_HELD names a file: the first holds memory only while that is there, and
 * each time that it is asked for that, a byte is added to the file of that name with ".asked" behind it. Nothing here
 * comes from a real device. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSuccess = 0, kNotSupported = 3, kUnknown = 999 };

static int is(const char* mode) {
  const char* const set = getenv("FAKE_NVML");
  return set != NULL && strcmp(set, mode) == 0;
}

int nvmlInit_v2(void) { return is("lost") ? kUnknown : kSuccess; }

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 3;
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  static char devices[3];
  *device = devices + index;
  devices[index] = (char)index;
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(const char* device, unsigned int* gpu_and_memory) {
  while (is("hang")) pause();
  gpu_and_memory[0] = *device == 0 ? 87 : 0;
  gpu_and_memory[1] = 12;
  return *device == 1 ? kNotSupported : kSuccess;
}

static int holds(void) {
  const char* const held = getenv("FAKE_NVML_HELD");
  char asked[4096];
  if (held == NULL) return 1;
  const int is_held = access(held, F_OK) == 0; /* before anybody can see that it was asked */
  snprintf(asked, sizeof asked, "%s.asked", held);
  const int file = open(asked, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int counted = file >= 0 && write(file, "?", 1) == 1;
  if (file >= 0) close(file);
  return counted && is_held;
}

int nvmlDeviceGetMemoryInfo(const char* device, unsigned long long* total_free_used) {
  const unsigned long long used = *device == 0 && !holds() ? 0 : 20;
  total_free_used[0] = 80ULL << 30;
  total_free_used[1] = (80 - used) << 30;
  total_free_used[2] = used << 30;
  return *device == 2 ? kNotSupported : kSuccess;
}
