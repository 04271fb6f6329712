// Any bytes as the files of a training job (one after the other, with a NUL byte between them): refused with one line,
// or hosts that are the job's, a program within the folder of the sources, and words that hold no NUL byte.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/distribution.h"
#include "launcher/sagemaker/entry_point.h"
#include "launcher/sagemaker/sm_environment.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {
template <class T>
bool accepted(const sml::Result<T>& result) {
  if (result.has_value()) return true;
  require(result.error().kind() == sml::ErrorKind::Config);
  require(result.error().message().find('\n') == std::string::npos);
  return false;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::sagemaker;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::map<std::string, std::string> texts;
  for (const char* name : {"resourceconfig.json", "hyperparameters.json", "inputdataconfig.json"}) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    texts["/opt/ml/input/config/" + std::string(name)] = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const sml::FileAccess files{
      .read = [&](const std::string& path, std::size_t) -> sml::Result<std::string> { return texts[path]; },
      .exists =
          [&](const std::string& path) {
            return path.find("..") == path.npos && (texts.count(path) > 0 || path.ends_with("/train.py"));
          }};
  const auto contract = read_contract({}, files, "box");
  if (!accepted(contract)) return 0;
  const auto distribution = read_distribution(*contract, {}, files);
  if (!accepted(distribution)) return 0;
  const auto hosts = hosts_of(*contract, *distribution);
  if (!accepted(hosts)) return 0;
  for (const std::string& host : *hosts) {
    require(std::count(contract->hosts.begin(), contract->hosts.end(), host) == 1);
  }
  const auto entry = find_entry_point(*contract, {}, files);
  if (!accepted(entry)) return 0;
  require(!entry->name.starts_with('/') && !entry->name.starts_with('-'));
  for (const std::string& variable :
       sm_environment({*contract, *distribution, *entry}, {.name = contract->current_host}, {})) {
    require(variable.find('\0') == std::string::npos && variable.find('=') != std::string::npos);
  }
  return 0;
}
