// Assigns places to hosts that call without knowing their own. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sml::dialin {

// A caller without a place.
struct Unplaced {
  std::uint32_t preferred = 0;  // the place that it prefers; kAnyPlace: none
  std::string address;          // numeric; the one that it calls from
};

// Assigns a free place to each caller: first the preferred places to those that prefer one, then the lowest free places
// to the others. If several prefer the same place, the first of them gets it. Callers are ordered by address as a
// number, and callers from one address by their order in `callers`. (torch's agents are ordered by name.) `taken` is by
// place, and must leave at least as many places free as there are callers. Returns the places in the order of
// `callers`.
std::vector<std::uint32_t> assign_places(std::span<const Unplaced> callers, std::vector<bool> taken);

}  // namespace sml::dialin
