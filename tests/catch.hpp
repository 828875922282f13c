// SPDX-License-Identifier: BSL-1.0
#pragma once
// Catch2 2.13 (Debian 12) and Catch2 3 through one include. Tests use TEST_CASE, SECTION, CHECK,
// REQUIRE, INFO.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
