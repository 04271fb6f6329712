// Recognizes why a worker failed from sentences that frameworks, drivers and schedulers are known to print. Shown to
// the user, and used by judge() to choose among workers that failed almost at the same time; no restart rule matches
// them. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sml::report {

enum class CauseKind : std::uint8_t {
  Root,     // a fault of its own
  Cascade,  // a consequence: another rank has gone, or is late
};

struct Cause {
  CauseKind kind = CauseKind::Root;
  std::string_view words;  // "a disk is full"; static
  std::string evidence;    // the line with that sentence, as the worker wrote it
};

// Returns nullopt if no sentence is known. A root outranks a cascade, whichever comes last: a worker that has failed
// loses its peers, too.
std::optional<Cause> known_cause(std::string_view account, const std::vector<std::string>& last_lines);

// Whether the worker, or its debugger, has read standard input: only one rank has some.
bool asked_for_input(const Cause& cause);

// The last line of the form "ValueError: no such data" that is no cascade; a KeyboardInterrupt of a stop does not have
// this form. Empty if there is none.
std::string_view own_exception(const std::vector<std::string>& last_lines);

}  // namespace sml::report
