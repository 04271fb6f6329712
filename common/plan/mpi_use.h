// Whether a program speaks MPI: then its ranks wait for a launcher that knows PMI or PMIx, and where there is none each
// of them runs alone, as rank 0 of 1. Pure: bytes of files and of /proc in, names out.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/elf_file.h"
#include "common/plan/job_shape.h"

namespace sml::plan {

// "/usr/lib/libmpi.so.40", "libmpich.so.12", "libmpi_cray.so.12", but not "libmpir.so.1".
bool is_mpi_library(std::string_view path);

// "/usr/bin/ompi_info": comes with a library, loads it and speaks to nobody.
bool is_mpi_tool(std::string_view path);

// By what a library finds the other ranks.
enum class MpiSpeech : std::uint8_t {
  Unknown,  // PMI, if it is of MPICH's family
  Pmi,
  Pmix,  // only
};
// "libmpich.so.12" → Pmi, "libmpi.so.40" → Pmix: Open MPI.
MpiSpeech speech_of(std::string_view library);

// Whether `meeting` offers it to ranks whose library speaks so. Both where it is unknown: see choice_variables().
bool offers_pmi(MpiMeeting meeting, MpiSpeech speech);
bool offers_pmix(MpiMeeting meeting, MpiSpeech speech);

// Whether `meeting` brings ranks together whose library speaks so.
bool brings_together(MpiMeeting meeting, MpiSpeech speech);

// Whether each host looks for itself what its programs speak.
bool is_chosen_by_hosts(MpiMeeting meeting);

// For ranks that are offered both, where MPICH 5 ends unless it is told which to take. Others do not read it. Nothing
// where the user, by `theirs`, has chosen.
std::vector<std::string> choice_variables(std::span<const std::string> theirs);

// The MPI library that an ELF program is linked with; empty: none.
std::string linked_mpi_library(const ReadAt& program);

// Whether a process with these mapped files surely begins MPI: its program (`executable`) is linked with a library, or
// it has imported mpi4py, and nothing of torch, whose ranks meet otherwise.
bool surely_begins_mpi(const ReadAt& executable, std::span<const std::string> mapped);

// Whether the program, or one that it starts, might speak MPI. No: the file proves that it cannot. It is linked with
// the system's C, C++ and mathematics alone, and imports nothing by which it could load a library or start a program.
enum class MpiChance : std::uint8_t { No, Yes };
// Whoever brings its ranks together: we, or a launcher that its variables name.
enum class MpiOwner : std::uint8_t { Us, Other };
MpiChance mpi_chance(const ReadAt& program);

// The same of a program that gets these variables: a library that is put before all others can do what the file cannot.
MpiChance mpi_chance(const ReadAt& program, std::span<const std::string> environment);

// What a host finds of a program before it runs.
struct MpiFinding {
  std::string library{};  // that it is linked with; empty: none
  std::string seen_in{};  // another file by which Open MPI is what it would use; empty: none
  MpiSpeech speech = MpiSpeech::Unknown;
  MpiChance chance = MpiChance::Yes;
  MpiOwner owner = MpiOwner::Us;
  void fields(auto& a) { a(library, seen_in, speech, chance, owner); }
  bool operator==(const MpiFinding&) const = default;
};

// Whether some other launcher, such as an mpirun that a worker has started, serves a process with these variables.
bool has_process_manager(std::span<const std::string> environment);

// Those of the entries by which has_process_manager() knows one.
std::vector<std::string> process_manager_entries(std::span<const std::string> environment);

// Whether a process may yet find the others whose variables hold these process_manager_entries(), and whose library
// speaks so.
bool may_come(std::span<const std::string> entries, MpiSpeech speech);

// The files in the text of /proc/PID/maps, each once.
std::vector<std::string> mapped_files(std::string_view maps);

// The MPI library by which a process with these files runs alone; empty: none. Horovod (where `environment` has it use
// Gloo) and torch are linked with MPI in some builds, but meet otherwise: a library that only they need is none. Reads
// the mapped files only where MPI is among them.
std::string mpi_library_in_use(std::span<const std::string> mapped, std::span<const std::string> environment,
                               const ReadFileAt& read);

}  // namespace sml::plan
