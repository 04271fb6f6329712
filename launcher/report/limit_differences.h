// Hosts whose workers have other limits than those of the rest: what people are told. Pure.
#pragma once
#include <string>
#include <vector>

#include "common/core/process_settings.h"

namespace sml::report {

struct HostLimits {
  std::string host;
  TellingLimits limits;
};

// A sentence; empty: they are alike.
std::string limit_differences(const std::vector<HostLimits>& hosts);

}  // namespace sml::report
