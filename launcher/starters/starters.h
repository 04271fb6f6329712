// The starters that there are. To add one: a file with a function, its declaration here, its row in starters.cc, and
// the manual.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "launcher/starters/starter.h"

namespace sml::starters {

inline constexpr std::string_view kAuto = "auto";
inline constexpr std::string_view kSsh = "ssh";  // the launcher's own client; no Starter

const Starter& srun();
const Starter& blaunch();
const Starter& qrsh();
const Starter& flux();
const Starter& oarsh();
const Starter& kubectl();
const Starter& pbs();
const Starter& pals();

// In the order in which they are considered where several systems have a job.
std::span<const Starter* const> all_starters();

// Null if there is none of that name.
const Starter* find_starter(std::string_view name);

// All values of --start-by but a command.
std::vector<std::string_view> starter_names();

}  // namespace sml::starters
