#include "common/plan/horovod_use.h"

#include <cstdint>

#include "common/plan/mpi_use.h"
#include "common/plan/named_programs.h"
#include "common/plan/python_packages.h"

namespace sml::plan {

namespace {

constexpr std::string_view kController = "HOROVOD_CONTROLLER";
constexpr std::string_view kOperations = "HOROVOD_CPU_OPERATIONS";
constexpr std::uint64_t kMostNames = std::uint64_t{8} << 20;  // bytes; a build of 0.28.1 has 90 KB

// A class of its own that is there in all builds with Gloo and in no other.
bool knows_gloo(const ReadAt& file) {
  const std::string names = symbol_names(file, kMostNames);
  return names.empty() || names.find("GlooContext") != std::string::npos;
}

// setup.py: one extension for each framework, "mpi_lib.cpython-311-x86_64-linux-gnu.so" or "mpi_lib_v2...".
std::string extension_over_mpi(const std::string& folder, std::span<const std::string> environment,
                               const HostFiles& files) {
  const bool told = value_in(environment, kController) == "mpi";
  for (const std::string& name : files.list(folder)) {
    if (!name.starts_with("mpi_lib") || !name.ends_with(".so")) continue;
    std::string path = folder + "/" + name;
    const auto file = [&](std::uint64_t offset, std::size_t size) { return files.read(path, offset, size); };
    if (!linked_mpi_library(file).empty() && (told || !knows_gloo(file))) return path;
  }
  return {};
}

std::string of_python(const std::string& program, std::span<const std::string> environment, const HostFiles& files) {
  for (const std::string& packages : package_folders(program, environment, files)) {
    for (const char* framework : {"torch", "tensorflow", "mxnet"}) {
      std::string found = extension_over_mpi(packages + "/horovod/" + framework, environment, files);
      if (!found.empty()) return found;
    }
  }
  return {};
}

}  // namespace

std::string horovod_over_mpi(const CommandLine& line, std::span<const std::string> environment,
                             const HostFiles& files) {
  if (is_python(line.program)) return of_python(line.program, environment, files);
  for (const std::string& file : named_programs(line, environment, files)) {
    if (!is_python(file)) continue;
    if (std::string found = of_python(file, environment, files); !found.empty()) return found;
  }
  return {};
}

bool wants_gloo(std::string_view name) { return name == kController || name == kOperations; }

}  // namespace sml::plan
