// What the user's own variables say about how workers meet. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/launch_plan.h"

namespace sml::plan {

// `asked`, but for what the user's variables say: rank 0 opens torch's store where they name a place to meet, want no
// store that is there already, or make torch (USE_LIBUV=0) one that cannot call it.
TorchStore choose_torch_store(const LaunchPlan& plan, TorchStore asked);

// Whether the program's arguments or its script hold what is seen where ranks of torch meet at an address of the
// program's own: a URL tcp://, or a value for MASTER_ADDR or MASTER_PORT. With a store that is there already all ranks
// are clients (TORCHELASTIC_USE_AGENT_STORE), up to torch 2.13 at that address too: there nobody listens, and they wait
// for ever. A sign, not a proof: what other modules do is not seen, and who only mentions such an address has rank 0
// open the store, which serves the program as well.
bool names_own_address(std::span<const std::string> command, std::string_view script);

// Where nobody asks: rank 0 opens it where it is the only member, as one that starts the others itself tells them its
// own port, and where the program seems to name an address.
enum class NamesAddress : std::uint8_t { No, Yes };
TorchStore usual_torch_store(const LaunchPlan& plan, NamesAddress program);

// Whether the user's value of the variable stands against ours.
bool user_decides(std::string_view name);

// A clause for each variable of the user's that each rank has of its own.
std::vector<std::string> ignored_variables(const LaunchPlan& plan);

}  // namespace sml::plan
