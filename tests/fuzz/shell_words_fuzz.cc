// Any text as shell words: refused, or words that come back when they are quoted again; and quoting is undone by
// reading.
#include <cstdint>
#include <string>

#include "common/core/text.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto one = sml::shell_words(sml::shell_quote(text));
  require(one.has_value() && one->size() == 1 && (*one)[0] == text);

  const auto words = sml::shell_words(text);
  if (!words) return 0;
  std::size_t total = 0;
  std::string quoted;
  for (const std::string& word : *words) {
    total += word.size();
    if (!quoted.empty()) quoted += ' ';
    quoted += sml::shell_quote(word);
  }
  require(total <= text.size());
  const auto again = sml::shell_words(quoted);
  require(again.has_value() && *again == *words);
  return 0;
}
