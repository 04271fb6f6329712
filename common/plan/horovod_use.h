// How the processes of a host's Horovod find each other. Pure.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/plan/host_files.h"

namespace sml::plan {

// The file of Horovod by which the program's processes meet by MPI; empty: they meet at our store, or there is no
// Horovod. The program is a Python, or names one (named_programs()), whose Horovod is linked with an MPI library and
// knows no Gloo, or is told by its variables to use MPI. A Horovod that cannot be read is taken to know Gloo.
std::string horovod_over_mpi(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files);

// A Horovod that cannot meet as it is told.
struct HorovodMisfit {
  std::string file;
  std::string told;  // "HOROVOD_CONTROLLER=mpi"
};
// That of the program, where `told` (what the user says of the variables; others are set by us) names what it was built
// without: its processes would end in hvd.init(), by SIGSEGV (0.28.1). None, where one cannot be read, or where any of
// several that it might use was built with it.
std::optional<HorovodMisfit> horovod_misfit(const CommandLine& line, std::span<const std::string> environment,
                                            std::span<const std::string> told, const HostFiles& files);

// Whether these variables have Horovod's processes meet by MPI.
bool says_mpi(std::span<const std::string> environment);

// Whether the variable makes a Horovod meet at our store that could do otherwise: for one that knows no Gloo it is the
// end, by SIGSEGV (0.28.1, hvd.init()).
bool wants_gloo(std::string_view name);

}  // namespace sml::plan
