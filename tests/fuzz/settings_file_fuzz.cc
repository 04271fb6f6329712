// Any text: a --config file is refused with one line, or every setting has a key and values without NUL.
#include "launcher/options/settings_file.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto settings = sml::plan::parse_settings_file(text, "f");
  if (settings.has_error()) {
    require(settings.error().kind() == sml::ErrorKind::Config);
    require(settings.error().message().starts_with("f:"));
    require(settings.error().message().find('\n') == std::string::npos && settings.error().message().size() < 200);
    return 0;
  }
  std::size_t last_line = 0;
  for (const sml::plan::Setting& setting : *settings) {
    require(!setting.key.empty() && !setting.values.empty() && setting.line > last_line);
    last_line = setting.line;
    for (const std::string& value : setting.values) require(value.find('\0') == std::string::npos);
  }
  return 0;
}
