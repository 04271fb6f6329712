// Any text that a worker leaves of its own failure: what is shown of it is not more than it was, and hiding secrets in
// it hides them once and for all.
#include "launcher/report/outcome/error_file.h"

#include <cstdint>

#include "launcher/sagemaker/failure_text.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const report::WorkerError error = report::parse_error_file(text);
  // A byte that is no text takes three when it has been replaced.
  require(error.message.size() + error.callstack.size() <= 3 * text.size());
  require(!text.empty() || (error.message.empty() && error.callstack.empty()));
  const std::string hidden = sagemaker::without_secrets(text);
  require(sagemaker::without_secrets(hidden) == hidden);
  require(sagemaker::without_secrets("A_TOKEN=s3cr3t " + std::string(text)).find("s3cr3t") == std::string::npos ||
          text.find("s3cr3t") != std::string_view::npos);
  return 0;
}
