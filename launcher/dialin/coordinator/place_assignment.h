// Assigns places to hosts that call without knowing theirs. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sml::dialin {

struct Unplaced {
  std::uint32_t wished = 0;  // kAnyPlace: none
  std::string address;       // numeric
};

// Assigns a free place to each caller: the one that it prefers, else the first that no one prefers. Callers are ordered
// by their addresses as numbers, as torch's agents are by name, and within one address by the order of their calls.
// `taken` is by place, and must leave at least as many places free as there are callers.
std::vector<std::uint32_t> assign_places(std::span<const Unplaced> callers, std::vector<bool> taken);

}  // namespace sml::dialin
