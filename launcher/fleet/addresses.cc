#include "launcher/fleet/addresses.h"

#include <algorithm>
#include <unordered_map>

#include "common/core/interfaces.h"

namespace sml::fleet {

namespace {

int errno_for(const HostProbe& probe, const std::string& address) {
  for (const wire::ProbeResult& result : probe.results) {
    if (result.address == address) return result.sys_errno;
  }
  return -1;  // not tried: does not count as reached
}

std::size_t count_reaching(std::span<const HostProbe> probes, const std::string& address) {
  return static_cast<std::size_t>(
      std::count_if(probes.begin(), probes.end(), [&](const HostProbe& p) { return errno_for(p, address) == 0; }));
}

bool reaches_any(const HostProbe& probe, std::span<const std::string> candidates) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const std::string& candidate) { return errno_for(probe, candidate) == 0; });
}

Error cannot_reach(const HostProbe& probe, std::string_view rank0_host, std::uint16_t port) {
  std::string tried;
  for (const wire::ProbeResult& result : probe.results) {
    if (result.sys_errno == 0) continue;
    if (!tried.empty()) tried += "; ";
    tried += result.address + " port " + std::to_string(port) + ": " + errno_text(result.sys_errno);
  }
  if (tried.empty()) tried = "no address is known";
  return Error(ErrorKind::Connect, "cannot reach rank 0 on " + std::string(rank0_host) + " (" + tried + ")")
      .with_hint("the hosts must reach each other over TCP: look at firewalls, security groups and routes");
}

}  // namespace

std::vector<std::string> believable_addresses(std::span<const std::string> reported, OnThisMachine here) {
  constexpr std::size_t kMost = 64;
  std::vector<std::string> out;
  for (const std::string& address : reported) {
    const AddressUse use = use_of_address(address);
    const bool loopback = here == OnThisMachine::Yes && use == AddressUse::ThisMachine;
    if (out.size() < kMost && (loopback || use == AddressUse::OtherHosts)) out.push_back(address);
  }
  return out;
}

std::vector<std::string> addresses_of_first(const HostAddresses& first, std::span<const std::string> locals) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& address) {
    if (!address.empty() && std::find(out.begin(), out.end(), address) == out.end()) out.push_back(address);
  };
  add(first.peer);
  if (first.here == OnThisMachine::Yes) {  // addresses from which the launcher reaches the others lead back to it
    for (const std::string& local : locals) add(local);
  }
  for (const std::string& address : first.own) add(address);
  return out;
}

std::vector<std::string> candidate_addresses(const std::string& wanted, const HostAddresses& first,
                                             std::span<const std::string> locals) {
  if (!wanted.empty()) return {wanted};
  std::vector<std::string> out = first.chosen.empty() ? addresses_of_first(first, locals) : first.chosen;
  if (out.size() > kMostTried) out.resize(kMostTried);
  return out;
}

std::string likely_address(const HostAddresses& host) {
  if (!host.chosen.empty()) return host.chosen.front();
  if (!host.peer.empty()) return host.peer;
  return host.own.empty() ? std::string() : host.own.front();
}

OwnershipChecks plan_ownership_checks(std::span<const wire::Caller> callers, std::span<const HostAddresses> hosts) {
  std::unordered_map<std::string_view, std::size_t> hosts_by_address;
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts_by_address.emplace(hosts[i].peer, i);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (const std::string& address : hosts[i].own) hosts_by_address.emplace(address, i);
  }
  OwnershipChecks out;
  for (const wire::Caller& caller : callers) {
    const auto found = hosts_by_address.find(caller.address);
    if (found == hosts_by_address.end()) {
      out.nobody.verdicts.push_back({caller.id, wire::PeerOwnership::Unknown});
    } else {
      out.by_host[found->second].callers.push_back(caller);
    }
  }
  return out;
}

ChosenAddress choose_address(std::span<const std::string> candidates, std::span<const HostProbe> probes,
                             std::string_view rank0_host, std::uint16_t port) {
  ChosenAddress chosen;
  std::string best;
  std::size_t best_count = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t count = count_reaching(probes, candidate);
    if (count == probes.size()) {
      chosen.address = candidate;
      return chosen;
    }
    if (best.empty() || count > best_count) {
      best = candidate;
      best_count = count;
    }
  }
  for (const HostProbe& probe : probes) {
    if (!reaches_any(probe, candidates)) chosen.faults.push_back({probe.index, cannot_reach(probe, rank0_host, port)});
  }
  if (!chosen.faults.empty()) return chosen;
  for (const HostProbe& probe : probes) {
    if (errno_for(probe, best) != 0) chosen.faults.push_back({probe.index, cannot_reach(probe, rank0_host, port)});
  }
  return chosen;
}

}  // namespace sml::fleet
