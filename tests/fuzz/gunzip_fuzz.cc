// Any bytes in the place of a gzip file, in pieces of any size: an error, or the same bytes out.
#include "launcher/agent/pipes/gunzip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

namespace {

constexpr std::size_t kMost = 1 << 20;

// What comes out, up to kMost bytes; nothing: it is not gzip.
std::optional<std::string> unpack(std::string_view file, std::size_t piece) {
  agent::Gunzip gunzip;
  std::string out;
  std::array<char, 4096> buffer{};
  std::string_view in;
  while (out.size() < kMost) {
    if (in.empty()) {
      in = file.substr(0, piece);
      file.remove_prefix(in.size());
    }
    const std::size_t before = in.size();
    const auto filled = gunzip.inflate(in, buffer);
    if (!filled) {
      require(filled.error().kind() == ErrorKind::Io);
      return std::nullopt;
    }
    require(*filled <= buffer.size() && in.size() <= before);
    out.append(buffer.data(), *filled);
    if (*filled == 0 && in.empty() && file.empty()) break;
    require(*filled > 0 || in.size() < before);  // or it would go on for ever
  }
  out.resize(std::min(out.size(), kMost));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = unpack(file, std::max<std::size_t>(file.size(), 1));
  const auto pieces = unpack(file, data[0] % 32U + 1);
  // An error behind kMost bytes may come in one and not in the other.
  require(whole.has_value() == pieces.has_value() ? whole == pieces : true);
  return 0;
}
