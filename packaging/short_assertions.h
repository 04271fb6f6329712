// This header is included before every file of C++ (CMakeLists.txt). A failed assertion of libstdc++ prints file, line
// and condition, but not the function: the names of these, most of them templates, would be 3 % of the agent.
//
// Source: libstdc++ of GCC 12, bits/c++config.h (__glibcxx_assert_impl). Other versions name the function as usual.
#pragma once
#include <version>

#ifdef __glibcxx_assert_impl
#undef __glibcxx_assert_impl
#define __glibcxx_assert_impl(condition)                            \
  if (__builtin_expect(!bool(condition), false)) {                  \
    __glibcxx_constexpr_assert(false);                              \
    std::__glibcxx_assert_fail(__FILE__, __LINE__, "", #condition); \
  }
#endif
