// Everything that a source of hosts may read from this machine. The caller passes it as functions, so that the sources
// stay pure.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

// Whether the hosts of the job have a secret by which they recognize each other. On platforms that number the hosts, a
// secret shows that sml-run is started on each of them.
enum class JobSecret : std::uint8_t { None, Given };

struct SourceContext {
  // Returns a variable of the launcher's environment; nullopt if it is unset or empty.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // Returns a file's contents; more than `limit` bytes are an error. The error message does not contain the path.
  std::function<Result<std::string>(const std::string& path, std::size_t limit)> read_file;
  // Returns a program's standard output; empty if the program does not exist or hangs.
  std::function<std::string(const std::vector<std::string>& argv)> output_of;
  std::string host_name;  // of this machine
  JobSecret job_secret = JobSecret::None;
  // The names of all variables of the launcher's environment that begin with `prefix`. Null: there are none.
  std::function<std::vector<std::string>(std::string_view prefix)> names{};
};

// The hosts of the job in which sml-run runs; nullopt if it runs in no job of this kind. Errors are of kind Config (the
// batch system's data cannot be read) or Usage (sml-run was started in a way that cannot work).
using FoundHosts = Result<std::optional<plan::HostList>>;

}  // namespace sml::hosts
