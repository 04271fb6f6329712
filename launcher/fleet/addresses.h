// Chooses the address of rank 0's host that the workers receive, and finds the host that an address belongs to. Pure.
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

// How long a host tries to connect to the candidates.
inline constexpr Duration kProbeTimeout = std::chrono::seconds(5);

enum class OnThisMachine : std::uint8_t { No, Yes };

// The known addresses of one host.
struct HostAddresses {
  OnThisMachine here = OnThisMachine::No;  // whether it is the launcher's machine
  std::string local;                       // the launcher's end of the connection to it; empty: unknown
  std::string peer;                        // the host's end; empty: unknown
  std::vector<std::string> own;            // as its agent reports them
  std::vector<std::string> chosen;         // of the interfaces that the user chose; empty: the user chose none
};

// Filters the addresses that a host's agent reports, since other hosts connect to them, and accept connections from
// them, without further proof. Keeps those by which other hosts can reach a host, loopback addresses for the launcher's
// own machine, and 64 addresses at most.
std::vector<std::string> believable_addresses(std::span<const std::string> reported, OnThisMachine here);

// Addresses by which other hosts may reach the first one, most likely first: those that connections have proved, then
// those that its agent reports. `locals`: the launcher's ends of the connections to all hosts.
std::vector<std::string> addresses_of_first(const HostAddresses& first, std::span<const std::string> locals);

// The addresses that the other hosts try: `wanted` alone unless it is empty, else those of the chosen interfaces, else
// all. At most kMostTried, because rank 0's host reports them and so decides where the others connect to.
inline constexpr std::size_t kMostTried = 16;
std::vector<std::string> candidate_addresses(const std::string& wanted, const HostAddresses& first,
                                             std::span<const std::string> locals);

// The address at which other hosts most likely reach a host; empty: none is known.
std::string likely_address(const HostAddresses& host);

// The question for each host: which of the connections from its addresses belong to the job?
struct OwnershipChecks {
  std::map<std::size_t, wire::CheckPeerOwnership> by_host;  // key: the index in `hosts`
  wire::PeerVerdicts nobody;  // the answer for callers whose address belongs to no host: Unknown
};

// Assigns each caller to the host whose connection to the launcher comes from the caller's address, else to the first
// host whose agent reports that address.
OwnershipChecks plan_ownership_checks(std::span<const wire::Caller> callers, std::span<const HostAddresses> hosts);

// The results of one host's probes of the candidates.
struct HostProbe {
  HostIndex index;
  std::vector<wire::ProbeResult> results;
};

// The error for a host that cannot reach rank 0's host.
struct ProbeFault {
  HostIndex index;
  Error why;
};

struct ChosenAddress {
  std::string address;  // empty if there are faults
  std::vector<ProbeFault> faults;
};

// Returns the first candidate that every host of `probes` has reached. If there is none, returns an error for each host
// that reached no candidate, with the result for each; or, if every host reached some candidate, an error for each host
// that did not reach the candidate that most hosts reach. `rank0_host` and `port` are for the texts.
ChosenAddress choose_address(std::span<const std::string> candidates, std::span<const HostProbe> probes,
                             std::string_view rank0_host, std::uint16_t port);

}  // namespace sml::fleet
