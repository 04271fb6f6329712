// Detects whether a program uses MPI. The ranks of such a program need a launcher that serves PMI or PMIx; without one
// each of them runs alone, as rank 0 of 1. Pure: takes bytes of files and of /proc, returns names.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/program/elf_file.h"
#include "common/plan/ranks/job_shape.h"

namespace sml::plan {

// "/usr/lib/libmpi.so.40", "libmpich.so.12", "libmpi_cray.so.12", but not "libmpir.so.1".
bool is_mpi_library(std::string_view path);

// True for "/usr/bin/ompi_info" and the like: a tool that loads its MPI library but communicates with no other rank.
bool is_mpi_tool(std::string_view path);

// The interface by which an MPI library finds the other ranks.
enum class MpiDialect : std::uint8_t {
  Unknown,  // PMI if the library is of MPICH's family
  Pmi,
  Pmix,  // PMIx only
};
// The dialect of a library, by its name: "libmpich.so.12" → Pmi; "libmpi.so.40" (Open MPI) → Pmix.
MpiDialect dialect_of(std::string_view library);

// True if `pmi_mode` offers the interface to ranks of a library with this dialect. Ranks of an unknown dialect are
// offered both with PmiMode::Auto: see choice_variables().
bool offers_pmi(PmiMode pmi_mode, MpiDialect dialect);
bool offers_pmix(PmiMode pmi_mode, MpiDialect dialect);

// True if `pmi_mode` lets ranks of a library with this dialect find each other.
bool brings_together(PmiMode pmi_mode, MpiDialect dialect);

// True if each host determines the dialect of its programs itself.
bool is_chosen_by_hosts(PmiMode pmi_mode);

// Variables for ranks that are offered both interfaces: MPICH 5 aborts unless a variable selects one, other libraries
// ignore them. Empty if a variable in `theirs`, the user's variables, makes that choice.
std::vector<std::string> choice_variables(std::span<const std::string> theirs);

// The MPI library that an ELF program is linked with; empty if there is none.
std::string linked_mpi_library(const ReadAt& program);

// True if a process with these mapped files certainly uses MPI: its program (`executable`) is linked with an MPI
// library, or it has imported mpi4py without torch, whose ranks find each other in another way.
bool surely_begins_mpi(const ReadAt& executable, std::span<const std::string> mapped);

// Whether the program, or one that it starts, might use MPI. No: the file proves that it cannot, as it is linked only
// with the system's C, C++ and math libraries and imports no function that loads a library or starts a program.
enum class MpiChance : std::uint8_t { No, Yes };
// The launcher that serves MPI ranks: this one, or another that their variables name.
enum class MpiOwner : std::uint8_t { Us, Other };
// Looks at the program's file alone.
MpiChance mpi_chance(const ReadAt& program);

// Takes the program's variables into account: a preloaded library can do what the file alone cannot.
MpiChance mpi_chance(const ReadAt& program, std::span<const std::string> environment);

// The result of a host's look at a program before it runs.
struct MpiFinding {
  std::string library{};  // that the program is linked with; empty: none
  std::string seen_in{};  // another file that shows that the program would use Open MPI; empty: none
  MpiDialect dialect = MpiDialect::Unknown;
  MpiChance chance = MpiChance::Yes;
  MpiOwner owner = MpiOwner::Us;
  void fields(auto& a) { a(library, seen_in, dialect, chance, owner); }
  bool operator==(const MpiFinding&) const = default;
};

// True if another launcher, such as an mpirun that a worker has started, serves a process with these variables.
bool has_process_manager(std::span<const std::string> environment);

// The variables, as "NAME=VALUE", by which has_process_manager() recognizes a launcher.
std::vector<std::string> process_manager_entries(std::span<const std::string> environment);

// True if one of `entries`, the process_manager_entries() of a process's variables, is for the interface of its
// library's dialect, so that the process may still find the other ranks. With an unknown dialect any entry will do.
bool may_come(std::span<const std::string> entries, MpiDialect dialect);

// The files in the text of /proc/PID/maps, without duplicates.
std::vector<std::string> mapped_files(std::string_view maps);

// The MPI library with which a process with these mapped files runs alone; empty if there is none. Some builds of
// Horovod (if `environment` selects Gloo) and of torch are linked with MPI but find each other in another way: a
// library that only they need does not count. Reads the mapped files only if MPI is among them.
std::string mpi_library_in_use(std::span<const std::string> mapped, std::span<const std::string> environment,
                               const ReadFileAt& read);

}  // namespace sml::plan
