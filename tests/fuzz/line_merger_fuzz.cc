// Any bytes of three sources in any order: whatever is passed on of a source is what it wrote, in its order, nothing
// lost. The first bytes of the input choose source, size and what happens.
#include "launcher/output/line_merger.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using sml::output::LineMerger;

constexpr std::size_t kSources = 3;

// Tags begin with a byte that no source writes, and so do our own lines.
std::string tag_of(std::size_t source) { return std::string("\x01") + static_cast<char>('A' + source); }

// What a source may write: no tags, and no brackets, so that the signs of continuation are the merger's.
std::string harmless(std::string_view bytes) {
  std::string out(bytes);
  std::replace(out.begin(), out.end(), '\x01', '.');
  std::replace(out.begin(), out.end(), '[', '(');
  return out;
}

struct Joined {
  std::vector<std::string> sources = std::vector<std::string>(kSources + 1);
  bool continues[kSources + 1] = {};  // its last piece is one of a line to be continued
  std::size_t last = kSources + 1;
};

Joined take_apart(std::string_view output) {
  Joined joined;
  while (!output.empty()) {
    require(output.size() >= 2 && output[0] == '\x01');
    const auto source = static_cast<std::size_t>(output[1] - 'A');
    require(source <= kSources);
    output.remove_prefix(2);
    std::string_view piece = output.substr(0, output.find('\x01'));
    output.remove_prefix(piece.size());
    if (piece.starts_with("[...]")) piece.remove_prefix(5);
    joined.continues[source] = piece.ends_with("[...]\n");
    if (joined.continues[source]) piece.remove_suffix(6);
    joined.sources[source] += piece;
    joined.last = source;
  }
  return joined;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  LineMerger merger;
  for (std::size_t i = 0; i < kSources; ++i) merger.add_source(tag_of(i));
  std::vector<std::string> written(kSources + 1);
  bool finished[kSources] = {};
  std::string output;
  while (input.size() >= 2) {
    const auto choice = static_cast<unsigned char>(input[0]);
    const std::size_t wanted = static_cast<unsigned char>(input[1]);
    input.remove_prefix(2);
    const std::size_t source = choice % (kSources + 1);
    if (source == kSources) {
      merger.add_own_line(tag_of(kSources) + "own");
      written[kSources] += "own\n";
    } else if (finished[source]) {
      continue;
    } else if (choice >= 250) {
      merger.finish(static_cast<LineMerger::Source>(source));
      finished[source] = true;
    } else {
      std::string piece = harmless(input.substr(0, std::min(wanted, input.size())));
      input.remove_prefix(piece.size());
      if (choice >= 240) piece += std::string(LineMerger::kMaxLine, 'L');
      merger.add(static_cast<LineMerger::Source>(source), piece);
      written[source] += piece;
    }
    if (choice & 4) {
      output += merger.output();
      merger.output().clear();
    }
  }
  for (std::size_t i = 0; i < kSources; ++i) {
    if (!finished[i]) merger.finish(static_cast<LineMerger::Source>(i));
  }
  output += merger.output();
  const Joined joined = take_apart(output);
  for (std::size_t i = 0; i <= kSources; ++i) {
    std::string expected = written[i];
    const bool ended = expected.empty() || expected.back() == '\n' || expected.back() == '\r';
    if (!ended && joined.last != i && !joined.continues[i])
      expected.push_back('\n');  // completed, as something of another follows
    require(joined.sources[i] == expected);
  }
  return 0;
}
