// Any bytes in what we print of others: a line of our own stays one line of valid UTF-8 that steers no terminal, and
// JSON stays JSON, in ASCII, with the same text in it where that is text.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/core/text.h"
#include "launcher/report/explain.h"
#include "launcher/report/live/own_line.h"
#include "launcher/sagemaker/failure_text.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

namespace {

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

bool steers(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) return true;
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string line = report::own_line(input);
  require(line.starts_with("sml-run: ") && is_text(line) && !steers(line));
  for (const std::size_t limit : {0U, 1U, 10U, 200U}) {
    const std::string shown = show(input, limit);
    require(is_text(shown) && !steers(shown) && shown.size() <= limit + 16);
  }
  require(fold_names(std::vector<std::string>{input, "a1", input}).size() <= 2 * size + 16);

  const std::vector<report::ExplainedValue> values{{"--np", input, report::ValueSource::File, input}};
  const std::string json = report::explain_json(values);
  require(std::all_of(json.begin(), json.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  require(!parsed.is_discarded());
  const auto& value = parsed["options"][0]["value"];
  if (!input.empty() && is_text(input)) require(value == input);

  const std::string failure =
      sagemaker::failure_text(Error(ErrorKind::Config, input), {.characters = 300, .bytes = 200});
  require(failure.size() <= 200 && is_text(failure));
  return 0;
}
