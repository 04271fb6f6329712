// Describes hosts whose workers have other resource limits than the rest, for the user. Pure.
#pragma once
#include <string>
#include <vector>

#include "common/core/process_settings.h"

namespace sml::report {

struct HostLimits {
  std::string host;
  ReportedLimits limits;
};

// A message; empty if the limits are the same on all hosts.
std::string limit_differences(const std::vector<HostLimits>& hosts);

}  // namespace sml::report
