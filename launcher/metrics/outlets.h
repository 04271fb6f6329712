// The outputs for the metrics of a job: a socket, a file, both or neither. They are opened before the job begins.
#pragma once
#include <memory>

#include "common/core/error.h"
#include "launcher/metrics/endpoint.h"
#include "launcher/options/observer_options.h"
#include "launcher/os/renewed_file.h"

namespace sml::metrics {

struct Outlets {
  Endpoint endpoint;                            // closed: none
  std::shared_ptr<const os::RenewedFile> file;  // null: none

  // Error (Usage): names the option and why.
  static Result<Outlets> open(const ObserverOptions& options);
};

}  // namespace sml::metrics
