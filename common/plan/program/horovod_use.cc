#include "common/plan/program/horovod_use.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/core/letters.h"
#include "common/plan/program/mpi_use.h"
#include "common/plan/program/named_programs.h"
#include "common/plan/program/python_packages.h"
#include "common/plan/variables.h"

namespace sml::plan {

namespace {

constexpr std::string_view kController = "HOROVOD_CONTROLLER";
constexpr std::string_view kOperations = "HOROVOD_CPU_OPERATIONS";
constexpr std::uint64_t kMostNames = std::uint64_t{8} << 20;  // bytes; a build of 0.28.1 has 90 KB

// A controller that Horovod can be built with, and a class that exists in all such builds and in no other.
struct Way {
  std::string_view name;
  std::string_view known_by;
};
constexpr Way kGloo{"gloo", "GlooContext"};
constexpr Way kMpi{"mpi", "MPIContext"};

// Horovod's extension library for one framework.
struct Extension {
  std::string path;
  ReadAt read;
};

bool knows(const Extension& horovod, const Way& way) {
  const std::string names = symbol_names(horovod.read, kMostNames);
  return names.empty() || names.find(way.known_by) != std::string::npos;
}

// The names come from Horovod's setup.py: "mpi_lib.cpython-311-x86_64-linux-gnu.so" or "mpi_lib_v2...".
void add_extensions(std::vector<Extension>& to, const std::string& folder, const HostFiles& files) {
  for (const std::string& name : files.list(folder)) {
    if (!name.starts_with("mpi_lib") || !name.ends_with(".so")) continue;
    std::string path = folder + "/" + name;
    ReadAt read = [&files, path](std::uint64_t offset, std::size_t size) { return files.read(path, offset, size); };
    to.push_back({std::move(path), std::move(read)});
  }
}

void add_extensions_of_python(std::vector<Extension>& to, const std::string& program,
                              std::span<const std::string> environment, const HostFiles& files) {
  for (const std::string& packages : package_folders(program, environment, files)) {
    for (const char* framework : {"torch", "tensorflow", "mxnet"}) {
      add_extensions(to, packages + "/horovod/" + framework, files);
    }
  }
}

// The result refers to `files`, which must outlive it.
std::vector<Extension> extensions_of(const CommandLine& line, std::span<const std::string> environment,
                                     const HostFiles& files) {
  std::vector<Extension> out;
  if (is_python(line.program)) {
    add_extensions_of_python(out, line.program, environment, files);
    return out;
  }
  for (const std::string& file : named_programs(line, environment, files)) {
    if (is_python(file)) add_extensions_of_python(out, file, environment, files);
  }
  return out;
}

bool is_set(std::span<const std::string> environment, std::string_view name, const Way& way) {
  return equal_ignoring_case(variable(environment, name), way.name);
}

}  // namespace

std::string horovod_over_mpi(const CommandLine& line, std::span<const std::string> environment,
                             const HostFiles& files) {
  const bool is_chosen = sets_mpi(environment);
  for (Extension& horovod : extensions_of(line, environment, files)) {
    if (linked_mpi_library(horovod.read).empty()) continue;
    if (is_chosen || !knows(horovod, kGloo)) return std::move(horovod.path);
  }
  return {};
}

std::optional<HorovodMisfit> horovod_misfit(const CommandLine& line, std::span<const std::string> environment,
                                            std::span<const std::string> variables, const HostFiles& files) {
  constexpr std::array kWays{kGloo, kMpi};
  const auto* way =
      std::find_if(kWays.begin(), kWays.end(), [&](const Way& w) { return is_set(variables, kController, w); });
  if (way == kWays.end()) return std::nullopt;
  std::vector<Extension> found = extensions_of(line, environment, files);
  const bool may_meet = std::any_of(found.begin(), found.end(), [&](const Extension& one) { return knows(one, *way); });
  if (found.empty() || may_meet) return std::nullopt;
  return HorovodMisfit{std::move(found.front().path), std::string(kController) + "=" + std::string(way->name)};
}

bool sets_mpi(std::span<const std::string> environment) { return is_set(environment, kController, kMpi); }

bool selects_controller(std::string_view name) { return name == kController || name == kOperations; }

}  // namespace sml::plan
