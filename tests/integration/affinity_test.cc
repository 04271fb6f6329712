#include "common/os/affinity.h"

#include <array>
#include <span>
#include <string>
#include <vector>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/catch.h"

namespace {

int own_mode() {
  int mode = -1;
  std::vector<unsigned long> nodes(64, 0);
  return ::syscall(SYS_get_mempolicy, &mode, nodes.data(), nodes.size() * 64, nullptr, 0UL) == 0 ? mode : -1;
}

}  // namespace

TEST_CASE("the calls by which a process is bound, as text") {
  using sml::os::MemoryMode;
  const std::array<std::uint32_t, 2> numbers{1, 64};
  const std::string cpus = std::to_string(SYS_sched_setaffinity) + " 0 16 @2,1\n";
  const auto text = [](auto of_cpus, auto of_nodes, MemoryMode mode) {
    return sml::os::text_of(sml::os::binding_calls(of_cpus, of_nodes, mode));
  };
  using Numbers = std::span<const std::uint32_t>;
  CHECK(text(Numbers(), Numbers(numbers), MemoryMode::Default).empty());
  CHECK(text(Numbers(numbers), Numbers(), MemoryMode::Bind) == cpus);
  const std::string nodes = std::to_string(SYS_set_mempolicy) + " " + std::to_string(MPOL_PREFERRED) + " @2 65\n";
  CHECK(text(Numbers(numbers), Numbers(numbers), MemoryMode::Prefer) == cpus + nodes);
}

TEST_CASE("asking what memory policy the kernel permits leaves the thread its own") {
  constexpr unsigned long kFirstNode = 1;
  const std::array<std::uint32_t, 1> nodes{0};
  for (const int own : {MPOL_DEFAULT, MPOL_INTERLEAVE, MPOL_BIND}) {
    const bool has_nodes = own != MPOL_DEFAULT;
    REQUIRE(::syscall(SYS_set_mempolicy, own, has_nodes ? &kFirstNode : nullptr, has_nodes ? 65UL : 0UL) == 0);
    CHECK(sml::os::memory_mode_refused(nodes, sml::os::MemoryMode::Prefer) == 0);
    CHECK(own_mode() == own);
  }
  ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
}
