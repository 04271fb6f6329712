// The file of --exclude-file: hosts that failed jobs of the past, which others are to do without. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml::hosts {

struct ExcludedHost {
  std::string name;
  std::optional<std::int64_t> since;  // seconds of Unix time; nothing: somebody has written the name alone

  // `cool_down`: for how long a host is out; nothing: for good.
  bool is_out(std::int64_t now, const std::optional<Duration>& cool_down) const;
};

// One host a line: NAME [TIME], the time as exclude_line() writes it; # begins a remark. Error (Config) names the line.
Result<std::vector<ExcludedHost>> parse_exclude_list(std::string_view text);

// With its newline: "algo-2 2026-11-23T23:41:00Z # why".
std::string exclude_line(std::string_view host, std::int64_t since, std::string_view why);

}  // namespace sml::hosts
