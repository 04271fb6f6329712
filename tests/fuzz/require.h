// For fuzz targets: what must hold for every input, whatever the build makes of assert().
#pragma once
#include <cstdlib>

namespace sml::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace sml::fuzz
