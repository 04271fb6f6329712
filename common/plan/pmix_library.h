// Whether a program needs PMIx, and where a host's libpmix may be. Pure: what files hold is asked of others.
//
// A libpmix that belongs to the program's own MPI library comes before others: a server of another build or version
// serves mostly as well, but that one surely does.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/host_files.h"

namespace sml::plan {

// The file by which Open MPI is what the program would use; empty: there is none. The program itself, where it is
// linked with it; a Python's mpi4py, if that is, or if it is the one of PyPI, which takes the first MPI library that is
// there, and that is one of Open MPI; its Horovod, where that meets by it; or the first of its named_programs() for
// which this is so, unless one of these is linked with MPICH.
std::string open_mpi_user(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files);

// In the order in which they are to be tried; the last is a name, for the system's own search. `program`: absolute;
// `environment`: its. Folders that the environment names relatively are not looked into.
std::vector<std::string> pmix_libraries(const std::string& program, std::span<const std::string> environment,
                                        const HostFiles& files);

}  // namespace sml::plan
