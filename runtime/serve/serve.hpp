// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels of a program as one more peer of a benchmark (tests/performance/peers.py): cases and
// requests come in on stdin, times go out on stdout. A case is served by the first kernel whose
// name and table fit it:
//
//   <kind>_<word>_...       the case's kind (sdpa if it has none), then words: a mask (causal,
//                           window, padding, bias; without one: no mask), window<N> and
//                           softcap<N> for constants that the spec fixes, decode for kernels meant
//                           for one query
//   Q, K, V                 Q is [batch, heads, seq, d] or, with heads in groups,
//                           [batch, kv_heads, group, seq, d], or [batch, seq, d] of one head
//   parameters              f32, of static axes: the next elements of the case's "w"
//   bias                    [heads, seq, kv], or with a batch, or with heads in groups
//   len                     i32 [batch]: keys that padding leaves
//   window, softcap, scale  numbers, where the spec takes them as inputs without axes
//
// in                      out
//   {"B": 1, ..}            the case, a flat JSON object: "ready", or "unsupported" and the reason
//   run N                   the nanoseconds of N calls
//   write                   "ok": the result is in the file that the case names as "out"
//   quit

namespace qkv::serving {

// Serves one case until the input ends. Returns the exit code: 0, or 2 for a first line that is not
// a case. Throws std::runtime_error when a call fails or the output has no reader, std::bad_alloc.
int serve();

}  // namespace qkv::serving
