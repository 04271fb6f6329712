// The hosts of a job according to its batch system: one function for each system, in a file of that name, in
// kubernetes.cc or in launcher/hosts/cloud.cc. Each returns nullopt if sml-run does not run in a job of that system,
// see FoundHosts. None of them opens a connection; the files name the documents on which they are based.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launcher/hosts/source_context.h"

namespace sml::hosts {

FoundHosts slurm_hosts(const SourceContext& s);
FoundHosts pbs_hosts(const SourceContext& s);
FoundHosts lsf_hosts(const SourceContext& s);
FoundHosts sge_hosts(const SourceContext& s);
FoundHosts flux_hosts(const SourceContext& s);
FoundHosts oar_hosts(const SourceContext& s);
FoundHosts aws_batch_hosts(const SourceContext& s);
FoundHosts skypilot_hosts(const SourceContext& s);
FoundHosts dstack_hosts(const SourceContext& s);
FoundHosts lws_hosts(const SourceContext& s);
FoundHosts volcano_hosts(const SourceContext& s);
FoundHosts pytorchjob_hosts(const SourceContext& s);
FoundHosts kubernetes_hosts(const SourceContext& s);
FoundHosts mpi_hosts(const SourceContext& s);

struct BatchSystem {
  std::string_view name;   // value of --host-source
  std::string_view needs;  // the variables that show that sml-run runs in such a job
  FoundHosts (*find)(const SourceContext&);
};

// In the order in which they are tried.
std::span<const BatchSystem> batch_systems();

// ---- shared by these functions

// A variable that is set, and its value.
struct NamedValue {
  std::string name;
  std::string value;
};
// The first of these variables that is set; nullopt if none is.
std::optional<NamedValue> first_set(const SourceContext& s, std::span<const std::string_view> names);

// Reads the hosts from the file that a variable names. `source` as in HostList, "PBS_NODEFILE /var/spool/x".
FoundHosts hosts_of_file(const SourceContext& s, const NamedValue& variable);

// The same for files with one line per slot: a host without a number of slots gets 1, which is right for a host that is
// listed once.
FoundHosts hosts_of_slot_file(const SourceContext& s, const NamedValue& variable);

}  // namespace sml::hosts
