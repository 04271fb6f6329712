// The hosts of a job as its batch system tells them: one function for each, in a file of its name. None connects to
// anything; what they read is in their files.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/hosts/surroundings.h"

namespace sml::hosts {

FoundHosts slurm_hosts(const Surroundings& s);
FoundHosts pbs_hosts(const Surroundings& s);
FoundHosts lsf_hosts(const Surroundings& s);
FoundHosts sge_hosts(const Surroundings& s);
FoundHosts flux_hosts(const Surroundings& s);
FoundHosts oar_hosts(const Surroundings& s);
FoundHosts cobalt_hosts(const Surroundings& s);
FoundHosts aws_batch_hosts(const Surroundings& s);
FoundHosts pytorchjob_hosts(const Surroundings& s);
FoundHosts kubernetes_hosts(const Surroundings& s);
FoundHosts mpi_hosts(const Surroundings& s);

struct BatchSystem {
  std::string_view name;   // as --host-source has it
  std::string_view needs;  // what shows that we are in a job of its
  FoundHosts (*find)(const Surroundings&);
};

// In the order in which they are asked.
std::span<const BatchSystem> batch_systems();

// ---- shared by these functions

// The first of the variables that is set, with its name.
struct NamedValue {
  std::string name;
  std::string value;
};
std::optional<NamedValue> first_set(const Surroundings& s, std::span<const std::string_view> names);

// The hosts of the file that a variable names. `source` as in HostList, "PBS_NODEFILE /var/spool/x".
FoundHosts hosts_of_file(const Surroundings& s, const NamedValue& variable);

// The same for files with a line for each slot: a host that comes once has one.
FoundHosts hosts_of_slot_file(const Surroundings& s, const NamedValue& variable);

}  // namespace sml::hosts
