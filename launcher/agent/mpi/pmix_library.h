// Determines whether a program needs PMIx, and where a host's libpmix may be. Pure: reads files only through HostFiles.
//
// A libpmix that belongs to the program's own MPI library is preferred, as it certainly works as server for this
// program. One of another build or version works in most cases.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/program/host_files.h"

namespace sml::plan {

// Returns the file that shows that the program would use Open MPI; empty if there is none. This is the program itself,
// if it is linked with Open MPI; its Horovod, if that uses MPI and is linked with Open MPI; a Python's mpi4py, if it is
// linked with Open MPI, or if it is the build of PyPI, which loads the first MPI library that it finds, and that
// library is Open MPI; or the first of its named_programs() to which this applies, unless one of these is linked with
// MPICH.
std::string open_mpi_user(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files);

// Returns the libpmix files that may be loaded, in the order in which to try them; the last one is a bare name, for the
// system's own search. `program` is absolute; `environment` is the program's. Relative folders in the environment are
// ignored.
std::vector<std::string> pmix_libraries(const std::string& program, std::span<const std::string> environment,
                                        const HostFiles& files);

// Returns the folder above lib/ of the program's Open MPI, if that was built for installation in another folder: it
// then finds its message files and plug-ins only by the variable OPAL_PREFIX, which the mpirun beside it sets. Empty
// for any other program.
std::string moved_open_mpi(const std::string& program, std::span<const std::string> environment,
                           const HostFiles& files);

}  // namespace sml::plan
