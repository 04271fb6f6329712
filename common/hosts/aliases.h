// Hosts that are one machine under several names.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

// Merges the hosts that are called by one of `own_names` and have neither user nor port: their slots add up at the
// place of the first. Every host must have its slots filled in. Nothing is resolved. Answers a warning for each host
// that went. Error (Usage): too many slots.
Result<std::vector<std::string>> merge_aliases(std::vector<plan::Host>& hosts, std::span<const std::string> own_names);

// The names of one machine, the first of which it goes by.
using MachineNames = std::vector<std::string>;

// A host as the job names it, and what its agent says of the machine.
struct SeenHost {
  const plan::Host& host;
  std::string machine;  // equal on one machine; empty: it does not say
};

// The machines that several of the hosts are; those with another user or port than the first stay apart, as the user
// has asked for that.
std::vector<MachineNames> find_machines(std::span<const SeenHost> hosts);

// Makes one host of those that are one machine, at the place of the first, with the slots of all. Every host must have
// its slots filled in. Answers and fails as merge_aliases() does.
Result<std::vector<std::string>> merge_machines(std::vector<plan::Host>& hosts, std::span<const MachineNames> machines);

// Adds what has been found of hosts that `known` has made one.
void add_machines(std::vector<MachineNames>& known, std::vector<MachineNames> found);

// By what name a host goes.
const std::string& name_of_machine(const std::string& name, std::span<const MachineNames> machines);

}  // namespace sml::hosts
