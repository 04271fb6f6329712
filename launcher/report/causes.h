// Why a worker failed, by its own words: sentences that frameworks, drivers and schedulers are known to leave. Told for
// people; no decision about restarts waits for it. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sml::report {

enum class CauseKind : std::uint8_t {
  Root,     // of its own: look here
  Cascade,  // what is seen when another rank has gone, or is late
};

struct Cause {
  CauseKind kind = CauseKind::Root;
  std::string_view words;  // "a disk is full"; static
  std::string evidence;    // the line that says so, as the worker wrote it
};

// Nothing: no sentence is known. A root outranks a cascade, whichever comes last: who has failed loses its peers, too.
std::optional<Cause> known_cause(std::string_view account, const std::vector<std::string>& last_lines);

// The last line of the form "ValueError: no such data" that is no cascade; not that of a stop by the keyboard's signal.
// Empty: there is none.
std::string_view own_exception(const std::vector<std::string>& last_lines);

}  // namespace sml::report
