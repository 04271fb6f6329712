// Any words, the first byte says of which launcher: an option is refused with one line, or comes to options of ours.
#include "launcher/dialects/dialect.h"

#include <algorithm>
#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

using namespace sml::dialects;

namespace {
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto dialect = static_cast<Dialect>(data[0] % 8);
  const std::vector<std::string> words = lines_of({reinterpret_cast<const char*>(data) + 1, size - 1});
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const auto& options : {options_of_accelerate_config(text, "f"), options_of_horovod_config(text, "f")}) {
    if (options.has_error()) {
      const std::string message = options.error().message();
      require(message.starts_with("f:") && message.find('\n') == std::string::npos && message.size() < 800);
      continue;
    }
    for (const SourcedOption& option : *options) {
      for (const std::string& word : option.words)
        require(word.starts_with("--") && word.find('\0') == std::string::npos);
    }
  }
  const Row* row = find_row(dialect, words.front());
  if (row == nullptr) row = find_cut_short(dialect, words.front());
  if (row != nullptr && words.size() > row->values) {
    const auto meaning = row->meaning(words.front(), std::span(words).subspan(1, row->values));
    if (meaning.has_error()) {
      require(meaning.error().message().find('\n') == std::string::npos && meaning.error().message().size() < 400);
      return 0;
    }
    for (const SetOption& given : meaning->options) require(given.option == "-x" || given.option.starts_with("--"));
    require(meaning->note.find('\n') == std::string::npos);
  }
  static_cast<void>(command_of(dialect, Program::Unchanged, words, "python"));
  return 0;
}
