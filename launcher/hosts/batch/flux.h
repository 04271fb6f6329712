// Parses Flux's description of resources.
#pragma once
#include <string_view>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

// R, version 1: {"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-15","gpu":"0-3"}}],
// "nodelist":["n[0-1]"]}}. The slots of a host are its GPUs, or its cores if it has none. Source: Flux RFC 20, 22
// (idsets) and 29 (host lists). Errors (kind Config) begin with `source`.
Result<plan::HostList> parse_flux_resources(std::string_view text, std::string_view source);

}  // namespace sml::hosts
