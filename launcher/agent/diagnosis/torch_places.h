// The paths and variables by which torch, in a worker, serves its stacks to this agent and records its collective
// operations (the flight recorder). Pure.
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
  std::string socket;           // of torch's worker server; empty: none
  std::string pipe;             // of the flight recorder
  std::string dump;             // the file that the recorder writes
  plan::Environment variables;  // for the worker; without those that it sets itself
};

// Whether a worker gets the path of a worker server. A second server at the same path ends its process by an exception,
// and a program that starts processes of its own, such as torchrun, passes its environment on: so only Python scripts,
// and modules that are no launchers, get one. `command`: the worker's program and arguments.
enum class ServerOffer : std::uint8_t { No, Yes };
ServerOffer server_offer(std::span<const std::string> command);

// Returns paths in `folder`, except where `theirs`, the worker's own environment, sets them: the user's settings stay,
// and are returned. If the socket's path would be too long, there is no socket.
TorchPlaces torch_places(const std::string& folder, Rank rank, const plan::Environment& theirs, ServerOffer server);

}  // namespace sml::agent
