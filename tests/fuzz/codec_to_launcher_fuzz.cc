// Any bytes in place of frames to the launcher: refused or decoded, the same in whatever pieces they come; what is
// decoded encodes to a message that decodes to the same.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/codec.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using Message = sml::wire::ToLauncher;
enum class Fed : std::uint8_t { Copied, InPlace };

void check_round_trip(const Message& message, const std::string& bytes) {
  sml::wire::Decoder<Message> decoder;
  decoder.feed(bytes);
  const auto back = decoder.next();
  require(back.has_value() && back->has_value());
  require((*back)->index() == message.index());
  require(sml::wire::encode(**back) == bytes);
}

// Everything that decodes, encoded again; then a sign of how it ended.
std::string decode(const std::string& input, std::size_t piece, Fed fed = Fed::Copied) {
  std::string out;
  sml::wire::Decoder<Message> decoder;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    const auto fresh = std::span<const char>(input).subspan(at, std::min(piece, input.size() - at));
    const std::vector<char> own(fresh.begin(), fresh.end());  // gone after this round
    fed == Fed::InPlace ? decoder.feed_in_place(own) : decoder.feed(own);
    for (;;) {
      const auto next = decoder.next();
      if (!next) {
        require(next.error().kind() == sml::ErrorKind::Protocol);
        return out + "!";
      }
      if (!next->has_value()) break;
      const std::string bytes = sml::wire::encode(**next);
      check_round_trip(**next, bytes);
      out += bytes;
      require(out.size() <= input.size());  // nothing is decoded that was not there
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string whole = decode(input, input.size() + 1);
  require(decode(input, 1) == whole);
  require(decode(input, 3) == whole);
  require(decode(input, 3, Fed::InPlace) == whole);
  require(decode(input, input.size() + 1, Fed::InPlace) == whole);
  const bool refused = !whole.empty() && whole.back() == '!';
  if (!refused) require(input.starts_with(whole));
  return 0;
}
