// SPDX-License-Identifier: BSL-1.0
// Compiled kernels in a shared library, behind C functions.
#include <qkv/call.hpp>

#include <algorithm>
#include <vector>

#include "compiled.hpp"

// Runs a kernel on four threads. Returns 0 if the status is ok and the numbers are right.
extern "C" int plugin_attend() {
  using namespace compiled;
  tensor<batch, heads, seq, compiled::d> Q({2, 300}), O({2, 300});
  tensor<batch, heads, kv, compiled::d> K({2, 200}), V({2, 200});
  Q.fill(1), K.fill(1), V.fill(3);
  const qkv::status s = qkv::call<attend>(qkv::options{.threads = 4}, Q, K, V, O);
  const auto near = [](float x) { return x > 2.999f && x < 3.001f; };
  return s.ok() && std::all_of(O.begin(), O.end(), near) ? 0 : 1;
}

// The status of a call that compiled code refuses.
extern "C" int plugin_refused() {
  using namespace compiled;
  constexpr std::int64_t n = 23171;
  tensor<seq> A({n}), S({n});
  tensor<kv> B({n});
  return static_cast<int>(qkv::call<pairs>(A, B, S).code());
}
