// Parses SageMaker's resourceconfig.json. Source: "How Amazon SageMaker Provides Training Information" and "Build Your
// Own Processing Container" in the SageMaker developer guide; the fields are listed in resource_config.cc.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::hosts {

struct ResourceConfig {
  std::string current_host;
  std::vector<std::string> hosts;      // in the order of the file, unique
  std::string network_interface_name;  // empty if the file has none (Processing)
};

// `path` is used only in messages. Unknown keys are ignored; an optional value that is null counts as absent. Errors
// (kind Config) name the path, the key and what was expected: not JSON (with line and column), not an object, no or
// empty "hosts", a host that is no valid name, a duplicate name, current_host missing or not in hosts, or more than 1
// MiB of text.
Result<ResourceConfig> parse_resource_config(std::string_view text, std::string_view path);

// Whether the path is below /opt/ml, by its text alone. Such files are trusted whoever owns them: only root can make
// that folder, and the platform writes its files, in SageMaker's local mode with other owners and modes than in its
// containers. Files that SAGEMAKER_BASE_DIR has moved elsewhere are checked like any others.
bool belongs_to_sagemaker(std::string_view path);

}  // namespace sml::hosts
