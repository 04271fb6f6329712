#include "launcher/agent/os/gpu_look.h"

#include <string>

#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("looks at GPUs: what the helper says of them", "[gpu]") {
  const auto look = os::parse_gpu_line("312;0 87 1073741824 85899345920;3 0 0 0");
  REQUIRE(look);
  CHECK(look->cost_us == 312);
  CHECK(look->devices == std::vector<AcceleratorUse>{{"gpu0", 87, 1'073'741'824, 85'899'345'920}, {"gpu3", 0, 0, 0}});
  CHECK(os::parse_gpu_line("7") == os::GpuLook{7, {}});
  CHECK(os::parse_gpu_line("7;0 101 9 8")->devices == std::vector<AcceleratorUse>{{"gpu0", 100, 8, 8}});
}

TEST_CASE("looks at GPUs: what is no line of the helper's", "[gpu]") {
  for (const char* line : {"", "x", ";", "7;", "7;0", "7;0 1", "7;0 1 2", "7;0 1 2 3;", "7;0 1 2 3 4", "7;0 1 2 3 ",
                           "-7", "7;0  1 2 3", "7;0 1 2 18446744073709551616", "7\n"}) {
    CAPTURE(line);
    CHECK_FALSE(os::parse_gpu_line(line));
  }
  std::string most = "7";
  for (std::size_t i = 0; i < kMostAccelerators; ++i) most += ";1 1 1 1";
  CHECK(os::parse_gpu_line(most)->devices.size() == kMostAccelerators);
  CHECK_FALSE(os::parse_gpu_line(most + ";1 1 1 1"));
}

TEST_CASE("looks at GPUs: they take less than a thousandth of a core", "[gpu]") {
  using std::chrono::milliseconds;
  CHECK(os::gpu_interval(0) == milliseconds(1000));
  CHECK(os::gpu_interval(1000) == milliseconds(1000));
  CHECK(os::gpu_interval(2500) == milliseconds(2500));
  CHECK(os::gpu_interval(UINT64_MAX) == milliseconds(30000));
}
