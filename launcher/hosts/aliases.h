// Merges hosts that are one machine under several names. Pure; resolves no names.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

// Merges the hosts that are this machine, whose names are `own_names`, unless they have a user or a port. The first one
// keeps its position and gets the slots of all. Every host must have its slots filled in. Returns a warning for each
// host that was removed. Error (Usage): too many slots.
Result<std::vector<std::string>> merge_aliases(std::vector<plan::Host>& hosts, std::span<const std::string> own_names);

// The names of one machine; the first one is used.
using MachineNames = std::vector<std::string>;

// A host as the job names it, and the machine id that its agent reports.
struct SeenHost {
  const plan::Host& host;
  std::string machine;  // equal for hosts on one machine; empty: unknown
};

// Returns the machines to which several of the hosts belong. Hosts with different users or ports stay separate, as the
// user has asked for that.
std::vector<MachineNames> find_machines(std::span<const SeenHost> hosts);

// Replaces the hosts of each machine by one host at the position of the first, with the slots of all. Every host must
// have its slots filled in. Returns warnings and errors as merge_aliases() does.
Result<std::vector<std::string>> merge_machines(std::vector<plan::Host>& hosts, std::span<const MachineNames> machines);

// Adds machines that were found among hosts already merged by `known`.
void add_machines(std::vector<MachineNames>& known, std::vector<MachineNames> found);

// The name that is used for the machine of this host; `name` itself if it is in none of `machines`.
const std::string& name_of_machine(const std::string& name, std::span<const MachineNames> machines);

}  // namespace sml::hosts
