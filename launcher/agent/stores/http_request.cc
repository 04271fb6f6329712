#include "launcher/agent/stores/http_request.h"

#include <algorithm>
#include <utility>

// Replaces Beast's table of 350 header names, which adds 23 KB to the agent: its parser uses only these.
#define BOOST_BEAST_HTTP_IMPL_FIELD_IPP
#include <boost/beast/http/basic_parser.hpp>

namespace boost::beast::http {

inline field string_to_field(string_view name) {
  for (const auto& [known, text] : {std::pair(field::connection, "Connection"),
                                    {field::proxy_connection, "Proxy-Connection"},
                                    {field::content_length, "Content-Length"},
                                    {field::transfer_encoding, "Transfer-Encoding"},
                                    {field::upgrade, "Upgrade"}}) {
    if (iequals(name, text)) return known;
  }
  return field::unknown;
}

}  // namespace boost::beast::http

namespace sml::agent {

namespace http = boost::beast::http;
using boost::beast::error_code;

namespace {

HttpRequest::Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get: return HttpRequest::Method::Get;
    case http::verb::put: return HttpRequest::Method::Put;
    case http::verb::delete_: return HttpRequest::Method::Delete;
    default: return HttpRequest::Method::Other;
  }
}

// Keeps the parts of the request that the store needs.
class RequestParser final : public http::basic_parser<true> {
 public:
  HttpRequest request;

 private:
  using Text = boost::beast::string_view;
  void on_request_impl(http::verb verb, Text, Text target, int, error_code&) override {
    request.method = method_of(verb);
    request.target.assign(target.data(), target.size());
  }
  std::size_t on_body_impl(Text piece, error_code&) override {
    request.body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_field_impl(http::field, Text, Text, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text piece, error_code&) override { return piece.size(); }
  void on_finish_impl(error_code&) override {}
};

}  // namespace

struct HttpRequestReader::Parser {
  RequestParser beast;
  std::string rest;  // bytes that Beast has not taken yet: an incomplete head
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
    // Horovod's clients never send chunks, and bytes after the last chunk of a foreign client trigger an assertion in
    // Beast.
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

HttpRequest HttpRequestReader::take() { return std::move(parser_->beast.request); }

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

}  // namespace sml::agent
