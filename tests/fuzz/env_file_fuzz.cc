// Any text: an env file is refused with one line, or every variable has a valid name and a value without NUL.
#include "launcher/plan/env_file.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto variables = sml::plan::parse_env_file(text, "f");
  if (variables.has_error()) {
    require(variables.error().kind() == sml::ErrorKind::Config);
    require(variables.error().message().starts_with("f:"));
    require(variables.error().message().find('\n') == std::string::npos && variables.error().message().size() < 200);
    return 0;
  }
  for (const std::string& entry : *variables) {
    require(sml::plan::valid_variable_name(sml::plan::name_of(entry)));
    require(entry.find('\0') == std::string::npos);
    require(entry.size() <= text.size());
  }
  return 0;
}
