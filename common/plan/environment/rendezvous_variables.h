// Evaluates the user's own variables about how workers find each other. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/launch_plan.h"

namespace sml::plan {

// Returns `asked` unless the user's variables override it. Rank 0 opens torch's store if they name a rendezvous
// address (MASTER_ADDR, MASTER_PORT), disable the agent's store (TORCHELASTIC_USE_AGENT_STORE other than True), or
// choose a torch client that cannot connect to the agent's store (USE_LIBUV=0, without TORCHELASTIC_USE_AGENT_STORE).
// Otherwise TORCHELASTIC_USE_AGENT_STORE=True selects the agent's store.
TorchStore choose_torch_store(const LaunchPlan& plan, TorchStore asked);

// True if the program's arguments or its script contain signs that torch ranks find each other at an address that the
// program itself chooses: a tcp:// URL, or an assignment to MASTER_ADDR or MASTER_PORT. With an agent's store
// (TORCHELASTIC_USE_AGENT_STORE) all ranks are clients, and up to torch 2.13 they are clients at such an address, too:
// no process listens there, and they block forever. This is a heuristic: other modules are not searched, and for a
// program that only mentions such an address rank 0 opens the store, which works as well.
bool names_own_address(std::span<const std::string> command, std::string_view script);

// The default if the user does not choose: rank 0 opens the store if it is the only member (a program that starts
// further ranks itself gives them its own port), or if the program seems to name an address of its own.
enum class NamesAddress : std::uint8_t { No, Yes };
TorchStore usual_torch_store(const LaunchPlan& plan, NamesAddress program);

// True if the user's value of the variable takes precedence over the launcher's.
bool user_decides(std::string_view name);

// Returns a warning, as a part of a sentence, for each of the user's variables that has no effect because each rank has
// a value of its own.
std::vector<std::string> ignored_variables(const LaunchPlan& plan);

}  // namespace sml::plan
