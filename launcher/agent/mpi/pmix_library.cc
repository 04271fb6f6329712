#include "launcher/agent/mpi/pmix_library.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/plan/program/folders.h"
#include "common/plan/program/horovod_use.h"
#include "common/plan/program/mpi_use.h"
#include "common/plan/program/named_programs.h"
#include "common/plan/program/python_packages.h"
#include "common/plan/variables.h"

namespace sml::plan {

namespace {

constexpr const char* kLibrary = "libpmix.so.2";
constexpr std::array<const char*, 2> kOpenMpi{"libmpi.so.40", "libmpi.so.80"};  // 4 and 5, 6
constexpr std::uint64_t kMostOfLibrary = std::uint64_t{64} << 20;               // bytes that are searched

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// The folders that an ELF file names for its libraries, with $ORIGIN replaced.
Folders run_path(const std::string& file, const HostFiles& files) {
  Folders out;
  const auto of_file = [&](std::uint64_t offset, std::size_t size) { return files.read(file, offset, size); };
  for (std::string list : library_folders(of_file)) {
    for (const std::string_view origin : {"${ORIGIN}", "$ORIGIN"}) replace_all(list, origin, folder_of(file));
    add_folders(out, list);
  }
  return out;
}

// Folders that may hold the program's Open MPI: those that the loader searches, and those that mpi4py searches (beside
// its interpreter).
Folders mpi_folders(const std::string& program, const Folders& named, std::span<const std::string> environment,
                    const HostFiles& files) {
  Folders out = named;
  for (const std::string& folder : run_path(program, files)) add_folder(out, folder);
  add_folder(out, folder_of(folder_of(program)) + "/lib");
  if (const std::string root(variable(environment, "VIRTUAL_ENV")); !root.empty()) add_folder(out, root + "/lib");
  return out;
}

bool has_open_mpi(const std::string& folder, const HostFiles& files) {
  return std::any_of(kOpenMpi.begin(), kOpenMpi.end(),
                     [&](const char* name) { return files.is_file(folder + "/" + name); });
}

// Returns "/opt/ompi" for "/opt/ompi/lib", and an empty text for folders whose layout is another, as Debian's.
std::string prefix_of(const std::string& library_folder) {
  for (const std::string_view end : {"/lib", "/lib64"}) {
    if (library_folder.ends_with(end)) return library_folder.substr(0, library_folder.size() - end.size());
  }
  return {};
}

// True if the file holds `text` as a C string of its own.
bool holds_string(const std::string& file, const std::string& text, const HostFiles& files) {
  constexpr std::size_t kChunk = std::size_t{256} << 10;
  const std::string wanted = std::string(1, '\0') + text + '\0';
  for (std::uint64_t at = 0; at < kMostOfLibrary; at += kChunk) {
    const std::string chunk = files.read(file, at, kChunk + wanted.size());
    if (chunk.find(wanted) != std::string::npos) return true;
    if (chunk.size() < kChunk) break;
  }
  return false;
}

void add_beside_mpi(Folders& to, const Folders& folders, const HostFiles& files) {
  for (const std::string& folder : folders) {
    for (const char* name : kOpenMpi) {
      const std::string library = folder + "/" + name;
      if (!files.is_file(library)) continue;
      add_folder(to, folder);
      for (const std::string& more : run_path(library, files)) add_folder(to, more);
    }
  }
}

bool needs_open_mpi(const std::string& file, const HostFiles& files) {
  const auto of_file = [&](std::uint64_t offset, std::size_t size) { return files.read(file, offset, size); };
  const std::vector<std::string> needed = needed_libraries(of_file);
  return std::any_of(needed.begin(), needed.end(), [](const std::string& name) {
    return std::any_of(kOpenMpi.begin(), kOpenMpi.end(), [&name](const char* one) { return name.starts_with(one); });
  });
}

// ---- Python

constexpr std::array kOfSystem{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                               "/usr/local/lib"};

// Follows the mpi4py of PyPI, which takes the library that its variables name, or the first that it finds, with MPICH's
// before Open MPI's in each folder.
bool first_is_open_mpi(const Folders& folders, std::span<const std::string> environment, const HostFiles& files) {
  if (const std::string_view kind = variable(environment, "MPI4PY_MPIABI"); !kind.empty()) return kind == "openmpi";
  for (const std::string& folder : folders) {
    if (files.is_file(folder + "/libmpi.so.12")) return false;
    if (has_open_mpi(folder, files)) return true;
  }
  return false;
}

// mpi4py has one extension for the MPI that it was built with; the build of PyPI has one for each kind of MPI.
std::string python_with_open_mpi(const std::string& program, std::span<const std::string> environment,
                                 const HostFiles& files) {
  for (const std::string& packages : package_folders(program, environment, files)) {
    std::string folder = packages + "/mpi4py";
    std::size_t kinds = 0;
    bool needs = false;
    for (const std::string& name : files.list(folder)) {
      if (!name.starts_with("MPI.") || !name.ends_with(".so")) continue;
      ++kinds;
      needs = needs || needs_open_mpi(folder + "/" + name, files);
    }
    if (kinds == 0) continue;
    Folders folders = mpi_folders(program, {}, environment, files);
    add_folders(folders, variable(environment, "LD_LIBRARY_PATH"));
    folders.insert(folders.end(), kOfSystem.begin(), kOfSystem.end());
    if (kinds == 1 ? needs : first_is_open_mpi(folders, environment, files)) return folder;
    return {};
  }
  return {};
}

// AWS installs its builds in these folders, outside of the loader's search path.
void add_amazons(Folders& to, const HostFiles& files) {
  const std::string top = "/opt/amazon/";
  std::vector<std::string> names = files.list(top);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!name.starts_with("openmpi") && !name.starts_with("pmix")) continue;
    add_folder(to, top + name + "/lib");
    add_folder(to, top + name + "/lib64");
  }
}

}  // namespace

std::string open_mpi_user(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files) {
  if (needs_open_mpi(line.program, files)) return line.program;
  std::string horovod = horovod_over_mpi(line, environment, files);
  if (!horovod.empty() && needs_open_mpi(horovod, files)) return horovod;
  if (is_python(line.program)) return python_with_open_mpi(line.program, environment, files);
  std::string out;
  for (const std::string& file : named_programs(line, environment, files)) {
    const auto of_file = [&](std::uint64_t offset, std::size_t size) { return files.read(file, offset, size); };
    const MpiDialect dialect = dialect_of(linked_mpi_library(of_file));
    if (dialect == MpiDialect::Pmi) return {};
    if (!out.empty()) continue;
    if (dialect == MpiDialect::Pmix) out = file;
    if (is_python(file)) out = python_with_open_mpi(file, environment, files);
  }
  return out;
}

std::vector<std::string> pmix_libraries(const std::string& program, std::span<const std::string> environment,
                                        const HostFiles& files) {
  Folders named;
  add_folders(named, variable(environment, "LD_LIBRARY_PATH"));
  Folders folders = named;
  add_beside_mpi(folders, mpi_folders(program, named, environment, files), files);
  if (const std::string root(variable(environment, "CONDA_PREFIX")); !root.empty()) add_folder(folders, root + "/lib");
  add_amazons(folders, files);
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    if (std::string path = folder + "/" + kLibrary; files.is_file(path)) out.push_back(std::move(path));
  }
  out.emplace_back(kLibrary);
  return out;
}

std::string moved_open_mpi(const std::string& program, std::span<const std::string> environment,
                           const HostFiles& files) {
  Folders named;
  add_folders(named, variable(environment, "LD_LIBRARY_PATH"));
  const Folders folders = mpi_folders(program, named, environment, files);
  const auto first = std::find_if(folders.begin(), folders.end(),
                                  [&](const std::string& folder) { return has_open_mpi(folder, files); });
  if (first == folders.end()) return {};
  std::string prefix = prefix_of(*first);
  if (prefix.empty() || !files.is_file(prefix + "/share/openmpi/help-mpi-errors.txt")) return {};
  for (const std::string& name : files.list(*first)) {  // the library that looks for the texts
    if (!name.starts_with("libopen-pal.so.")) continue;
    return holds_string(*first + "/" + name, prefix, files) ? std::string() : prefix;
  }
  return {};
}

}  // namespace sml::plan
