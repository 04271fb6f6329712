#include "common/plan/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/core/text.h"

namespace sml::plan {

namespace {

constexpr auto npos = std::string_view::npos;

Error bad_item(std::string_view item, std::string_view what) {
  return Error(ErrorKind::Usage, fmt::format("\"{}\" {}", show(item, 100), what));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// At most 18 digits, so that sums of two fit; empty for anything else.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : text) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

// Where the character stands outside of brackets, npos if nowhere.
std::size_t find_outside_brackets(std::string_view text, char wanted, std::size_t from = 0) {
  bool inside = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == wanted && !inside) return i;
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
  }
  return npos;
}

// ---- ranges: a name with brackets is a sequence of texts and of lists of numbers

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;
  std::uint64_t count() const { return last - first + 1; }
};

// Either literal text or a choice of numbers.
struct NamePart {
  std::string text;
  std::vector<NumberRange> ranges;
};

Result<NumberRange> parse_range(std::string_view text, std::string_view item) {
  const std::size_t dash = text.find('-');
  const std::string_view first_text = text.substr(0, dash);
  const std::optional<std::uint64_t> first = parse_number(first_text);
  const std::optional<std::uint64_t> last = dash == npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last) {
    return bad_item(item, fmt::format("has the bad range \"{}\"; expected numbers such as [1-4,7]", show(text, 40)));
  }
  if (*last < *first) {
    return bad_item(item, fmt::format("has a range that runs backwards; write [{}-{}]", *last, *first));
  }
  if (*last - *first >= kMaxHosts) {
    return bad_item(item, fmt::format("names {} hosts; a job has at most {}", *last - *first + 1, kMaxHosts));
  }
  return NumberRange{*first, *last, first_text.size()};
}

Result<NamePart> parse_choice(std::string_view text, std::string_view item) {
  NamePart part;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    Result<NumberRange> range = parse_range(trim(text.substr(at, comma - at)), item);
    if (!range) return range.error();
    part.ranges.push_back(*range);
    at = comma + 1;
  }
  return part;
}

Result<std::vector<NamePart>> parse_name(std::string_view name, std::string_view item) {
  std::vector<NamePart> parts;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t bracket = std::min(name.find_first_of("[]", at), name.size());
    if (bracket > at) parts.push_back({std::string(name.substr(at, bracket - at)), {}});
    if (bracket == name.size()) break;
    const std::size_t close = name.find(']', bracket);
    if (name[bracket] == ']' || close == npos || name.find('[', bracket + 1) < close) {
      return bad_item(item, "has brackets that do not match; expected a range such as algo-[1-4]");
    }
    Result<NamePart> choice = parse_choice(name.substr(bracket + 1, close - bracket - 1), item);
    if (!choice) return choice.error();
    parts.push_back(std::move(*choice));
    at = close + 1;
  }
  return parts;
}

// How many names the parts make; more than `limit` is given as limit + 1, so that nothing overflows.
std::uint64_t count_names(const std::vector<NamePart>& parts, std::uint64_t limit) {
  std::uint64_t total = 1;
  for (const NamePart& part : parts) {
    std::uint64_t choices = part.ranges.empty() ? 1 : 0;
    for (const NumberRange& range : part.ranges) choices = std::min(choices + range.count(), limit + 1);
    total = std::min(total * choices, limit + 1);
  }
  return total;
}

void append_choice(const NamePart& part, const std::string& stem, std::vector<std::string>& out) {
  for (const NumberRange& range : part.ranges) {
    for (std::uint64_t n = range.first; n <= range.last; ++n) {
      out.push_back(fmt::format("{}{:0{}}", stem, n, range.width));
    }
  }
}

// The last bracket varies fastest, as when the list is written by hand.
std::vector<std::string> expand(const std::vector<NamePart>& parts) {
  std::vector<std::string> names{""};
  for (const NamePart& part : parts) {
    if (part.ranges.empty()) {
      for (std::string& name : names) name += part.text;
      continue;
    }
    std::vector<std::string> longer;
    for (const std::string& stem : names) append_choice(part, stem, longer);
    names = std::move(longer);
  }
  return names;
}

// ---- one item

// [user@]name[:slots], cut but not yet looked at.
struct Item {
  std::string_view text;
  std::string_view name;
  std::string_view user;
  std::optional<std::string_view> slots;
};

Result<Item> cut_item(std::string_view text) {
  Item item{text, text, {}, std::nullopt};
  const std::size_t at = find_outside_brackets(text, '@');
  if (at != npos) {
    item.user = text.substr(0, at);
    item.name = text.substr(at + 1);
    if (!valid_user_name(item.user)) return bad_item(text, "has no valid user name before \"@\"");
  }
  const std::size_t colon = find_outside_brackets(item.name, ':');
  if (colon != npos) {
    if (find_outside_brackets(item.name, ':', colon + 1) != npos) {
      return bad_item(text, "has more than one \":\"; write an IPv6 address in brackets, as in [::1]:2");
    }
    item.slots = item.name.substr(colon + 1);
    item.name = item.name.substr(0, colon);
  }
  if (item.name.empty()) return bad_item(text, "has no host name; expected NAME or NAME:SLOTS");
  return item;
}

Result<std::optional<std::uint32_t>> parse_slots(const Item& item) {
  using Slots = std::optional<std::uint32_t>;
  if (!item.slots) return Slots{};
  const std::string expected = fmt::format("expected a whole number of slots from 0 to {}", kMaxSlotsPerHost);
  if (item.slots->empty()) return bad_item(item.text, "has no number after \":\"; " + expected);
  const std::optional<std::uint64_t> slots = parse_number(*item.slots);
  const bool all_digits = std::all_of(item.slots->begin(), item.slots->end(), is_digit);
  if (all_digits && (!slots || *slots > kMaxSlotsPerHost))
    return bad_item(item.text, "has too many slots; " + expected);
  if (!slots) return bad_item(item.text, fmt::format("has \"{}\" after \":\"; {}", show(*item.slots, 40), expected));
  return Slots{static_cast<std::uint32_t>(*slots)};
}

bool is_bracketed_ipv6(std::string_view name) {
  return name.size() > 2 && name.front() == '[' && name.back() == ']' && name.find(':') != npos;
}

Result<std::vector<std::string>> names_of(const Item& item, std::size_t room) {
  if (is_bracketed_ipv6(item.name)) {
    const std::string_view address = item.name.substr(1, item.name.size() - 2);
    if (!valid_host_name(address)) return bad_item(item.text, "has a bad IPv6 address in its brackets");
    return std::vector<std::string>{std::string(address)};
  }
  Result<std::vector<NamePart>> parts = parse_name(item.name, item.text);
  if (!parts) return parts.error();
  if (count_names(*parts, room) > room) {
    return bad_item(item.text, fmt::format("names too many hosts; a job has at most {}", kMaxHosts));
  }
  std::vector<std::string> names = expand(*parts);
  for (const std::string& name : names) {
    if (valid_host_name(name)) continue;
    return bad_item(item.text,
                    "is no host name; expected letters, digits, \".\", \"_\" and \"-\", not first \"-\" or \".\"");
  }
  return names;
}

// ---- the whole list

// Collects hosts; a name that comes again adds its slots to the first.
class Collector {
 public:
  // Names that come again count as well: what is expanded stays bounded by the limit, however often a range is
  // repeated.
  std::size_t room() const { return kMaxHosts - added_; }

  Result<void> add(Host host, const Item& item) {
    ++added_;
    const auto [position, is_new] = index_.try_emplace(host.name, hosts_.size());
    if (is_new) {
      slots_named_.push_back(host.slots.has_value());
      hosts_.push_back(std::move(host));
      return {};
    }
    return merge(position->second, host, item);
  }
  std::vector<Host> take() && { return std::move(hosts_); }

 private:
  Result<void> merge(std::size_t index, const Host& host, const Item& item) {
    Host& known = hosts_[index];
    if (slots_named_[index] != host.slots.has_value()) {
      return bad_item(
          item.text, fmt::format("names {} again, once with and once without slots; give slots each time", known.name));
    }
    if (!host.user.empty() && !known.user.empty() && host.user != known.user) {
      return bad_item(item.text, fmt::format("names {} again with another user than {}", known.name, known.user));
    }
    if (known.user.empty()) known.user = host.user;
    const std::uint32_t sum = known.slots.value_or(1) + host.slots.value_or(1);
    if (sum > kMaxSlotsPerHost) {
      return bad_item(item.text,
                      fmt::format("brings {} to {} slots; a host has at most {}", known.name, sum, kMaxSlotsPerHost));
    }
    known.slots = sum;
    return {};
  }

  std::size_t added_ = 0;
  std::vector<Host> hosts_;
  std::vector<bool> slots_named_;  // by the text; merging fills in slots that it did not name
  std::unordered_map<std::string, std::size_t> index_;
};

Result<void> add_item(std::string_view text, Collector& hosts) {
  const Result<Item> item = cut_item(text);
  if (!item) return item.error();
  const Result<std::optional<std::uint32_t>> slots = parse_slots(*item);
  if (!slots) return slots.error();
  Result<std::vector<std::string>> names = names_of(*item, hosts.room());
  if (!names) return names.error();
  for (std::string& name : *names) {
    Result<void> added = hosts.add({std::move(name), std::string(item->user), *slots}, *item);
    if (!added) return added;
  }
  return {};
}

}  // namespace

Result<std::vector<Host>> parse_host_list(std::string_view text) {
  if (trim(text).empty()) return Error(ErrorKind::Usage, "the host list is empty; expected NAME[:SLOTS],...");
  Collector hosts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(find_outside_brackets(text, ',', at), text.size());
    const std::string_view item = trim(text.substr(at, comma - at));
    if (item.empty()) {
      const std::string_view where =
          comma == text.size() ? "ends with a comma; remove it" : "has an empty item; remove a comma";
      return bad_item(text, where);
    }
    Result<void> added = add_item(item, hosts);
    if (!added) return added.error();
    at = comma + 1;
  }
  return std::move(hosts).take();
}

}  // namespace sml::plan
