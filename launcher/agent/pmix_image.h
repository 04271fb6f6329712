// The helper that lends us libpmix, as we carry it: a dynamic executable of launcher/pmix.
#pragma once
#include <string_view>

namespace sml::agent {

std::string_view pmix_helper_image();

}  // namespace sml::agent
