// When this process was started. Linux.
#pragma once
#include "common/core/clock.h"

namespace sml::os {

// To a hundredth of a second, from proc(5); now, where that cannot be read.
TimePoint own_start();

}  // namespace sml::os
