// What a source of hosts may look at. Given as functions, so that the sources stay pure.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

// Whether the hosts of the job have a secret by which they know each other: on hosts that a platform numbers it shows
// that the program is started on each of them.
enum class JobSecret : std::uint8_t { None, Given };

struct Surroundings {
  // Of the launcher's environment; a variable that is set to nothing counts as not set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // At most `limit` bytes. The error has no path in its message.
  std::function<Result<std::string>(const std::string& path, std::size_t limit)> read_file;
  // What a program prints; empty when it is not there or hangs.
  std::function<std::string(const std::vector<std::string>& argv)> output_of;
  std::string host_name;  // this machine's
  JobSecret job_secret = JobSecret::None;
};

// The hosts of the job that we are in; nothing when we are in none of that kind. Errors are of kind Config (what the
// batch system told cannot be read) or Usage (we were started in a way that cannot work).
using FoundHosts = Result<std::optional<plan::HostList>>;

}  // namespace sml::hosts
