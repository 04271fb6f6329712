// What the other end claims to have received, in any order with what is sent: what is kept stays what was appended.
#include "common/wire/resumable_stream.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sml::wire::SentBytes sent;
  std::string all;
  std::uint64_t least = 0;
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    const std::uint64_t value = data[i + 1];
    switch (data[i] % 4) {
      case 0:
      case 1:
        all.append(value, static_cast<char>('a' + i % 26));
        sent.append(std::string(value, static_cast<char>('a' + i % 26)));
        break;
      case 2: {
        const std::uint64_t claim = data[i] < 128 ? value * 8 : ~value;
        const bool taken = sent.acknowledge(claim);
        require(taken == (claim <= all.size()));
        if (taken) least = std::max(least, claim);
        break;
      }
      default: sent.forget(value * 4);
    }
    require(sent.end() == all.size());
    const std::uint64_t begin = sent.end() - sent.size();
    require(begin >= least);
    require(sent.from(begin) == std::string_view(all).substr(begin));
    require(begin == 0 || !sent.from(begin - 1));
    require(!sent.from(sent.end() + 1));
  }
  return 0;
}
