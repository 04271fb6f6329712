#include "common/plan/program/mpi_use.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "common/core/text.h"
#include "common/plan/variables.h"

namespace sml::plan {

namespace {

// ---- names

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// True for a file of an MPI library itself: such files need the library, but are not programs that use it.
bool belongs_to_mpi(std::string_view path) {
  const std::string_view name = file_name(path);
  return is_mpi_library(path) || name.starts_with("mca_") || path.find("/openmpi/") != std::string_view::npos;
}

// True for a library of the C or C++ runtime; these need only each other. "ld-linux-x86-64.so.2".
bool is_of_the_language(std::string_view library) {
  constexpr std::array<std::string_view, 7> kNames{"libc.so.6",     "libm.so.6",      "libpthread.so.0", "librt.so.1",
                                                   "libgcc_s.so.1", "libstdc++.so.6", "ld-linux"};
  return std::any_of(kNames.begin(), kNames.end(), [=](std::string_view name) { return library.starts_with(name); });
}

// Parts of function names: they also match some harmless names, but miss none that matters.
constexpr std::array<std::string_view, 9> kStarters{"exec",    "spawn", "system",  "popen",  "dlopen",
                                                    "dlmopen", "dlsym", "wordexp", "syscall"};

constexpr std::uint64_t kMostSymbols = std::uint64_t{64} << 10;  // bytes of names; larger programs may do anything

bool has_horovod_at_store(std::span<const std::string> environment) {
  return std::find(environment.begin(), environment.end(), "HOROVOD_CONTROLLER=gloo") != environment.end();
}

bool meets_without_mpi(std::string_view path, std::span<const std::string> environment) {
  if (file_name(path).starts_with("libtorch")) return true;
  return path.find("/horovod/") != std::string_view::npos && has_horovod_at_store(environment);
}

std::string mpi_library_among(const std::vector<std::string>& names) {
  const auto found = std::find_if(names.begin(), names.end(), is_mpi_library);
  return found == names.end() ? std::string() : *found;
}

}  // namespace

bool is_mpi_tool(std::string_view path) { return file_name(path) == "ompi_info" || file_name(path) == "oshmem_info"; }

bool is_mpi_library(std::string_view path) {
  constexpr std::array<std::string_view, 6> kNames{"libmpi.so", "libmpi_",    "libmpich",
                                                   "libmpicxx", "libmpifort", "libmpi++"};
  const std::string_view name = file_name(path);
  if (name.find(".so") == std::string_view::npos) return false;
  return std::any_of(kNames.begin(), kNames.end(), [name](std::string_view begin) { return name.starts_with(begin); });
}

// Open MPI's library versions are 0 (1.2), 20 (2), 40 (4, 5) and 80 (6). Version 12 is common to MPICH, Intel MPI and
// MVAPICH; Open MPI 1.7 to 1.10 also had it, but supported neither interface.
MpiDialect dialect_of(std::string_view library) {
  constexpr std::array<std::string_view, 5> kOpenMpi{"libmpi.so.20", "libmpi.so.40", "libmpi.so.80", "libmpi_mpifh.so",
                                                     "libmpi_usempi"};
  constexpr std::array<std::string_view, 5> kPmi{"libmpi.so.12", "libmpich", "libmpicxx.so.12", "libmpifort.so.12",
                                                 "libmpi_cray"};
  const auto begins = [name = file_name(library)](std::string_view begin) { return name.starts_with(begin); };
  if (std::any_of(kOpenMpi.begin(), kOpenMpi.end(), begins)) return MpiDialect::Pmix;
  return std::any_of(kPmi.begin(), kPmi.end(), begins) ? MpiDialect::Pmi : MpiDialect::Unknown;
}

bool offers_pmi(PmiMode pmi_mode, MpiDialect dialect) {
  const bool at_all = pmi_mode != PmiMode::None && pmi_mode != PmiMode::Pmix;
  return at_all && dialect != MpiDialect::Pmix;
}

bool offers_pmix(PmiMode pmi_mode, MpiDialect dialect) {
  return pmi_mode == PmiMode::Pmix || (is_chosen_by_hosts(pmi_mode) && dialect != MpiDialect::Pmi);
}

bool is_chosen_by_hosts(PmiMode pmi_mode) { return pmi_mode == PmiMode::Auto; }

std::vector<std::string> choice_variables(std::span<const std::string> theirs) {
  const std::string name = "MPIR_CVAR_PMI_VERSION";
  if (find_variable(theirs, name) != nullptr) return {};
  return {name + "=1"};
}

bool brings_together(PmiMode pmi_mode, MpiDialect dialect) {
  if (pmi_mode == PmiMode::Pmix) return dialect != MpiDialect::Pmi;
  return offers_pmi(pmi_mode, dialect) || offers_pmix(pmi_mode, dialect);
}

std::string linked_mpi_library(const ReadAt& program) { return mpi_library_among(needed_libraries(program)); }

bool surely_begins_mpi(const ReadAt& executable, std::span<const std::string> mapped) {
  if (!linked_mpi_library(executable).empty()) return true;
  const auto has = [mapped](std::string_view part) {
    return std::any_of(mapped.begin(), mapped.end(),
                       [part](const std::string& file) { return file.find(part) != std::string::npos; });
  };
  return has("/mpi4py/MPI.") && !has("/libtorch");
}

MpiChance mpi_chance(const ReadAt& program) {
  const std::vector<std::string> needed = needed_libraries(program);
  if (needed.empty() || !std::all_of(needed.begin(), needed.end(), is_of_the_language)) return MpiChance::Yes;
  const std::string names = symbol_names(program, kMostSymbols);
  const auto imports = [&names](std::string_view one) { return names.find(one) != std::string::npos; };
  if (names.empty() || std::any_of(kStarters.begin(), kStarters.end(), imports)) return MpiChance::Yes;
  // Go makes system calls without libc.
  return notes(program).find(std::string_view("Go\0", 3)) == std::string::npos ? MpiChance::No : MpiChance::Yes;
}

MpiChance mpi_chance(const ReadAt& program, std::span<const std::string> environment) {
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT"}) {
    if (find_variable(environment, name) != nullptr) return MpiChance::Yes;
  }
  return mpi_chance(program);
}

std::vector<std::string> process_manager_entries(std::span<const std::string> environment) {
  constexpr std::array<std::string_view, 3> kNames{"PMI_FD", "PMI_PORT", "PMIX_NAMESPACE"};
  std::vector<std::string> out;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(out), [&kNames](const std::string& entry) {
    return std::find(kNames.begin(), kNames.end(), name_of(entry)) != kNames.end();
  });
  return out;
}

bool has_process_manager(std::span<const std::string> environment) {
  return !process_manager_entries(environment).empty();
}

bool may_come(std::span<const std::string> entries, MpiDialect dialect) {
  return std::any_of(entries.begin(), entries.end(), [dialect](const std::string& entry) {
    const bool pmix = name_of(entry) == "PMIX_NAMESPACE";
    return dialect == MpiDialect::Unknown || pmix == (dialect == MpiDialect::Pmix);
  });
}

std::vector<std::string> mapped_files(std::string_view maps) {
  std::vector<std::string> out;
  while (!maps.empty()) {
    const std::string_view line = take_until(maps, '\n');
    const std::size_t at = line.find('/');  // the only column that may contain a slash
    if (at == std::string_view::npos) continue;
    const std::string_view path = line.substr(at);
    // The mappings of one file follow each other.
    if (out.empty() || out.back() != path) out.emplace_back(path);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string mpi_library_in_use(std::span<const std::string> mapped, std::span<const std::string> environment,
                               const ReadFileAt& read) {
  const auto library = std::find_if(mapped.begin(), mapped.end(), is_mpi_library);
  if (library == mapped.end() || has_process_manager(environment)) return {};
  if (std::any_of(mapped.begin(), mapped.end(), is_mpi_tool)) return {};
  bool excused = false;
  for (const std::string& file : mapped) {
    if (belongs_to_mpi(file)) continue;
    const auto of_file = [&](std::uint64_t offset, std::size_t size) { return read(file, offset, size); };
    if (linked_mpi_library(of_file).empty()) continue;
    if (!meets_without_mpi(file, environment)) return *library;
    excused = true;
  }
  return excused ? std::string() : *library;  // a library that no mapped file needs was loaded with dlopen()
}

}  // namespace sml::plan
