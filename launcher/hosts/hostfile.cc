#include "launcher/hosts/hostfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_collector.h"
#include "launcher/hosts/host_expression.h"

namespace sml::hosts {

namespace {

enum class Setting : std::uint8_t { Slots, MaxSlots, User, Port, NoEffect };

struct SettingName {
  std::string_view name;
  Setting setting;
};
constexpr std::array kSettings{SettingName{"slots", Setting::Slots},
                               SettingName{"cpu", Setting::Slots},
                               SettingName{"cpus", Setting::Slots},
                               SettingName{"count", Setting::Slots},
                               SettingName{"max_slots", Setting::MaxSlots},
                               SettingName{"slots_max", Setting::MaxSlots},
                               SettingName{"max_cpu", Setting::MaxSlots},
                               SettingName{"cpu_max", Setting::MaxSlots},
                               SettingName{"max_count", Setting::MaxSlots},
                               SettingName{"count_max", Setting::MaxSlots},
                               SettingName{"user", Setting::User},
                               SettingName{"username", Setting::User},
                               SettingName{"user_name", Setting::User},
                               SettingName{"port", Setting::Port},
                               SettingName{"binding", Setting::NoEffect},
                               SettingName{"boards", Setting::NoEffect},
                               SettingName{"sockets", Setting::NoEffect},
                               SettingName{"cores", Setting::NoEffect},
                               SettingName{"threads", Setting::NoEffect},
                               SettingName{"sockets_per_board", Setting::NoEffect},
                               SettingName{"cores_per_socket", Setting::NoEffect}};

const SettingName* find_setting(std::string_view key) {
  const auto letter = [](char c) { return c == '-' ? '_' : lower(c); };
  const auto* found = std::find_if(kSettings.begin(), kSettings.end(), [&](const SettingName& setting) {
    return std::ranges::equal(key, setting.name, {}, letter);
  });
  return found == kSettings.end() ? nullptr : found;
}

// An error, and the part of the line that it refers to.
struct Complaint {
  std::string_view at;
  std::string text;
};

// Parses the words of one line; `rest_` is the part that has not been read yet.
class LineReader {
 public:
  LineReader(std::string_view line, HostCollector& collector) : rest_(line), collector_(collector) {}

  // Adds the hosts of the line to the collector; an empty line adds none.
  std::optional<Complaint> read() {
    const std::string_view expression = take_word(rest_);
    if (expression.empty()) return std::nullopt;
    expression_ = expression;
    if (auto complaint = check_first_word(expression)) return complaint;
    Result<AlikeHosts> hosts = parse_host_expression(expression, collector_.room());
    if (!hosts) return quoted(expression, hosts.error().message());
    if (auto complaint = read_settings(hosts->first)) return complaint;
    const Result<void> added = collector_.add_each(std::move(*hosts));
    return added ? std::nullopt : std::optional(quoted(expression, added.error().message()));
  }

 private:
  static Complaint quoted(std::string_view word, std::string_view clause) {
    return {word, fmt::format("\"{}\" {}", show(word, 100), clause)};
  }

  std::optional<Complaint> check_first_word(std::string_view word) const {
    if (word.find(',') != std::string_view::npos && word.find('[') == std::string_view::npos)
      return quoted(word, "has a comma; write one host a line");
    if (word.front() == '^') return quoted(word, "excludes a host; leave it out of the file instead");
    const bool rankfile = equal_ignoring_case(word, "rank") && rest_.find('=') != std::string_view::npos;
    if (rankfile) return quoted(word, "begins a line of a rankfile; expected a host, as in \"algo-1 slots=8\"");
    return std::nullopt;
  }

  std::optional<Complaint> read_settings(plan::Host& host) {
    std::optional<std::uint32_t> max_slots;
    for (;;) {
      drop_blanks(rest_);
      if (rest_.empty()) break;
      const std::string_view line = rest_;
      const std::string_view key = take_word(rest_, '=');
      drop_blanks(rest_);
      if (key.empty() || !rest_.starts_with('=')) {
        return quoted(line.substr(0, std::max<std::size_t>(key.size(), 1)),
                      "follows a host; expected settings such as slots=4, and one host a line");
      }
      rest_.remove_prefix(1);
      const std::string_view value = take_word(rest_);
      const auto end = static_cast<std::size_t>(rest_.data() - line.data());
      if (auto complaint = apply(line.substr(0, end), key, value, host, max_slots)) return complaint;
    }
    if (max_slots && host.slots.value_or(0) > *max_slots) {
      return quoted(expression_, fmt::format("has {} slots, more than its max_slots={}", *host.slots, *max_slots));
    }
    if (!host.slots) host.slots = max_slots;
    return std::nullopt;
  }

  static std::optional<Complaint> apply(std::string_view text, std::string_view key, std::string_view value,
                                        plan::Host& host, std::optional<std::uint32_t>& max_slots) {
    const SettingName* setting = find_setting(key);
    if (setting == nullptr) return quoted(text, unknown_setting(key));
    const std::string_view after = text.substr(0, static_cast<std::size_t>(value.data() - text.data()));
    switch (setting->setting) {
      case Setting::Slots: return store_once(text, parse_slots(value, after), host.slots, "slots");
      case Setting::MaxSlots: return store_once(text, parse_slots(value, after), max_slots, "greatest number of slots");
      case Setting::Port: return store_once(text, parse_port(value, after), host.port, "port");
      case Setting::NoEffect: return std::nullopt;
      case Setting::User: break;
    }
    if (!plan::valid_user_name(value)) return quoted(text, "names no valid user");
    if (!host.user.empty()) return quoted(text, "names the user of this host twice");
    host.user = value;
    return std::nullopt;
  }

  template <class Value>
  static std::optional<Complaint> store_once(std::string_view text, const Result<Value>& value,
                                             std::optional<Value>& field, std::string_view what) {
    if (!value) return quoted(text, value.error().message());
    if (field) return quoted(text, fmt::format("names the {} of this host twice", what));
    field = *value;
    return std::nullopt;
  }

  static std::string unknown_setting(std::string_view key) {
    std::vector<std::string_view> names;
    for (const SettingName& setting : kSettings) names.push_back(setting.name);
    const std::string_view best = nearest(lower(key), names);
    return best.empty() ? "is no setting of a host; expected slots=N, max_slots=N, user=NAME or port=N"
                        : fmt::format("is no setting of a host; did you mean {}=?", best);
  }

  std::string_view rest_;
  std::string_view expression_;
  HostCollector& collector_;
};

// Calls `read_line(line, collector)` for each line, without its comment.
template <class ReadLine>
Result<std::vector<plan::Host>> read_lines(std::string_view text, std::string_view path, ReadLine read_line) {
  if (text.size() > kMaxHostfileBytes) return file_error(path, "is larger than 16 MiB");
  HostCollector collector(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  for (TextCursor at(text, path); !at.at_end(); at.take_line()) {
    const std::string_view line = at.rest_of_line();
    const std::optional<Complaint> complaint = read_line(line.substr(0, line.find('#')), collector);
    if (!complaint) continue;
    const auto column = complaint->at.data() - line.data() + 1;
    return file_error(fmt::format("{}:{}:{}", path, at.line(), column), complaint->text);
  }
  if (collector.empty()) return file_error(path, "names no host; expected one host a line, as in \"algo-1 slots=8\"");
  return std::move(collector).take();
}

}  // namespace

Result<std::vector<plan::Host>> parse_hostfile(std::string_view text, std::string_view path) {
  return read_lines(text, path,
                    [](std::string_view line, HostCollector& collector) { return LineReader(line, collector).read(); });
}

}  // namespace sml::hosts
