// Any text as a file of --app: refused in one line that names it, or programs that have words to run, none with NUL.
#include <cstdint>
#include <string>

#include "launcher/options/app_file.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

void check(const sml::ProgramOptions& program) {
  require(!program.command.empty());
  for (const std::string& word : program.command) require(word.find('\0') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;  // lines are independent of each other
  const std::string text(reinterpret_cast<const char*>(data), size);
  const sml::ReadFile read_file = [&text](const std::string&, std::size_t) { return sml::Result<std::string>(text); };
  sml::Options options;
  options.app_file = "f";
  const auto read = sml::read_app_file(options, read_file);
  if (!read) {
    require(read.error().kind() == sml::ErrorKind::Config && read.error().message().starts_with("f:"));
    require(read.error().message().find('\n') == std::string::npos);
    return 0;
  }
  check(options);
  for (const sml::ProgramOptions& program : options.more_programs) check(program);
  return 0;
}
