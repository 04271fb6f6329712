#include "launcher/agent/os/gpu_look.h"

#include <string>

#include "tests/support/catch.h"

using namespace sml;

namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

}  // namespace

TEST_CASE("looks at GPUs: the devices in a listing of nvidia-smi", "[gpu]") {
  CHECK(os::parse_gpu_listing("0, 87, 20480, 81559\n1, 0, 4, 81559\n") ==
        std::vector<AcceleratorUse>{{"gpu0", 87, 20'480 * kMebibyte, 81'559 * kMebibyte},
                                    {"gpu1", 0, 4 * kMebibyte, 81'559 * kMebibyte}});
  CHECK(os::parse_gpu_listing("0, 87, 20480, 81559\r\n").size() == 1);
  CHECK(os::parse_gpu_listing("3, 101, 9, 8\n") ==
        std::vector<AcceleratorUse>{{"gpu3", 100, 8 * kMebibyte, 8 * kMebibyte}});
}

TEST_CASE("looks at GPUs: what a device does not report", "[gpu]") {
  const std::vector<AcceleratorUse> second{{"gpu1", 5, 4 * kMebibyte, 40'960 * kMebibyte}};
  for (const char* missing : {"[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]", "N/A", ""}) {
    CAPTURE(missing);
    const std::string busy = "0, " + std::string(missing) + ", 38144, 40960\n";
    CHECK(os::parse_gpu_listing(busy + "1, 5, 4, 40960\n") == second);
    const std::string used = "0, 7, " + std::string(missing) + ", 40960\n";
    CHECK(os::parse_gpu_listing(used) == std::vector<AcceleratorUse>{{"gpu0", 7, 0, 0}});
    const std::string total = "0, 7, 4, " + std::string(missing) + "\n";
    CHECK(os::parse_gpu_listing(total) == std::vector<AcceleratorUse>{{"gpu0", 7, 0, 0}});
  }
}

TEST_CASE("looks at GPUs: other lines and half a line are skipped", "[gpu]") {
  for (const char* text :
       {"", "\n", ",,,\n", "0, 87, 20480\n", "0, 87, 20480, 81559, 1\n", "-1, 87, 1, 2\n", "0, 4294967296, 1, 2\n",
        "0, 87 %, 1, 2\n", "0, 87, 20480, 815", "No devices were found\n",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
        "NVIDIA "
        "driver is installed and running.\n\n",
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n",
        "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this "
        "GPU\n",
        "Field \"utilization.gpu\" is not a valid field to query.\n\n"}) {
    CAPTURE(text);
    CHECK(os::parse_gpu_listing(text).empty());
  }
  CHECK(os::parse_gpu_listing("Unable to determine the device handle for GPU0: 0000:1B:00.0: Unknown Error\n"
                              "1, 5, 4, 40960\n2, 6, 4, 409")
            .size() == 1);
}

TEST_CASE("looks at GPUs: so many devices, and no more", "[gpu]") {
  std::string most;
  for (std::size_t i = 0; i <= kMostAccelerators; ++i) most += std::to_string(i) + ", 1, 4294967295, 4294967295\n";
  const std::vector<AcceleratorUse> found = os::parse_gpu_listing(most);
  REQUIRE(found.size() == kMostAccelerators);
  CHECK(found.back() == AcceleratorUse{"gpu63", 1, 4'294'967'295 * kMebibyte, 4'294'967'295 * kMebibyte});
}

TEST_CASE("looks at GPUs: nvidia-smi runs for a hundredth of the time", "[gpu]") {
  using std::chrono::milliseconds;
  CHECK(os::gpu_interval(milliseconds(0)) == milliseconds(1'000));
  CHECK(os::gpu_interval(milliseconds(10)) == milliseconds(1'000));
  CHECK(os::gpu_interval(milliseconds(45)) == milliseconds(4'500));
  CHECK(os::gpu_interval(std::chrono::seconds(10)) == milliseconds(30'000));
}
