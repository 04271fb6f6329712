// The ways to start agents on other hosts: the starters that there are, and the ways of kWays. To add a starter, write
// a file with its function, its declaration here, its row in starters.cc, and its part of the manual.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/starters/starter.h"

namespace sml::starters {

// The value of --start-by that names no way: a starter if this is a job of its batch system, else SSH.
inline constexpr std::string_view kAuto = "auto";

// A way without a Starter. fleet/make_launcher.cc has its agent launcher.
struct Way {
  std::string_view name;      // value of --start-by
  std::string_view in_words;  // in messages
};
inline constexpr std::string_view kSsh = "ssh";  // the launcher's own SSH client
inline constexpr std::array kWays{Way{kSsh, "SSH"}};

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

// The starter that calls this program, a file name or path, as its tool or its other tool; null if there is none.
const Starter* starter_of_tool(std::string_view program);

// All names that --start-by takes, kAuto first; it takes a command, too.
std::vector<std::string_view> way_names();

// The way of that name in words: Way::in_words, or the starter's tool.
std::string way_in_words(std::string_view name);

}  // namespace sml::starters
