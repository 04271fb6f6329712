// Determines how the Horovod processes of a host find each other. Pure.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/plan/program/host_files.h"

namespace sml::plan {

// Returns the file of Horovod's extension library that makes the program's processes find each other by MPI; empty if
// they use the agent's store, or if there is no Horovod. Looks for Horovod if the program is a Python interpreter or
// names one (named_programs()). The library is one that is linked with an MPI library, and that was built without Gloo
// or for which the variables select MPI. A library that cannot be read counts as built with Gloo.
std::string horovod_over_mpi(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files);

// A Horovod that was built without the controller that its variables select.
struct HorovodMisfit {
  std::string file;      // Horovod's extension library
  std::string variable;  // the variable that selects the controller: "HOROVOD_CONTROLLER=mpi"
};
// Returns the program's Horovod if `variables` (the user's variables; all others are set by the launcher) selects a
// controller that it was built without: its processes would die in hvd.init() by SIGSEGV (Horovod 0.28.1). Returns
// nullopt if a Horovod cannot be read, or if any of several that the program might use was built with that controller.
std::optional<HorovodMisfit> horovod_misfit(const CommandLine& line, std::span<const std::string> environment,
                                            std::span<const std::string> variables, const HostFiles& files);

// True if these variables make Horovod's processes find each other by MPI.
bool sets_mpi(std::span<const std::string> environment);

// True for the names of the variables by which the launcher selects Gloo. They are withheld from a Horovod that was
// built without it, which they would make die by SIGSEGV (Horovod 0.28.1, hvd.init()).
bool selects_controller(std::string_view name);

}  // namespace sml::plan
