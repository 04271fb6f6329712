// How the ranks of a job are laid over its hosts, as the user asks for it.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/binding.h"
#include "common/plan/rankfile.h"

namespace sml::plan {

inline constexpr std::uint32_t kMaxWorldSize = 1'000'000;  // bounds what a typing mistake can make us allocate

enum class Oversubscribe : std::uint8_t { No, Yes };
// Fill host after host; give each host one rank in turn; or fill host after host, and begin again when all are full.
enum class MapBy : std::uint8_t { Slot, Host, Rounds };
enum class RankBy : std::uint8_t { Slot, Host };  // number host after host, or one of each host in turn

struct RankLayout {
  Oversubscribe oversubscribe = Oversubscribe::No;
  MapBy map_by = MapBy::Slot;
  std::optional<RankBy> rank_by;          // empty: in the order of map_by
  std::optional<std::uint32_t> per_host;  // just so many on each host, fewer on the last ones where np says so
  std::optional<Rankfile> rankfile;       // decides alone
};

// The value of --map-by in Open MPI's grammar: slot, host (or node), rounds (which is ours), a part of a host (socket
// or package, numa, l3 or l3cache, core, hwthread), where hosts are filled one after the other; ppr:N:host or
// ppr:N:PART; then modifiers after colons.
struct MapByText {
  MapBy map_by = MapBy::Slot;
  BindTo part = BindTo::None;
  std::optional<std::uint32_t> per_host;
  std::optional<std::uint32_t> per_part;
  std::optional<Oversubscribe> oversubscribe;
  std::optional<std::uint32_t> cores_per_rank;  // PE=N
};
// Errors (kind Usage) quote the text and say what was expected.
Result<MapByText> parse_map_by(std::string_view text);

}  // namespace sml::plan
