#include "launcher/hosts/host_filter.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/name_pattern.h"

namespace sml::hosts {

namespace {

// The part of one host that a filter names: all of it, or some slots.
struct Choice {
  std::set<std::uint32_t> slots;
  bool whole = false;
};
using Choices = std::unordered_map<std::string, Choice>;  // by the name in lower case
using SlotCounts = std::unordered_map<std::string, std::uint32_t>;

Result<std::set<std::uint32_t>> parse_slot_numbers(std::string_view text, std::string_view part) {
  std::set<std::uint32_t> numbers;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ',');
    const std::optional<std::uint64_t> number = whole_number(word);
    if (!number || *number >= plan::kMaxSlotsPerHost) {
      return usage_error("\"{}\" has the bad slot \"{}\"; expected numbers from 0, as in algo-1:0,2", show(part, 100),
                         show(word, 40));
    }
    numbers.insert(static_cast<std::uint32_t>(*number));
  }
  return numbers;
}

Error unknown_host(std::string_view host, const SlotCounts& known) {
  std::vector<std::string> names;
  for (const auto& [name, slots] : known) names.push_back(name);
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // n2 before n10
  });
  return usage_error("no host {} in this job; its hosts are {}", show(host, 100), show(fold_names(names)));
}

Result<void> add_part(std::string_view part, const SlotCounts& known, Choices& choices) {
  const std::size_t colon = part.rfind(':');
  const bool has_slots = colon != std::string_view::npos && part.find(']', colon) == std::string_view::npos;
  const std::string_view name = part.substr(0, has_slots ? colon : part.size());
  if (name.empty()) return usage_error("\"{}\" has no host name; expected NAME or NAME:SLOT,SLOT,...", show(part, 100));
  Result<std::set<std::uint32_t>> slots = parse_slot_numbers(has_slots ? part.substr(colon + 1) : "", part);
  if (!slots) return slots.error();
  if (has_slots && slots->empty())
    return usage_error("\"{}\" has no slot after \":\"; expected numbers from 0", show(part, 100));
  const Result<std::vector<std::string>> names =
      expand_name_pattern(name, PatternOrder::LastBracketFastest, plan::kMaxHosts);
  if (!names) return usage_error("\"{}\" {}", show(part, 100), names.error().message());
  for (const std::string& host : *names) {
    const auto found = known.find(lower(host));
    if (found == known.end()) return unknown_host(host, known);
    if (!slots->empty() && *slots->rbegin() >= found->second) {
      return usage_error("\"{}\" names slot {}, but {} has {}", show(part, 100), *slots->rbegin(), host, found->second);
    }
    Choice& choice = choices[found->first];
    choice.whole = choice.whole || !has_slots;
    choice.slots.insert(slots->begin(), slots->end());
  }
  return {};
}

// The numbers of the slots that are kept.
std::vector<std::uint32_t> numbers_kept(const Choice& choice, std::uint32_t slots, Filter what) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t n = 0; n < slots; ++n) {
    if ((choice.slots.count(n) > 0) == (what == Filter::Include)) kept.push_back(n);
  }
  return kept;
}

// Applies the filter to one host; returns false if nothing of the host is left.
bool keep(plan::Host& host, const Choices& choices, Filter what) {
  const auto found = choices.find(lower(host.name));
  if (found == choices.end()) return what == Filter::Exclude;
  if (found->second.whole) return what == Filter::Include;
  host.slot_numbers = numbers_kept(found->second, host.slots.value_or(0), what);
  host.slots = static_cast<std::uint32_t>(host.slot_numbers.size());
  return !host.slot_numbers.empty();
}

}  // namespace

Result<void> filter_hosts(std::vector<plan::Host>& hosts, std::string_view filter, Filter what) {
  SlotCounts known;
  for (const plan::Host& host : hosts) known.emplace(lower(host.name), host.slots.value_or(0));
  Choices choices;
  for (std::string_view rest = filter; !rest.empty();) {
    Result<void> added = add_part(trim(take_until(rest, '@')), known, choices);
    if (!added) return added;
  }
  std::vector<plan::Host> left;
  for (plan::Host& host : hosts) {
    if (keep(host, choices, what)) left.push_back(std::move(host));
  }
  hosts = std::move(left);
  if (hosts.empty()) return usage_error("\"{}\" leaves no host", show(filter, 100));
  return {};
}

}  // namespace sml::hosts
