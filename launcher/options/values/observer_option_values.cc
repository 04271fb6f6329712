// Setters of option_values.h for metrics and notifications.
#include <algorithm>
#include <cctype>

#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

namespace {

using std::string_view;

constexpr std::size_t kMostTargets = 8;
constexpr Choice<NotifyOn> kEvents[] = {
    {"start", NotifyOn::Start}, {"restart", NotifyOn::Restart}, {"failure", NotifyOn::Failure}, {"end", NotifyOn::End}};
constexpr string_view kAddressForms = "auto, PORT, ADDRESS:PORT with a numeric address, or unix:PATH";

bool is_url(string_view value) { return value.starts_with("http://") || value.starts_with("https://"); }

// A URL without blanks and control characters, with a host.
bool is_whole_url(string_view value) {
  const auto is_graphic = [](char c) { return std::isgraph(static_cast<unsigned char>(c)) != 0; };
  const string_view rest = value.substr(value.find("//") + 2);
  return !rest.empty() && rest.front() != '/' && rest.front() != ':' &&
         std::all_of(value.begin(), value.end(), is_graphic);
}

}  // namespace

Result<void> set_metrics(Options& o, string_view value) {
  constexpr string_view kUnix = "unix:";
  constexpr Bounds kPorts{0, 65535};
  MetricsAddress out{.host = "127.0.0.1"};
  if (value.starts_with(kUnix)) {
    out = {.host = {}, .path = std::string(value.substr(kUnix.size()))};
    if (out.path.empty()) return bad_value(value, kAddressForms);
  } else if (value != "auto") {
    const std::size_t colon = value.rfind(':');
    const string_view port = colon == string_view::npos ? value : value.substr(colon + 1);
    const Result<std::uint32_t> parsed = number(port, kPorts);
    if (!parsed) return bad_value(value, kAddressForms);
    out.port = static_cast<std::uint16_t>(*parsed);
    if (colon != string_view::npos) out.host = value.substr(0, colon);
    if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
    if (out.host == "localhost") out.host = "127.0.0.1";
    if (!is_numeric_address(out.host)) return bad_value(value, kAddressForms);
  }
  o.observers.metrics = {std::move(out)};
  return {};
}

Result<void> add_notify(Options& o, string_view value) {
  NotifyTarget target{.text = std::string(value)};
  if (is_url(value)) {
    if (!is_whole_url(value)) return bad_value(value, "a URL with a host and without blanks");
  } else {
    Result<std::vector<std::string>> words = shell_words(value);
    if (!words) return words.error();
    if (words->empty() || words->front().empty()) return bad_value(value, "a command, or a URL of http:// or https://");
    if (words->front().find("://") != std::string::npos) return bad_value(value, "a URL of http:// or https://");
    target.command = std::move(*words);
  }
  if (o.observers.notify.size() == kMostTargets) {
    return Error(ErrorKind::Usage, fmt::format("more than {} are notified", kMostTargets));
  }
  o.observers.notify.push_back(std::move(target));
  return {};
}

Result<std::uint8_t> notify_events(string_view value) {
  std::uint8_t on = 0;
  for (const string_view word : split(value, ',')) {
    const Result<NotifyOn> event = one_of<kEvents>(word);
    if (!event) return event.error();
    on |= static_cast<std::uint8_t>(*event);
  }
  return on;
}

}  // namespace sml
