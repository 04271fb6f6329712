#include "launcher/metrics/http_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/core/text.h"

namespace sml::metrics {

namespace {

using std::string_view;

Refusal refuse(string_view status, string_view text, string_view more = "") {
  return {
      fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{}"
                  "Connection: close\r\n\r\n{}\n",
                  status, text.size() + 1, more, text)};
}

bool same_word(string_view a, string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

bool names_open_metrics(string_view value) {
  for (const string_view one : split(value, ',')) {
    if (same_word(trim(one.substr(0, one.find(';'))), "application/openmetrics-text")) return true;
  }
  return false;
}

std::variant<Format, Refusal> take(string_view header) {
  const std::vector<string_view> lines = split(header, '\n');
  const std::vector<string_view> words = split(trim(lines.front()), ' ');
  if (words.size() != 3 || !words[2].starts_with("HTTP/1.")) return refuse("400 Bad Request", "no request of HTTP/1.1");
  if (words[0] != "GET") return refuse("405 Method Not Allowed", "only GET is served", "Allow: GET\r\n");
  if (words[1].substr(0, words[1].find('?')) != "/metrics") return refuse("404 Not Found", "only /metrics is there");
  Format format = Format::Text;
  for (const string_view line : std::span(lines).subspan(1)) {
    const std::size_t colon = line.find(':');
    if (colon == string_view::npos || !same_word(line.substr(0, colon), "accept")) continue;
    if (names_open_metrics(line.substr(colon + 1))) format = Format::OpenMetrics;
  }
  return format;
}

}  // namespace

std::optional<std::variant<Format, Refusal>> read_request(string_view bytes) {
  const std::size_t end = std::min(bytes.find("\r\n\r\n"), bytes.find("\n\n"));
  if (std::min(end, bytes.size()) > kMostRequest) return refuse("431 Request Header Fields Too Large", "too large");
  if (end == string_view::npos) return std::nullopt;
  return take(bytes.substr(0, end));
}

std::string response_head(Format format, std::size_t size) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                     content_type(format), size);
}

}  // namespace sml::metrics
