// The starters that there are. To add one, write a file with its function, its declaration here, its row in
// starters.cc, and its part of the manual.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "launcher/starters/starter.h"

namespace sml::starters {

// Values of --start-by that name no Starter.
inline constexpr std::string_view kAuto = "auto";  // a starter if this is a job of its batch system, else SSH
inline constexpr std::string_view kSsh = "ssh";    // the launcher's own SSH client

const Starter& srun();
const Starter& blaunch();
const Starter& qrsh();
const Starter& flux();
const Starter& oarsh();
const Starter& kubectl();
const Starter& pbs();
const Starter& pals();

// In the order of preference, for a job that has the variables of several batch systems.
std::span<const Starter* const> all_starters();

// Null if there is none of that name.
const Starter* find_starter(std::string_view name);

// The starter that calls this program, a file name or path, as its tool; null if there is none.
const Starter* starter_of_tool(std::string_view program);

// All names that --start-by takes; it takes a command, too.
std::vector<std::string_view> starter_names();

}  // namespace sml::starters
