// The subset of Catch2 that versions 2 and 3 share: TEST_CASE, SECTION, CHECK, REQUIRE, INFO, CAPTURE, GENERATE.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

// In sanitizer builds memory, descriptors and the size of programs are not those of the product.
#ifdef SML_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
