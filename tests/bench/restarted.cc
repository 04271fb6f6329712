// A worker of a job that is to start again once. It leaves an empty file whose name ends with a time (CLOCK_MONOTONIC,
// nanoseconds): FOLDER/began.ATTEMPT.RANK.NS, with attempts counted from 0. In the first attempt rank WHO leaves
// FOLDER/death.0.WHO.NS after DELAY_MS and exits 3 at once, the others wait to be stopped; in the next one all exit 0.
//
//   restarted FOLDER WHO DELAY_MS
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

long number(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? 0 : std::strtol(value, nullptr, 10);
}

void mark(const std::string& begin) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string path = begin + "." + std::to_string(now.tv_sec * 1000000000LL + now.tv_nsec);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0 || close(fd) != 0) std::perror(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: restarted FOLDER WHO DELAY_MS\n", stderr);
    return 2;
  }
  const long rank = number("RANK"), attempt = number("TORCHELASTIC_RESTART_COUNT");
  const std::string folder = argv[1], who = "." + std::to_string(attempt) + "." + std::to_string(rank);
  mark(folder + "/began" + who);
  if (attempt > 0) return 0;
  if (rank != std::strtol(argv[2], nullptr, 10)) {
    while (true) pause();
  }
  usleep(static_cast<useconds_t>(std::strtoul(argv[3], nullptr, 10) * 1000));  // until the others are up
  mark(folder + "/death" + who);
  _exit(3);
}
