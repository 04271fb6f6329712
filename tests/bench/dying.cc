// A worker that waits to be stopped, or, as rank WHO, dies first: it writes the time (CLOCK_MONOTONIC, nanoseconds) to
// FILE and exits 3 at once, so that the end of the job can be measured from the very moment of the death.
//
//   dying WHO FILE DELAY_MS
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

long rank() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return std::strtol(value, nullptr, 10);
  }
  return 0;
}

// Opened before the clock is read and written in one call: nothing slow lies between the stamp and the exit.
[[noreturn]] void die(const char* file) {
  const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::array<char, 32> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%lld\n", static_cast<long long>(now.tv_sec) * 1000000000 + now.tv_nsec);
  const bool good = write(fd, text.data(), static_cast<std::size_t>(length)) == length;
  _exit(good ? 3 : 4);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: dying WHO FILE DELAY_MS\n", stderr);
    return 2;
  }
  if (rank() == std::strtol(argv[1], nullptr, 10)) {
    usleep(static_cast<useconds_t>(std::strtoul(argv[3], nullptr, 10) * 1000));  // until the others are up
    die(argv[2]);
  }
  while (true) pause();
}
