// When this process was started. Linux.
#pragma once
#include "common/core/clock.h"

namespace sml::os {

// The time at which the kernel started this process, to a hundredth of a second, from proc(5). The time of the call if
// that cannot be read.
TimePoint own_start();

}  // namespace sml::os
