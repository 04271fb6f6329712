// Where torch is to serve who asks for stacks, and to record what the ranks do with each other. Pure.
//
// Source: torch/distributed/elastic/control_plane.py; ProcessGroupNCCL.cpp, DumpPipe, and FlightRecorder.cpp of torch
// 2.4 to 2.13: a byte into PIPE_FILE with the rank and ".pipe" makes NCCL's monitor, which looks each second, write all
// that is recorded into TEMP_FILE with the rank. No pipe is made where no buffer has been given a size. The names with
// NCCL are those up to torch 2.8; a newer one says once that they are old.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "common/core/strong.h"
#include "common/plan/worker_env.h"

namespace sml::agent {

struct TorchPlaces {
  std::string socket;           // of the server; empty: none
  std::string pipe;             // of the recorder
  std::string dump;             // what it writes
  plan::Environment variables;  // that the worker is to get
};

// A second server at one place ends its process by an exception, so that who starts processes of its own, such as
// torchrun, hands down none: it is offered to a Python script or module that is no launcher.
enum class ServerOffer : std::uint8_t { No, Yes };
ServerOffer server_offer(std::span<const std::string> command);

// In `folder`, unless the worker's own environment says where: what the user has set stays, and is looked for there. A
// name too long for a socket is none.
TorchPlaces torch_places(const std::string& folder, Rank rank, const plan::Environment& theirs, ServerOffer server);

}  // namespace sml::agent
