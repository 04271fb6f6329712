// Parses lists of cores in the syntax of Open MPI's rankfile; whether a host has these cores is not checked. Linked
// into the agent, too, so it does not use libfmt. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::plan {

// Parses a decimal number from 0 to `most`, such as that of a core, a socket or a rank; nullopt for other texts.
std::optional<std::uint32_t> parse_index(std::string_view text, std::uint32_t most);

struct CoreRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // included; at least `first`
  bool operator==(const CoreRange&) const = default;
};

// Cores of one socket, or of the whole host.
struct CoreGroup {
  std::optional<std::uint32_t> socket;  // cores are numbered within this socket; empty: over the whole host
  std::vector<CoreRange> cores;         // empty: all cores, "*"
  bool operator==(const CoreGroup&) const = default;
};

// Parses "0:0-1", "4,6-7" or "0:*;1:0" into at least one group: ";" separates groups, ":" ends a socket's number, and
// "," separates cores. Some groups may have a socket and others none. All numbers are below kMaxSlotsPerHost. An empty
// text is an error. An error (Usage) is the rest of a sentence whose subject is the text: 'has "x" for a core; ...'.
Result<std::vector<CoreGroup>> parse_core_groups(std::string_view text);

}  // namespace sml::plan
