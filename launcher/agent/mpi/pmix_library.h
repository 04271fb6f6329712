// Determines whether a program uses Open MPI, whose ranks meet by PMIx, and where a host's libpmix may be. Loads
// nothing: reads files through HostFiles, on the caller's thread, some MiB of them.
//
// A libpmix that belongs to the program's own MPI library certainly works as server for this program. One of another
// build or version works in most cases.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/program/host_files.h"

namespace sml::plan {

// Returns the path that shows that the program would use Open MPI; empty if there is none. It is the first of these:
// - the program itself, if it is linked with Open MPI;
// - its Horovod, if that uses MPI and is linked with Open MPI;
// - the folder of its Python's mpi4py, if that is linked with Open MPI, or is the build of PyPI, which loads the first
//   MPI library that it finds, and that library is Open MPI;
// - a program that its command line names (named_programs() in command_line.h) to which one of the above applies,
//   unless another that it names is linked with MPICH.
std::string open_mpi_user(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files);

// Returns the libpmix files to try, in that order: from LD_LIBRARY_PATH, beside the program's MPI library, from other
// usual folders, and last a bare name, for the system's own search. The caller judges whose they are. `program` is
// absolute; `environment` is the program's. Relative folders in the environment are ignored.
std::vector<std::string> pmix_libraries(const std::string& program, std::span<const std::string> environment,
                                        const HostFiles& files);

// Returns the folder above lib/ of the program's Open MPI, if that is not the folder for which it was built: it then
// finds its message files and plug-ins only by the variable OPAL_PREFIX, which the mpirun beside it sets. Empty for any
// other program.
std::string moved_open_mpi(const std::string& program, std::span<const std::string> environment,
                           const HostFiles& files);

}  // namespace sml::plan
