// Any bytes: nothing reaches the terminal but text, \t, \n, \r and colours, however the bytes were cut.
#include "launcher/output/terminal_filter.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string whole;
  std::string cut;
  sml::output::TerminalFilter first;
  sml::output::TerminalFilter second;
  first.add(input, whole);
  first.finish(whole);
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = 1 + data[at] % 7;
    second.add(input.substr(at, length), cut);
    at += length;
  }
  second.finish(cut);
  require(whole == cut);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const auto c = static_cast<unsigned char>(whole[at]);
    require(c != 0x7f && (c >= ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x1b));
    if (c != 0x1b) continue;
    require(at + 1 < whole.size() && whole[at + 1] == '[');
    at = whole.find_first_not_of("0123456789;:", at + 2);
    require(at != std::string::npos && whole[at] == 'm');
  }
  return 0;
}
