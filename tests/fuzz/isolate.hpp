// SPDX-License-Identifier: BSL-1.0
#pragma once
// Runs work that may crash or never end in a child process.
#include <functional>
#include <string>

namespace qkv::fuzz {

// The result of `work`, or "crashed: <signal>" or "took longer than 60 s". `work` must not throw.
std::string isolated(const std::function<std::string()> &work, int seconds);

}  // namespace qkv::fuzz
