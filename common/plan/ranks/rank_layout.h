// The user's choice of how the ranks of a job are laid out over its hosts.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/machine/binding.h"
#include "common/plan/ranks/rankfile.h"

namespace sml::plan {

inline constexpr std::uint32_t kMaxWorldSize = 1'000'000;  // limits the memory that a typing mistake can use

enum class Oversubscribe : std::uint8_t { No, Yes };
// Slot: fill one host after the other; Host: one rank on each host in turn; Rounds: like Slot, and start again when all
// hosts are full.
enum class MapBy : std::uint8_t { Slot, Host, Rounds };
enum class RankBy : std::uint8_t { Slot, Host };  // number host by host, or one rank of each host in turn

struct RankLayout {
  Oversubscribe oversubscribe = Oversubscribe::No;
  MapBy map_by = MapBy::Slot;
  std::optional<RankBy> rank_by;          // empty: the order of map_by
  std::optional<std::uint32_t> per_host;  // exactly this many on each host; fewer on the last ones if np is smaller
  std::optional<Rankfile> rankfile;       // overrides the other fields, except `oversubscribe`
};

// The value of --map-by in Open MPI's grammar: slot, host (or node), rounds (an extension), or a part of a host (socket
// or package, numa, l3 or l3cache, core, hwthread), with which hosts are filled one after the other; ppr:N:host or
// ppr:N:PART; then modifiers after colons.
struct MapByText {
  MapBy map_by = MapBy::Slot;
  BindTo part = BindTo::None;
  std::optional<std::uint32_t> per_host;
  std::optional<std::uint32_t> per_part;
  std::optional<Oversubscribe> oversubscribe;
  std::optional<std::uint32_t> cores_per_rank;  // PE=N
};
// Errors (kind Usage) quote the text and describe what was expected.
Result<MapByText> parse_map_by(std::string_view text);

}  // namespace sml::plan
