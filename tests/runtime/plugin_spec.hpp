// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernel of plugin.cpp as the typed call sees it.
#include <qkv/call.hpp>
#include <qkv/dsl.hpp>

namespace plugin {
using namespace qkv;
inline constexpr axis<"one", 1> one;
inline constexpr auto plugged =
    kernel<"plugged">([](in<"X", one> X) -> out<"Y", one> { return X + 1; });
}  // namespace plugin
