#include "launcher/agent/os/host_use.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("accelerators are those whose driver tells how busy they are") {
  std::string top = "/tmp/sml-drm-XXXXXX";
  REQUIRE(::mkdtemp(top.data()) != nullptr);
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(top + "/" + name).parent_path());
    std::ofstream(top + "/" + name) << text;
  };
  put("card1/device/gpu_busy_percent", "87\n");
  put("card1/device/mem_info_vram_used", "1073741824\n");
  put("card1/device/mem_info_vram_total", "68719476736\n");
  put("card1-DP-1/device/gpu_busy_percent", "1\n");
  put("card0/device/vendor", "0x10de\n");
  put("card2/device/gpu_busy_percent", "999\n");
  put("renderD128/device/gpu_busy_percent", "5\n");
  const std::vector<std::string> found = os::accelerators_in(top);
  CHECK(found == std::vector<std::string>{top + "/card1", top + "/card2"});
  CHECK(os::use_of(found.at(0)) == AcceleratorUse{"card1", 87, 1073741824, 68719476736});
  CHECK(os::use_of(found.at(1)) == AcceleratorUse{"card2", 100, 0, 0});
  std::filesystem::remove_all(top);
  CHECK(os::accelerators_in(top).empty());
}
