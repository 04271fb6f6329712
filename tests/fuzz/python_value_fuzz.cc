// Any text as Python's JSON: refused, or a value whose JSON reads back as the same value; every spelling is valid
// UTF-8.
#include <cstdint>

#include "common/core/text.h"
#include "launcher/sagemaker/hyperparameters.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {
void require_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sml::utf8_length(text);
    require(length > 0);
    text.remove_prefix(length);
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::sagemaker;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto value = parse_json(text)) {
    for (const JsonStyle style : {JsonStyle::Default, JsonStyle::Compact}) {
      const std::string written = to_json(*value, style);
      const auto again = parse_json(written);
      require(again.has_value() && to_json(*again, style) == written);
    }
    require_utf8(to_repr(*value));
  }
  if (const auto all = parse_hyperparameters(text, "f")) {
    require(arguments_of(*all, ArgumentStyle::V3).size() == 2 * all->size());
    for (const std::string& word : arguments_of(*all, ArgumentStyle::Toolkit)) require_utf8(word);
  }
  return 0;
}
