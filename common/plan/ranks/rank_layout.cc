#include "common/plan/ranks/rank_layout.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/core/input_error.h"
#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/machine/host.h"

namespace sml::plan {

namespace {

std::vector<std::string> modifiers_of(std::string_view text) {
  std::vector<std::string> out;
  for (;;) {
    // Open MPI also puts commas between modifiers
    const std::size_t end = text.find_first_of(":,");
    out.push_back(lower(text.substr(0, end)));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

bool is_host(std::string_view word) { return word == "host" || word == "node"; }

std::optional<std::uint32_t> count(std::string_view text) {
  const auto value = parse_number<std::uint32_t>(text);
  return value && *value >= 1 && *value <= kMaxSlotsPerHost ? value : std::nullopt;
}

BindTo part_named(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, BindTo>, 7> kParts{{{"socket", BindTo::Socket},
                                                                       {"package", BindTo::Socket},
                                                                       {"numa", BindTo::Numa},
                                                                       {"l3", BindTo::L3},
                                                                       {"l3cache", BindTo::L3},
                                                                       {"core", BindTo::Core},
                                                                       {"hwthread", BindTo::Hwthread}}};
  const auto* known = std::find_if(kParts.begin(), kParts.end(), [&](const auto& part) { return part.first == word; });
  return known == kParts.end() ? BindTo::None : known->second;
}

Result<void> apply_modifier(std::string_view word, MapByText& out) {
  if (word == "oversubscribe" || word == "nooversubscribe") {
    out.oversubscribe = word.starts_with("no") ? Oversubscribe::No : Oversubscribe::Yes;
    return {};
  }
  if (word == "span") return {};  // over all hosts, which is always so here
  constexpr std::string_view kCores = "pe=";
  if (word.starts_with(kCores)) out.cores_per_rank = count(word.substr(kCores.size()));
  if (out.cores_per_rank) return {};
  return usage_error("\"{}\" is no modifier that is known; expected oversubscribe, nooversubscribe, span or pe=N",
                     show(word, 80));
}

}  // namespace

Result<MapByText> parse_map_by(std::string_view text) {
  MapByText out;
  const std::vector<std::string> words = modifiers_of(text);
  std::size_t modifiers = 1;
  if (words[0] == "ppr") {
    modifiers = 3;
    const bool by_host = words.size() > 2 && is_host(words[2]);
    if (words.size() > 2) out.part = part_named(words[2]);
    if (by_host) out.per_host = count(words[1]);
    if (out.part != BindTo::None) out.per_part = count(words[1]);
    if (!out.per_host && !out.per_part) {
      return usage_error(
          "\"{}\" gives no number of workers for each host or part of it; expected ppr:N:host or "
          "ppr:N:socket, numa, l3, core or hwthread, N from 1 to {}",
          show(text, 80), kMaxSlotsPerHost);
    }
  } else if (is_host(words[0])) {
    out.map_by = MapBy::Host;
  } else if (words[0] == "rounds") {
    out.map_by = MapBy::Rounds;
  } else if (out.part = part_named(words[0]); out.part == BindTo::None && words[0] != "slot") {
    return usage_error(
        "\"{}\" is an unknown placement; expected slot, host, socket, numa, l3, core, hwthread or "
        "ppr:N:host",
        show(text, 80));
  }
  for (std::size_t i = modifiers; i < words.size(); ++i) {
    if (Result<void> applied = apply_modifier(words[i], out); !applied) return applied.error();
  }
  return out;
}

}  // namespace sml::plan
