// simulation: whole jobs in one process, each decided by a seed.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/transport/agent_image.h"
#include "tests/simulation/job.h"
#include "tests/simulation/plants.h"
#include "tests/simulation/world.h"
#include "tests/support/watchdog.h"

namespace {

constexpr const char* kUsage =
    "simulation [--seeds N] [--first N] [--jobs N] [--plant FAULT]   runs seeds FIRST, FIRST + 1, ...\n"
    "simulation --seeds-of FILE                                      runs the seeds that begin the lines of a file\n"
    "simulation --list-plants                                        the faults that can be put in\n"
    "simulation --seed N [--trace] [--plant FAULT]                   runs one of them\n"
    "Of a seed that breaks a rule it says which. With --plant it ends well if some seed finds the fault.\n";

struct Flags {
  std::uint64_t count = 1000;
  std::uint64_t first = 1;
  std::vector<std::uint64_t> named;  // in the place of those
  bool list = false;
  unsigned jobs = 1;
  std::string plant;
  bool trace = false;
  bool bad = false;
};

// What the processes that share the seeds tell the first.
struct Progress {
  std::uint64_t index;  // of the seed that it is at
  std::uint64_t passed;
  std::uint64_t failed;
  std::uint64_t found;  // how many seeds it took to find the plant; 0: it has not been found
};

constexpr std::uint64_t kMostShown = 5;

// Of each line its first word; those that are no number are remarks.
std::vector<std::uint64_t> read_seeds(const char* path) {
  std::vector<std::uint64_t> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] >= '0' && line[0] <= '9') out.push_back(std::strtoull(line.c_str(), nullptr, 10));
  }
  return out;
}

std::uint64_t seed_at(const Flags& flags, std::uint64_t index) {
  return flags.named.empty() ? flags.first + index : flags.named[index];
}

Flags parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--trace") {
      flags.trace = true;
    } else if (word == "--list-plants") {
      flags.list = true;
    } else if (word == "--seeds-of" && more) {
      flags.named = read_seeds(argv[++i]);
      flags.bad = flags.named.empty();
    } else if (word == "--seeds" && more) {
      flags.count = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--first" && more) {
      flags.first = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--jobs" && more) {
      flags.jobs = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else if (word == "--plant" && more) {
      flags.plant = argv[++i];
    } else if (word == "--seed" && more) {
      flags.first = std::strtoull(argv[++i], nullptr, 10);
      flags.count = 1;
    } else {
      flags.bad = true;
    }
  }
  return flags;
}

// The rule that was broken; empty: none.
std::string run_seed(std::uint64_t seed, const Flags& flags, const sml::transport::AgentImage& image) {
  sml::sim::World world(seed ^ 0x5eed);
  world.traced = flags.trace;
  world.plant = flags.plant;
  sml::sim::world = &world;
  try {
    sml::sim::Job job(seed, image);
    try {
      job.run();
    } catch (const sml::sim::Broken& broken) {
      world.broken(broken.what);
    }
  } catch (const sml::sim::Broken& broken) {
    world.broken(broken.what);
  }
  sml::sim::world = nullptr;
  return world.fault();
}

void run_share(const Flags& flags, Progress& progress, std::uint64_t from) {
  const sml::transport::AgentImage image = sml::transport::AgentImage::embedded();
  const auto hangs_after = static_cast<unsigned>(sml::fake::watchdog() / std::chrono::seconds(1));  // of real time
  for (std::uint64_t i = from; i < flags.count; i += flags.jobs) {
    progress.index = i;
    ::alarm(hangs_after);
    const std::string fault = run_seed(seed_at(flags, i), flags, image);
    if (fault.empty()) {
      ++progress.passed;
      continue;
    }
    if (++progress.failed <= kMostShown) {
      dprintf(sml::sim::report_fd, "seed %llu: %s\n", static_cast<unsigned long long>(seed_at(flags, i)),
              fault.c_str());
    }
    if (flags.plant.empty()) continue;
    progress.found = i + 1;
    return;
  }
}

// A process of its own, so that a crash is one seed's.
pid_t start_share(const Flags& flags, Progress& progress, std::uint64_t from) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  run_share(flags, progress, from);
  ::_exit(0);
}

// What all of them have come to.
Progress run_all(const Flags& flags) {
  auto* shares = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress) * flags.jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> pids;
  for (unsigned i = 0; i < flags.jobs; ++i) pids.push_back(start_share(flags, shares[i], i));
  Progress sum{};
  for (unsigned i = 0; i < flags.jobs; ++i) {
    int status = 0;
    ::waitpid(pids[i], &status, 0);
    while (status != 0) {
      ++shares[i].failed;
      const std::uint64_t index = shares[i].index;
      dprintf(sml::sim::report_fd, "seed %llu: crashed, or hung (wait status %d)\n",
              static_cast<unsigned long long>(seed_at(flags, index)), status);
      ::waitpid(start_share(flags, shares[i], index + flags.jobs), &status, 0);
    }
    sum.passed += shares[i].passed;
    sum.failed += shares[i].failed;
    if (shares[i].found != 0 && (sum.found == 0 || shares[i].found < sum.found)) sum.found = shares[i].found;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags = parse(argc, argv);
  if (flags.bad || flags.jobs == 0) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (flags.list) {
    for (const char* plant : sml::sim::plants::kAll) std::puts(plant);
    return 0;
  }
  if (!flags.named.empty()) flags.count = flags.named.size();
  ::signal(SIGPIPE, SIG_IGN);
  sml::sim::report_fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, fd);
  const Progress sum = run_all(flags);
  if (!flags.plant.empty()) {
    dprintf(output, "%s: %s after %llu seeds\n", flags.plant.c_str(), sum.found != 0 ? "found" : "not found",
            static_cast<unsigned long long>(sum.found != 0 ? sum.found : flags.count));
    return sum.found != 0 ? 0 : 1;
  }
  dprintf(output, "%llu passed, %llu failed\n", static_cast<unsigned long long>(sum.passed),
          static_cast<unsigned long long>(sum.failed));
  return sum.failed == 0 ? 0 : 1;
}
