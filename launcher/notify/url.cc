#include "launcher/notify/url.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/core/text.h"

namespace sml::notify {

namespace {

using std::string_view;

constexpr std::size_t kLongestUrl = 2000;
constexpr std::size_t kLongestReason = 80;

Error no_url(string_view why) { return {ErrorKind::Usage, std::string(why)}; }

}  // namespace

Result<Url> Url::parse(string_view text) {
  if (text.size() > kLongestUrl) return no_url("the URL is too long");
  Url out;
  if (text.starts_with("https://")) {
    out.scheme = Scheme::Https;
    out.port = 443;
  }
  const std::size_t begin = text.find("//");
  if (begin == string_view::npos) return no_url("it is no URL");
  text = text.substr(begin + 2, text.find('#') - begin - 2);
  const std::size_t slash = std::min(text.find_first_of("/?"), text.size());
  out.authority = text.substr(0, slash);
  out.target = text.substr(slash);
  if (!out.target.starts_with('/')) out.target.insert(0, 1, '/');
  if (out.authority.find('@') != std::string::npos) return no_url("a user name in the URL is not taken");
  string_view host = out.authority;
  string_view port;
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == string_view::npos) return no_url("its address has no ]");
  const std::size_t colon = host.find(':', bracket);
  if (colon != string_view::npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
    out.port = parse_number<std::uint16_t>(port).value_or(0);
    if (out.port == 0) return no_url("its port is no number");
  }
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return no_url("it has no host");
  out.host = host;
  return out;
}

std::string post_request(const Url& url, string_view body, string_view bearer) {
  const std::string permit = bearer.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", bearer);
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: sml-run/{}\r\n{}Content-Type: application/json\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      url.target, url.authority, SML_VERSION, permit, body.size(), body);
}

Result<std::string> bearer_in(string_view text) {
  text = trim(text);
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (text.empty()) return Error(ErrorKind::Config, "is empty");
  if (text.size() > kLongestBearer) return Error(ErrorKind::Config, "is too long for a token");
  if (!std::all_of(text.begin(), text.end(), is_visible)) return Error(ErrorKind::Config, "holds no token");
  return std::string(text);
}

Result<void> read_response(string_view bytes) {
  const string_view line = trim(bytes.substr(0, bytes.find('\n')));
  const std::size_t blank = line.find(' ');
  if (!line.starts_with("HTTP/1.") || blank == string_view::npos) {
    return Error(ErrorKind::Protocol,
                 bytes.empty() ? "closes the connection without an answer" : "does not answer in HTTP");
  }
  const string_view status = line.substr(blank + 1);
  const bool is_status = status.size() >= 3 && status.find_first_not_of("0123456789") >= 3;
  if (is_status && status.front() == '2') return {};
  return Error(ErrorKind::Protocol, "answers " + show(status, kLongestReason));
}

}  // namespace sml::notify
