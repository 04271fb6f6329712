#include "launcher/hosts/host_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/name_pattern.h"

namespace sml::hosts {

namespace {

constexpr std::string_view kScheme = "ssh://";

// An expression split into its fields, which are not validated yet.
struct Fields {
  std::string_view name;
  std::optional<std::string_view> user;
  std::optional<std::string_view> port;
  std::optional<std::string_view> slots;
  std::string_view before_slots = ":";
};

// The positions of the separators outside of brackets; std::string_view::npos if there is none.
struct Marks {
  std::size_t at = std::string_view::npos;
  std::size_t colon = std::string_view::npos;  // here and below: after the "@"
  std::size_t second_colon = std::string_view::npos;
  std::size_t slash = std::string_view::npos;
};

Marks find_marks(std::string_view text) {
  Marks marks;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '[': inside = true; break;
      case ']': inside = false; break;
      case '@':
        if (!inside && marks.at == std::string_view::npos) marks = {.at = i};
        break;
      case ':':
        if (!inside) (marks.colon == std::string_view::npos ? marks.colon : marks.second_colon) = i;
        break;
      case '/':
        if (!inside && marks.slash == std::string_view::npos) marks.slash = i;
        break;
      default: break;
    }
  }
  return marks;
}

Result<Fields> cut(std::string_view text) {
  Fields fields;
  const bool is_url = text.starts_with(kScheme);
  if (is_url) text.remove_prefix(kScheme.size());
  const auto [at, colon, second_colon, slash] = find_marks(text);
  if (second_colon != std::string_view::npos)
    return usage_error("has more than one \":\"; write an IPv6 address in brackets, as in [::1]:2");
  if (slash < colon && colon != std::string_view::npos)
    return usage_error("has \"/\" before \":\"; write HOST:PORT/SLOTS");
  if (at != std::string_view::npos) fields.user = text.substr(0, at);
  const std::size_t name = at == std::string_view::npos ? 0 : at + 1;
  fields.name = text.substr(name, std::min({colon, slash, text.size()}) - name);
  if (slash != std::string_view::npos) {
    fields.before_slots = "/";
    fields.slots = text.substr(slash + 1);
    if (fields.slots->empty() && (is_url || colon != std::string_view::npos)) fields.slots.reset();
    text = text.substr(0, slash);
  }
  if (colon != std::string_view::npos)
    (is_url || slash != std::string_view::npos ? fields.port : fields.slots) = text.substr(colon + 1);
  return fields;
}

Result<std::uint64_t> parse_bounded(std::string_view text, std::string_view after, std::uint64_t most,
                                    std::string_view what, std::string_view expected) {
  if (text.empty()) return usage_error("has no number after \"{}\"; {}", after, expected);
  const std::optional<std::uint64_t> number = whole_number(text);
  if (all_digits(text) && (!number || *number > most)) return usage_error("has too {}; {}", what, expected);
  if (!number) return usage_error("has \"{}\" after \"{}\"; {}", show(text, 40), after, expected);
  return *number;
}

Result<std::vector<std::string>> names_of(std::string_view name, std::size_t limit) {
  const bool ipv6 =
      name.size() > 2 && name.front() == '[' && name.back() == ']' && name.find(':') != std::string_view::npos;
  if (ipv6) {
    const std::string_view address = name.substr(1, name.size() - 2);
    if (!plan::valid_host_name(address)) return usage_error("has a bad IPv6 address in its brackets");
    return std::vector<std::string>{std::string(address)};
  }
  Result<std::vector<std::string>> names = expand_name_pattern(name, PatternOrder::LastBracketFastest, limit);
  if (!names) return names.error();
  if (name.find('{') != std::string_view::npos) return usage_error("is no host name; write a range as algo-[1-2]");
  if (!std::all_of(names->begin(), names->end(), plan::valid_host_name)) {
    return usage_error("is no host name; expected letters, digits, \".\", \"_\" and \"-\", not first \"-\" or \".\"");
  }
  return names;
}

}  // namespace

Result<std::uint32_t> parse_slots(std::string_view text, std::string_view after) {
  static const std::string expected =  // built once, for hundreds of thousands of lines
      fmt::format("expected a whole number of slots from 0 to {}", plan::kMaxSlotsPerHost);
  const Result<std::uint64_t> slots = parse_bounded(text, after, plan::kMaxSlotsPerHost, "many slots", expected);
  if (!slots) return slots.error();
  return static_cast<std::uint32_t>(*slots);
}

Result<std::uint16_t> parse_port(std::string_view text, std::string_view after) {
  constexpr std::string_view kExpected = "expected a port from 1 to 65535";
  const Result<std::uint64_t> port = parse_bounded(text, after, 65535, "large a port", kExpected);
  if (!port) return port.error();
  if (*port == 0) return usage_error("has port 0; {}", kExpected);
  return static_cast<std::uint16_t>(*port);
}

Result<AlikeHosts> parse_host_expression(std::string_view text, std::size_t limit) {
  const Result<Fields> fields = cut(text);
  if (!fields) return fields.error();
  AlikeHosts hosts;
  plan::Host& host = hosts.first;
  if (fields->user) {
    if (!plan::valid_user_name(*fields->user)) return usage_error("has no valid user name before \"@\"");
    host.user = *fields->user;
  }
  if (fields->name.empty()) return usage_error("has no host name; expected NAME or NAME:SLOTS");
  if (fields->port) {
    const Result<std::uint16_t> port = parse_port(*fields->port, ":");
    if (!port) return port.error();
    host.port = *port;
  }
  if (fields->slots) {
    const Result<std::uint32_t> slots = parse_slots(*fields->slots, fields->before_slots);
    if (!slots) return slots.error();
    host.slots = *slots;
  }
  if (limit > 0 && plan::valid_host_name(fields->name)) {  // the usual case
    host.name = fields->name;
    return hosts;
  }
  Result<std::vector<std::string>> names = names_of(fields->name, limit);
  if (!names) return names.error();
  host.name = std::move(names->front());
  names->erase(names->begin());
  hosts.other_names = std::move(*names);
  return hosts;
}

}  // namespace sml::hosts
