#include "common/rendezvous/http_request.h"

#include <algorithm>
#include <utility>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace sml::rendezvous {

namespace http = boost::beast::http;

struct HttpRequestReader::Parser {
  http::request_parser<http::string_body> beast;
  std::string rest;  // what Beast has not taken yet: a head that is not whole
  State state = State::Incomplete;
};

HttpRequestReader::HttpRequestReader(std::size_t most_body) : parser_(std::make_unique<Parser>()) {
  parser_->beast.header_limit(kMaxHead);
  parser_->beast.body_limit(most_body);
}
HttpRequestReader::~HttpRequestReader() = default;
HttpRequestReader::HttpRequestReader(HttpRequestReader&&) noexcept = default;
HttpRequestReader& HttpRequestReader::operator=(HttpRequestReader&&) noexcept = default;

HttpRequestReader::State HttpRequestReader::feed(std::string_view bytes) {
  Parser& p = *parser_;
  if (p.state != State::Incomplete) return p.state;
  p.rest += bytes;
  boost::beast::error_code error;
  while (!p.rest.empty() && !p.beast.is_done()) {
    const std::size_t taken = p.beast.put(boost::beast::net::const_buffer(p.rest.data(), p.rest.size()), error);
    p.rest.erase(0, taken);
    // No client of Horovod's sends chunks, and what follows the last one of a stranger runs into an assertion of Beast.
    if (p.beast.chunked()) return p.state = State::Bad;
    if (error || taken == 0) break;
  }
  if (error == http::error::body_limit || error == http::error::header_limit || p.rest.size() > kMaxHead) {
    p.state = State::TooLong;
  } else if (error && error != http::error::need_more) {
    p.state = State::Bad;
  } else if (p.beast.is_done()) {
    p.state = State::Complete;
  }
  return p.state;
}

HttpRequest HttpRequestReader::take() {
  auto message = parser_->beast.release();
  HttpRequest out;
  switch (message.method()) {
    case http::verb::get: out.method = HttpRequest::Method::Get; break;
    case http::verb::put: out.method = HttpRequest::Method::Put; break;
    case http::verb::delete_: out.method = HttpRequest::Method::Delete; break;
    default: break;
  }
  out.target = std::string(message.target());
  out.body = std::move(message.body());
  return out;
}

std::string http_answer(int status, std::string_view body) {
  static constexpr std::pair<int, std::string_view> kReasons[] = {{200, "OK"},
                                                                  {400, "Bad Request"},
                                                                  {404, "Not Found"},
                                                                  {405, "Method Not Allowed"},
                                                                  {408, "Request Timeout"},
                                                                  {413, "Payload Too Large"},
                                                                  {507, "Insufficient Storage"}};
  const auto* reason =
      std::find_if(std::begin(kReasons), std::end(kReasons), [&](const auto& r) { return r.first == status; });
  std::string out = "HTTP/1.1 " + std::to_string(status) + " ";
  out += reason == std::end(kReasons) ? std::string_view("Error") : reason->second;
  out += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
  return out.append(body);
}

}  // namespace sml::rendezvous
