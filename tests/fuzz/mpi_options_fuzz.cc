// Any text as custom_mpi_options: refused with one line, or words that may be given to -x, each name once.
#include <cstdint>
#include <set>

#include "launcher/plan/export_words.h"
#include "launcher/sagemaker/mpi_options.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto options = sml::sagemaker::parse_mpi_options(std::string_view(reinterpret_cast<const char*>(data), size));
  if (options.has_error()) {
    require(options.error().kind() == sml::ErrorKind::Config);
    require(options.error().message().find('\n') == std::string::npos);
    return 0;
  }
  std::set<std::string> names;
  for (const std::string& word : options->export_words) {
    require(sml::plan::check_export_word(word).has_value());
    require(names.insert(word.substr(0, word.find('='))).second);
  }
  require(!options->np || *options->np > 0);
  return 0;
}
