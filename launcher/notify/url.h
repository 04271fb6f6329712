// A URL to which notifications are posted. Pure. Source: RFC 3986; without user names and fragments.
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
  std::string authority;  // as the header Host has it

  // Error (Usage): a clause.
  static Result<Url> parse(std::string_view text);
};

// The whole request that posts `body`, which is JSON; with the token that permits it, unless that is empty.
std::string post_request(const Url& url, std::string_view body, std::string_view bearer = {});

// The token that a file holds, which may have blanks around it: one word of visible ASCII. Error (Config): a clause.
inline constexpr std::size_t kLongestBearer = std::size_t{16} << 10;
Result<std::string> bearer_in(std::string_view text);

// The outcome of a response that begins with `bytes`; it is a success with a status of 200 to 299. Error (Protocol): a
// clause such as "answers 500 Internal Server Error".
Result<void> read_response(std::string_view bytes);

}  // namespace sml::notify
