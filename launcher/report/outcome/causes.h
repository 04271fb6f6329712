// Recognizes why a worker failed, from sentences that frameworks, drivers and schedulers are known to print. The result
// is shown to the user, and judge() uses it to choose among workers that failed almost at the same time. It does not
// affect restarts in any other way. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sml::report {

enum class CauseKind : std::uint8_t {
  Root,     // a failure of its own
  Cascade,  // a consequence: another rank has gone, or is late
};

struct Cause {
  CauseKind kind = CauseKind::Root;
  std::string_view words;  // "a disk is full"; static
  std::string evidence;    // the line with that sentence, as the worker wrote it
};

// `account` is the worker's own report of its error, of which the first line is used; `last_lines` are those of its
// stderr. Nullopt: no known sentence is found. A Root is preferred to a Cascade, even to a later one: a worker that has
// failed by itself loses the other ranks, too.
std::optional<Cause> known_cause(std::string_view account, const std::vector<std::string>& last_lines);

// Whether the worker failed because it, or its debugger, asked for standard input, and found none: often only one rank
// has input.
bool asked_for_input(const Cause& cause);

// The last line of the form "ValueError: no such data" that is no Cascade; empty if there is none. The
// KeyboardInterrupt of a worker that was stopped does not have this form.
std::string_view own_exception(const std::vector<std::string>& last_lines);

}  // namespace sml::report
