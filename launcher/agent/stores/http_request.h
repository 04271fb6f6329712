// Parses one HTTP request from bytes in pieces of any size. Pure; uses Beast, in the .cc file only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sml::agent {

struct HttpRequest {
  enum class Method : std::uint8_t { Get, Put, Delete, Other };
  Method method = Method::Other;
  std::string target;  // as sent: not decoded
  std::string body;
};

class HttpRequestReader {
 public:
  static constexpr std::size_t kMaxHead = std::size_t{8} << 10;  // request line and headers

  // TooLong: the head is longer than kMaxHead, or the body than `most_body` bytes. Bad: not valid HTTP, or a body in
  // chunks.
  enum class State : std::uint8_t { Incomplete, Complete, TooLong, Bad };

  explicit HttpRequestReader(std::size_t most_body);
  ~HttpRequestReader();
  HttpRequestReader(HttpRequestReader&&) noexcept;
  HttpRequestReader& operator=(HttpRequestReader&&) noexcept;

  // Continues with `bytes` and returns the state. Bytes after a complete request are ignored; so are all bytes after
  // TooLong or Bad.
  State feed(std::string_view bytes);
  // Returns the request. Call once, after State::Complete.
  HttpRequest take();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// Returns the bytes of a reply after which the connection is closed. The header names are spelled as Horovod's client
// expects them: it distinguishes capital and small letters.
std::string http_answer(int status, std::string_view body = {});

}  // namespace sml::agent
