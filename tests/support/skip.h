// Leaves a test case that cannot run here. Catch2 2.13 has no skips: tests/ctest_counts.py counts this warning as one.
#pragma once
#include "tests/support/catch.h"

#define SML_SKIP_UNLESS(condition, why) \
  if (!(condition)) {                   \
    WARN("skipped: " why);              \
    return;                             \
  }                                     \
  static_assert(true)
