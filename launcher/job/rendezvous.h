// Which address of rank 0's host the workers are told. Pure.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"

namespace sml::job {

// What one host found when it tried the candidates.
struct HostProbe {
  HostIndex index;
  std::vector<wire::ProbeResult> results;
};

// A host that cannot reach rank 0's host.
struct ProbeFault {
  HostIndex index;
  Error why;
};

struct ChosenAddress {
  std::string address;  // empty when there are faults
  std::vector<ProbeFault> faults;
};

// The first candidate that every host has reached. Otherwise a fault for each host that reached none, with what became
// of each candidate; or, when every host reached some but none is common, one for each host that missed the candidate
// that most hosts reach.
ChosenAddress choose_address(std::span<const std::string> candidates, std::span<const HostProbe> probes,
                             std::string_view rank0_host, std::uint16_t port);

}  // namespace sml::job
