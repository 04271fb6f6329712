// Places for hosts that call without knowing theirs. Pure.
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

// A free place for each caller: the one that it wishes, else the first that nobody wishes. Callers come in the order of
// their addresses as numbers, as torch's agents do by name, and of one address in the order in which they have called.
// `taken` is by place, and leaves at least as many free as there are callers.
std::vector<std::uint32_t> seat(std::span<const Unplaced> callers, std::vector<bool> taken);

}  // namespace sml::dialin
