// Any bytes in place of what a host and the head say to each other: refused or decoded, the same in whatever pieces
// they come; what is decoded encodes to the same bytes.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "launcher/dialin/messages.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

// Everything that decodes, encoded again; then a sign of how it ended.
template <class Message>
std::string decode(const std::string& input, std::size_t piece) {
  std::string out;
  sml::dialin::FrameReader<Message> reader;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    reader.feed(std::span<const char>(input).subspan(at, std::min(piece, input.size() - at)));
    for (;;) {
      const auto next = reader.next();
      if (!next) return out + "!";
      if (!next->has_value()) break;
      out += sml::dialin::encode(**next);
      require(out.size() <= input.size());
    }
  }
  return out;
}

template <class Message>
void check(const std::string& input) {
  const std::string whole = decode<Message>(input, input.size() + 1);
  require(decode<Message>(input, 1) == whole);
  require(decode<Message>(input, 3) == whole);
  const bool refused = !whole.empty() && whole.back() == '!';
  if (!refused) require(input.starts_with(whole));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  check<sml::dialin::ToCoordinator>(input);
  check<sml::dialin::ToPeer>(input);
  return 0;
}
