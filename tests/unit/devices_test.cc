#include "common/plan/machine/devices.h"

#include <map>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
// Folders and files of a host.
struct FakeHost {
  std::map<std::string, std::vector<std::string>> folders;
  std::map<std::string, std::string> files;

  Devices devices(const Environment& environment = {}) const {
    return find_devices([this](const std::string& path) { return files.count(path) > 0 ? files.at(path) : ""; },
                        [this](const std::string& path) {
                          return folders.count(path) > 0 ? folders.at(path) : std::vector<std::string>();
                        },
                        environment);
  }
};

std::string variables(const DeviceRequest& request, const Devices& devices, std::uint32_t local_rank) {
  const auto out = device_variables(request, devices, local_rank);
  if (out.has_error()) return out.error().message();
  std::string text;
  for (const std::string& entry : *out) text += (text.empty() ? "" : " ") + entry;
  return text;
}

constexpr DeviceRequest one_each{VisibleDevices::PerRank, 1};
constexpr DeviceRequest two_each{VisibleDevices::PerRank, 2};
}  // namespace

TEST_CASE("each worker gets devices of its own, of the maker that the host has") {
  FakeHost host;
  host.folders["/dev"] = {"null", "nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1", "nvidia2", "nvidia3"};
  CHECK(variables(one_each, host.devices(), 3) == "CUDA_VISIBLE_DEVICES=3");
  CHECK(variables(two_each, host.devices(), 1) == "CUDA_VISIBLE_DEVICES=2,3");
  host.folders["/dev"] = {"neuron0", "neuron1"};
  host.files["/sys/devices/virtual/neuron_device/neuron0/core_count"] = "4\n";
  CHECK(variables(two_each, host.devices(), 2) == "NEURON_RT_VISIBLE_CORES=4,5");
  host.folders["/dev"] = {"davinci0", "davinci1", "davinci_manager"};
  CHECK(variables(one_each, host.devices(), 1) == "ASCEND_RT_VISIBLE_DEVICES=1");
  host.folders["/dev"] = {"hl0", "hl1", "hl_controlD0"};
  CHECK(variables(one_each, host.devices(), 1) == "HABANA_VISIBLE_MODULES=1");
  host.folders["/dev"] = {};
  host.folders["/sys/class/kfd/kfd/topology/nodes"] = {"0", "1", "2"};
  host.files = {{"/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n"},
                {"/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "5122\n"},
                {"/sys/class/kfd/kfd/topology/nodes/2/gpu_id", "5123\n"}};
  CHECK(variables(one_each, host.devices(), 1) == "HIP_VISIBLE_DEVICES=1");
  host.folders = {{"/sys/class/drm", {"card0", "card1", "card1-DP-1", "renderD128"}}};
  host.files = {{"/sys/class/drm/card0/device/vendor", "0x1a03\n"}, {"/sys/class/drm/card1/device/vendor", "0x8086\n"}};
  CHECK(variables(one_each, host.devices(), 0) == "ZE_AFFINITY_MASK=0");
}

TEST_CASE("a list that the host's environment has is dealt out, not overruled") {
  FakeHost host;
  host.folders["/dev"] = {"nvidia0", "nvidia1", "nvidia2", "nvidia3"};
  CHECK(variables(one_each, host.devices({"CUDA_VISIBLE_DEVICES=2,3"}), 1) == "CUDA_VISIBLE_DEVICES=3");
  CHECK(variables(one_each, host.devices({"CUDA_VISIBLE_DEVICES=GPU-4f-1,MIG-a/1/0"}), 1) ==
        "CUDA_VISIBLE_DEVICES=MIG-a/1/0");
  CHECK(variables(two_each, host.devices({"NEURON_RT_VISIBLE_CORES=4-7"}), 1) == "NEURON_RT_VISIBLE_CORES=6,7");
  CHECK(variables(one_each, host.devices({"ROCR_VISIBLE_DEVICES=5"}), 0) == "ROCR_VISIBLE_DEVICES=5");
  CHECK(variables(one_each, host.devices({"CUDA_VISIBLE_DEVICES="}), 0) ==
        "local rank 0 cannot have 1 device of its own: none is found");
  CHECK(variables(one_each, host.devices({"ZE_AFFINITY_MASK="}), 3) == "CUDA_VISIBLE_DEVICES=3");
}

TEST_CASE("a list that hides devices, as -1 does, gives none of them out") {
  FakeHost host;
  host.folders["/dev"] = {"nvidia0", "nvidia1", "nvidia2", "nvidia3"};
  CHECK(host.devices({"CUDA_VISIBLE_DEVICES=-1"}).names.empty());
  CHECK(host.devices({"CUDA_VISIBLE_DEVICES=NoDevFiles"}).names.empty());
  CHECK(host.devices({"CUDA_VISIBLE_DEVICES=2,-1,3"}).names == std::vector<std::string>{"2"});
}

TEST_CASE("too few devices are an error, and none can be asked for") {
  FakeHost host;
  CHECK(variables(one_each, host.devices(), 0) == "local rank 0 cannot have 1 device of its own: none is found");
  host.folders["/dev"] = {"nvidia0", "nvidia1"};
  CHECK(variables(two_each, host.devices(), 1) ==
        "local rank 1 cannot have 2 devices of its own: there are only 2 NVIDIA GPUs");
  CHECK(variables({VisibleDevices::None, 1}, host.devices(), 9) == "CUDA_VISIBLE_DEVICES=-1 HIP_VISIBLE_DEVICES=-1");
  CHECK(variables({VisibleDevices::All, 1}, host.devices(), 9) == "");
}

TEST_CASE("a host without accelerators may do without where these are shared if there are any") {
  constexpr DeviceRequest if_any{VisibleDevices::PerRankIfAny, 1};
  FakeHost host;
  CHECK(variables(if_any, host.devices(), 0) == "");
  host.folders["/dev"] = {"nvidia0", "nvidia1"};
  CHECK(variables(if_any, host.devices(), 1) == "CUDA_VISIBLE_DEVICES=1");
  CHECK(variables(if_any, host.devices(), 2) ==
        "local rank 2 cannot have 1 device of its own: there are only 2 NVIDIA GPUs");
}
