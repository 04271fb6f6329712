// A URL to which notifications are posted. Pure. Source: RFC 3986. A user name is an error; a fragment is dropped.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::notify {

struct Url {
  enum class Scheme : std::uint8_t { Http, Https };
  Scheme scheme = Scheme::Http;
  std::string host;  // a name or a numeric address, without brackets
  std::uint16_t port = 80;
  std::string target;     // path and query
  std::string authority;  // the value of the header Host

  // A scheme other than https counts as http: callers check it. The error message (Usage) is a part of a sentence.
  static Result<Url> parse(std::string_view text);
};

// The whole HTTP request that posts `body`, which is JSON. `bearer` is the access token; empty: none.
std::string post_request(const Url& url, std::string_view body, std::string_view bearer = {});

// The access token in the text of a file: one word of visible ASCII, with or without blanks around it. The error
// message (Config) is a part of a sentence.
inline constexpr std::size_t kLongestBearer = std::size_t{16} << 10;
Result<std::string> bearer_in(std::string_view text);

// The outcome of a response that begins with `bytes`: a success if its status is 200 to 299. The error message
// (Protocol) is a part of a sentence, such as "answers 500 Internal Server Error".
Result<void> read_response(std::string_view bytes);

}  // namespace sml::notify
