// The dynamic executable of launcher/agent/pmix that loads libpmix. The agent's executable contains its bytes.
#pragma once
#include <string_view>

namespace sml::agent {

std::string_view pmix_helper_image();

}  // namespace sml::agent
