#pragma once
// Work that may crash or never end, done in a process of its own.
#include <functional>
#include <string>

namespace qkv::fuzz {

// What `work` returns; or "crashed: <signal>" or "took longer than 60 s". `work` must not throw.
std::string isolated(const std::function<std::string()> &work, int seconds);

}  // namespace qkv::fuzz
