// Which cores of a host are meant, in the words of Open MPI's rankfile. In the agent, too, so without libfmt.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::plan {

// A decimal number up to `most`, and nothing else.
std::optional<std::uint32_t> parse_index(std::string_view text, std::uint32_t most);

struct CoreRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const CoreRange&) const = default;
};

// Cores of one socket, or of the host.
struct CoreGroup {
  std::optional<std::uint32_t> socket;  // empty: the numbers count the cores of the host
  std::vector<CoreRange> cores;         // empty: all
  bool operator==(const CoreGroup&) const = default;
};

// "0:0-1", "4,6-7", "0:*;1:0": at least one group. An error (kind Usage) is a clause without the text.
Result<std::vector<CoreGroup>> parse_core_groups(std::string_view text);

}  // namespace sml::plan
