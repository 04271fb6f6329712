// Paths and variables with which torch serves stacks to this agent and records the operations of the ranks. Pure.
//
// Source: torch/distributed/elastic/control_plane.py; ProcessGroupNCCL.cpp, DumpPipe, and FlightRecorder.cpp of torch
// 2.4 to 2.13: a byte written to the pipe, PIPE_FILE followed by the rank and ".pipe", makes NCCL's monitor, which
// polls once a second, write all records to TEMP_FILE followed by the rank. torch makes no pipe if the buffer size is
// not set. The names with NCCL are those up to torch 2.8; newer versions warn once that they are deprecated.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "common/core/strong.h"
#include "common/plan/environment/worker_env.h"

namespace sml::agent {

struct TorchPlaces {
  std::string socket;           // of the server; empty: none
  std::string pipe;             // of the recorder
  std::string dump;             // the file that the recorder writes
  plan::Environment variables;  // for the worker
};

// A second server at the same path ends its process by an exception. A program that starts processes of its own, such
// as torchrun, passes its environment on; the server is therefore only offered to Python scripts and modules that are
// no launchers.
enum class ServerOffer : std::uint8_t { No, Yes };
ServerOffer server_offer(std::span<const std::string> command);

// The paths are in `folder`, unless the worker's own environment sets them: the user's settings stay, and are used. A
// path too long for a socket is left out.
TorchPlaces torch_places(const std::string& folder, Rank rank, const plan::Environment& theirs, ServerOffer server);

}  // namespace sml::agent
