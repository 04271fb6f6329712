#include "common/os/affinity.h"

#include <array>
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
