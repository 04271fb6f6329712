#include "common/os/process_settings.h"

#include <sys/stat.h>

#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("the umask is read where the kernel tells it") {
  CHECK(os::umask_in("Name:\tsh\nUmask:\t0027\nState:\tR (running)\n") == 027U);
  CHECK(os::umask_in("Name:\tsh\nState:\tR (running)\n") == std::nullopt);  // a kernel before 4.7
  CHECK(os::umask_in("Name:\tUmask:\t0\nUmask:\tx\n") == std::nullopt);
  CHECK(os::umask_in("") == std::nullopt);
  const mode_t before = ::umask(0123);
  CHECK(os::process_settings().umask == 0123U);
  ::umask(before);
}
