// SPDX-License-Identifier: BSL-1.0
// The main of every test executable, compiled once, where the package of Catch2 has none.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
