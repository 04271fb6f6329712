#include "launcher/agent/mpi/pmix_image.h"

extern "C" const char sml_pmix_image_begin[];
extern "C" const char sml_pmix_image_end[];

namespace sml::agent {

std::string_view pmix_helper_image() {
  return {sml_pmix_image_begin, static_cast<std::size_t>(sml_pmix_image_end - sml_pmix_image_begin)};
}

}  // namespace sml::agent
