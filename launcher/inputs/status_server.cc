#include "launcher/inputs/status_server.h"

#include <string>
#include <utility>

namespace sml {

void choose_status_server(Options& options, const ThisHost& here) {
  if (options.observers.progress_push == ProgressPush::No) return;
  StatusServer server{variable(here, "KUBEFLOW_TRAINER_SERVER_URL"), variable(here, "KUBEFLOW_TRAINER_SERVER_CA_CERT"),
                      variable(here, "KUBEFLOW_TRAINER_SERVER_TOKEN")};
  if (!server.url.empty() && !server.token_file.empty()) options.observers.status_server = std::move(server);
}

}  // namespace sml
