// What the listings of device tools say: pure, machine.cc runs the tools. Reading what somebody may still write.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml {

// GPUs in the output of `nvidia-smi -L`; slices of a GPU (MIG) are not counted.
std::uint32_t gpus_in_listing(std::string_view nvidia_smi_output);

// How many of them CUDA_VISIBLE_DEVICES leaves: workers on this machine see no others. Unset leaves all.
std::uint32_t visible_gpus(std::uint32_t gpus, std::optional<std::string_view> visible_devices);

// NeuronCores in the output of `neuron-ls --json-output`: the sum of all "nc_count".
std::uint32_t neuron_cores_in_listing(std::string_view neuron_ls_output);

// What comes from a non-blocking descriptor until its end, at most `limit` bytes; a pipe may take 30 s for each piece.
// Error (Config).
Result<std::string> read_to_end(int fd, std::size_t limit);

}  // namespace sml
