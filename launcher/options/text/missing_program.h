// The mistakes behind a program word that no host finds: an option with a long dash, a variable, a quoted line, a
// mistyped sub-command, a host that the shell made a word of its own. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"

namespace sml {

// Error (Usage): `program` begins with a dash of typography, as web pages and word processors write "-".
Result<void> check_program_word(std::string_view program);

// The advice for a program that is not there, better than the host's own; empty: the word is no known mistake.
// `hosts`: the names of the job's hosts.
std::string advice_on_missing_program(std::string_view program, std::span<const std::string_view> hosts);

// Returns the error `why`, which a host has reported. If it is that the host does not find a program of `plan`, adds
// advice_on_missing_program().
Error with_program_advice(Error why, const plan::LaunchPlan& plan);

}  // namespace sml
