// Parses lists of cores in the syntax of Open MPI's rankfile. The agent contains this file, so it does not use libfmt.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::plan {

// Parses a decimal number of at most `most`; returns nullopt for anything else.
std::optional<std::uint32_t> parse_index(std::string_view text, std::uint32_t most);

struct CoreRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const CoreRange&) const = default;
};

// Cores of one socket, or of the whole host.
struct CoreGroup {
  std::optional<std::uint32_t> socket;  // empty: the core numbers count over the whole host
  std::vector<CoreRange> cores;         // empty: all cores
  bool operator==(const CoreGroup&) const = default;
};

// Parses "0:0-1", "4,6-7" or "0:*;1:0" into at least one group. An error (Usage) does not repeat the whole text.
Result<std::vector<CoreGroup>> parse_core_groups(std::string_view text);

}  // namespace sml::plan
