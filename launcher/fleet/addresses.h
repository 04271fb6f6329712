// Which address of rank 0's host the workers are told, and who is behind an address. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"

namespace sml::fleet {

// How long a host tries an address.
inline constexpr Duration kProbeTimeout = std::chrono::seconds(5);

enum class OnThisMachine : std::uint8_t { No, Yes };

// What is known of the addresses of one host.
struct HostAddresses {
  OnThisMachine here = OnThisMachine::No;
  std::string local;                // our end of the connection to it; empty: unknown
  std::string peer;                 // its end; empty: unknown
  std::vector<std::string> own;     // as its agent tells them
  std::vector<std::string> chosen;  // of the interfaces that the user asks for
};

// Of the addresses that a host's agent tells, those that such a host can have, and no more than the most cards that a
// machine has: other hosts try them, and let them in, on its word alone.
std::vector<std::string> believable_addresses(std::span<const std::string> told, OnThisMachine here);

// By which other hosts may reach the first one, the likeliest first: what connections have proved, then what its agent
// sees.
std::vector<std::string> addresses_of_first(std::span<const HostAddresses> hosts);

// Those that the other hosts try: `wanted` alone unless it is empty, else those of the chosen interfaces, else all; at
// most kMostTried, as it is rank 0's host that says where the others are to knock.
inline constexpr std::size_t kMostTried = 16;
std::vector<std::string> candidate_addresses(const std::string& wanted, std::span<const HostAddresses> hosts);

// At which others reach a host, as far as is known; empty: nothing is.
std::string likely_address(const HostAddresses& host);

// Which host is to vouch for whom.
struct VouchPlan {
  std::map<std::size_t, wire::Vouch> by_host;  // index in `hosts`
  wire::Ruled nobody;                          // whose address is no host's
};

// A caller belongs to the host whose connection shows its address, else to the first that has it.
VouchPlan plan_vouching(std::span<const wire::Caller> callers, std::span<const HostAddresses> hosts);

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

}  // namespace sml::fleet
