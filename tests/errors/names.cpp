// SPDX-License-Identifier: BSL-1.0
// Steps and kernels whose name is that of a function; conditions, axes and numbers in wrong places.
#include "axes.hpp"

namespace my {

using S_ = in<"S", batch, heads, seq, kv>;
using P_ = out<"P", batch, heads, seq, kv>;

}  // namespace my

// case argument_mask: an argument hides mask
namespace argument_mask {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S, in<"mask", b8, batch, kv> mask) -> P_ {
#ifdef WRONG
  // next line: mask: a step of this name hides the function did you mean qkv::mask(S, mask)?
  return softmax<kv>(mask(S, mask));
#else
  return softmax<kv>(qkv::mask(S, mask));
#endif
});

}  // namespace argument_mask

// case argument_softmax: an argument hides a function that takes axes
namespace argument_softmax {
using namespace my;

inline constexpr auto k = kernel<"k">([](in<"softmax", batch, heads, seq, kv> softmax) -> P_ {
#ifdef WRONG
  // next line: softmax: a step of this name hides the function did you mean qkv::softmax<..>(..)?
  return softmax<kv>(softmax);
#else
  return qkv::softmax<kv>(softmax);
#endif
});

}  // namespace argument_softmax

// case scale_called: a factor written as a call
namespace scale_called {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S, in<"scale"> scale) -> P_ {
#ifdef WRONG
  // next line: a step is not a function: scale did you mean scale * S? or leave the () out
  return softmax<kv>(scale(S));
#else
  return softmax<kv>(scale * S);
#endif
});

}  // namespace scale_called

// case causal_of_scores: a condition called with scores
namespace causal_of_scores {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S) -> P_ {
#ifdef WRONG
  // next line: causal<seq, kv> is a condition, not a function did you mean mask(S, causal<seq, kv>)?
  return softmax<kv>(causal<seq, kv>(S));
#else
  return softmax<kv>(mask(S, causal<seq, kv>));
#endif
});

}  // namespace causal_of_scores

// case kernel_called: a kernel called within another
namespace kernel_called {
using namespace my;

inline constexpr auto weights = [](auto S) { return softmax<kv>(S); };
inline constexpr auto inner = kernel<"inner">([](S_ S) -> P_ { return weights(S); });
inline constexpr auto k = kernel<"k">([](S_ S) -> P_ {
#ifdef WRONG
  // next line: inner is a kernel, not a function of steps
  return inner(S / 2);
#else
  return weights(S / 2);
#endif
});

}  // namespace kernel_called

// case product_of_axes: axes where their sizes belong
namespace product_of_axes {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S) -> P_ {
#ifdef WRONG
  // next line: *: seq and heads are axes, not numbers did you mean size(seq) * size(heads)?
  return S / (seq * heads);
#else
  return S / (size(seq) * size(heads));
#endif
});

}  // namespace product_of_axes

// case negated_axis: a sign in front of an axis
namespace negated_axis {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S) -> P_ {
#ifdef WRONG
  // next line: -: d_k is an axis, not a number did you mean index(d_k) or size(d_k)?
  return S / -d_k;
#else
  return S / -size(d_k);
#endif
});

}  // namespace negated_axis

// case whole_scan: a scan returned with both of its results
namespace whole_scan {
using namespace my;

inline constexpr auto k = kernel<"k">([](in<"X", batch, seq, d_k> X) -> out<"O", batch, seq, d_k> {
  auto step = [](auto state, auto x) { return state + x; };
#ifdef WRONG
  // next line: result O: a scan has two results did you mean .result or .last?
  return scan<seq>(zeros<batch, d_k>(), step, X);
#else
      return scan<seq>(zeros<batch, d_k>(), step, X).result;
#endif
});

}  // namespace whole_scan

// case step_by_reference: a step of a scan that takes its operands by reference
namespace step_by_reference {
using namespace my;

inline constexpr auto k = kernel<"k">([](in<"X", batch, seq, d_k> X) -> out<"O", batch, seq, d_k> {
#ifdef WRONG
  auto step = [](auto &state, auto &x) { return state + x; };
  // next line: scan<seq>: the step takes references
  return scan<seq>(zeros<batch, d_k>(), step, X).result;
#else
      auto step = [](auto state, auto x) { return state + x; };
      return scan<seq>(zeros<batch, d_k>(), step, X).result;
#endif
});

}  // namespace step_by_reference

// case width_in_angles: a width that belongs in the parentheses
namespace width_in_angles {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S) -> P_ {
#ifdef WRONG
  // next line: mask: sliding_window<seq, kv> is not called write sliding_window<seq, kv>(128)
  return softmax<kv>(mask(S, sliding_window<seq, kv, 128>));
#else
  return softmax<kv>(mask(S, sliding_window<seq, kv>(128)));
#endif
});

}  // namespace width_in_angles

// case part_in_parentheses: a part that belongs in the angle brackets
namespace part_in_parentheses {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S, in<"seed", i32> seed) -> P_ {
#ifdef WRONG
  // next line: dropout: the part that is left out goes in <>, a number
  return dropout(softmax<kv>(S), 0.1, seed);
#else
  return dropout<0.1>(softmax<kv>(S), seed);
#endif
});

}  // namespace part_in_parentheses

// case window_of_scores: scores in the place of the width
namespace window_of_scores {
using namespace my;

inline constexpr auto k = kernel<"k">([](S_ S) -> P_ {
#ifdef WRONG
  // next line: sliding_window: S is in the place of the width
  return softmax<kv>(sliding_window<seq, kv>(S, 128));
#else
  return softmax<kv>(mask(S, sliding_window<seq, kv>(128)));
#endif
});

}  // namespace window_of_scores
