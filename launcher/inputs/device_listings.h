// Parses the listings of device tools; this_host.cc runs the tools. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace sml {

// GPUs in the output of `nvidia-smi -L`; slices of a GPU (MIG) are not counted.
std::uint32_t gpus_in_listing(std::string_view nvidia_smi_output);

// The number of GPUs that CUDA_VISIBLE_DEVICES makes visible: workers on this machine see no others. Unset: all.
std::uint32_t visible_gpus(std::uint32_t gpus, std::optional<std::string_view> visible_devices);

// NeuronCores in the output of `neuron-ls --json-output`: the sum of all "nc_count".
std::uint32_t neuron_cores_in_listing(std::string_view neuron_ls_output);

}  // namespace sml
