// The file of --exclude-file: hosts that made earlier jobs fail and that other jobs should not use. Pure.
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
  std::optional<std::int64_t> since;  // seconds of Unix time; nullopt: the line has only the name

  // Whether the host is still excluded at `now`, in seconds of Unix time. `cool_down`: how long a host stays excluded;
  // nullopt: forever. A host without `since` is always excluded.
  bool is_out(std::int64_t now, const std::optional<Duration>& cool_down) const;
};

// One host per line: NAME [TIME], with the time as written by exclude_line(); # begins a remark. Error (Config) names
// the line.
Result<std::vector<ExcludedHost>> parse_exclude_list(std::string_view text);

// The line for a host, with its newline: "algo-2 2026-11-23T23:41:00Z # why".
std::string exclude_line(std::string_view host, std::int64_t since, std::string_view why);

}  // namespace sml::hosts
