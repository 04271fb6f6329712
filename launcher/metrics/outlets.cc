#include "launcher/metrics/outlets.h"

#include <utility>

namespace sml::metrics {

Result<Outlets> Outlets::open(const ObserverOptions& options) {
  Outlets out;
  if (!options.metrics_file.empty()) {
    Result<os::RenewedFile> file = os::RenewedFile::open(options.metrics_file);
    if (!file) return Error(ErrorKind::Usage, "--metrics-file: " + file.error().message());
    out.file = std::make_shared<const os::RenewedFile>(std::move(*file));
  }
  if (options.metrics.empty()) return out;
  Result<Endpoint> endpoint = Endpoint::open(options.metrics.front());
  if (!endpoint) return endpoint.error();
  out.endpoint = std::move(*endpoint);
  return out;
}

}  // namespace sml::metrics
