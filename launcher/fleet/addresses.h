// Which address of rank 0's host the workers receive, and which host an address belongs to. Pure.
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

// The time for which a host tries an address.
inline constexpr Duration kProbeTimeout = std::chrono::seconds(5);

enum class OnThisMachine : std::uint8_t { No, Yes };

// The known addresses of one host.
struct HostAddresses {
  OnThisMachine here = OnThisMachine::No;
  std::string local;                // the launcher's end of the connection to it; empty: unknown
  std::string peer;                 // the host's end; empty: unknown
  std::vector<std::string> own;     // as its agent reports them
  std::vector<std::string> chosen;  // of the interfaces that the user chose
};

// Filters the addresses that a host's agent reports: keeps those that such a host can have, and at most as many as a
// machine has network cards. Other hosts connect to them, and accept them, on the agent's word alone.
std::vector<std::string> believable_addresses(std::span<const std::string> told, OnThisMachine here);

// Addresses by which other hosts may reach the first one, most likely first: those that connections have proved, then
// those that its agent reports. `locals`: the launcher's ends of the connections to all hosts.
std::vector<std::string> addresses_of_first(const HostAddresses& first, std::span<const std::string> locals);

// The addresses that the other hosts try: `wanted` alone unless it is empty, else those of the chosen interfaces, else
// all. At most kMostTried, because rank 0's host decides where the others connect to.
inline constexpr std::size_t kMostTried = 16;
std::vector<std::string> candidate_addresses(const std::string& wanted, const HostAddresses& first,
                                             std::span<const std::string> locals);

// The address at which other hosts most likely reach a host; empty: none is known.
std::string likely_address(const HostAddresses& host);

// Which host checks the ownership of which callers.
struct OwnershipChecks {
  std::map<std::size_t, wire::CheckPeerOwnership> by_host;  // index in `hosts`
  wire::PeerVerdicts nobody;                                // callers whose address belongs to no host
};

// Assigns a caller to the host whose connection shows its address, else to the first host that has the address.
OwnershipChecks plan_ownership_checks(std::span<const wire::Caller> callers, std::span<const HostAddresses> hosts);

// The results of one host's probes of the candidates.
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
  std::string address;  // empty if there are faults
  std::vector<ProbeFault> faults;
};

// Returns the first candidate that every host has reached. Otherwise returns a fault for each host that reached none,
// with the result for each candidate; or, if every host reached some but none is common, one for each host that did not
// reach the candidate that most hosts reach.
ChosenAddress choose_address(std::span<const std::string> candidates, std::span<const HostProbe> probes,
                             std::string_view rank0_host, std::uint16_t port);

}  // namespace sml::fleet
