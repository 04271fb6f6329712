#include "launcher/agent/diagnosis/host_health.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("health: a host with memory and space is well, and so is one that does not tell") {
  HostFacts facts;
  CHECK(faults_of(facts).empty());
  facts.memory = {1024 * kMega, 64 * kMega};
  facts.shared_memory = {"/dev/shm", 64 * kMega, 1 * kMega};
  facts.agent_folder = {"/tmp/", 17 * kMega, 2 * kMega};
  CHECK(faults_of(facts).empty());
}

TEST_CASE("health: what is short is named") {
  HostFacts facts;
  facts.memory = {1024 * kMega, 63 * kMega};
  facts.shared_memory = {"/dev/shm", 64 * kMega, kMega - 1};
  facts.agent_folder = {"/tmp/", 17 * kMega, 0};
  CHECK(faults_of(facts) == std::vector<std::string>{"only 63 MB of its memory are free",
                                                     "no space is left in /dev/shm", "no space is left in /tmp/"});
  facts.agent_folder.size = 16 * kMega;  // too small to be meant for anything
  CHECK(faults_of(facts).size() == 2);
}

TEST_CASE("health: an accelerator is free when it holds no more than before the job, or little") {
  const auto holds = [](std::uint64_t megabytes) {
    return AcceleratorUse{"card0", 0, megabytes * kMega, 8192 * kMega};
  };
  CHECK(accelerators_in_use({holds(10)}, {holds(512)}).empty());
  CHECK(accelerators_in_use({holds(10)}, {holds(513)}) == std::vector<std::string>{"card0"});
  CHECK(accelerators_in_use({holds(2000)}, {holds(2000)}).empty());
  CHECK(accelerators_in_use({}, {holds(600)}) == std::vector<std::string>{"card0"});
}
