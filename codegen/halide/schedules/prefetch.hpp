// SPDX-License-Identifier: BSL-1.0
#pragma once
// The instruction that reads a line of memory ahead.
#include <Halide.h>

#include <string>

namespace qkv::codegen {

constexpr int line_bytes = 64;  // of a cache

// Reads the line that holds an element of an argument into all caches, as __builtin_prefetch does.
// No element needs to be there. Halide's own prefetch is prefetchnta, which on Intel leaves the
// line in the first cache alone.
Halide::Internal::Stmt prefetch(const std::string &argument, Halide::Type, const Halide::Expr &at);

// True of a loop that has `no_prefetch_name` in its name.
bool is_left_alone(const Halide::Internal::For &);

}  // namespace qkv::codegen
