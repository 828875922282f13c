// SPDX-License-Identifier: BSL-1.0
// Mistakes in softmax, in what becomes of weights, and in functions and scans that hold one.
#include "axes.hpp"

// case softmax_over_missing_axis: a softmax over an axis that is not there
namespace softmax_over_missing_axis {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: softmax<mem>: no axis mem in dot(Q, K) / sqrt(d_k)
  auto w = softmax<mem>(s);
#else
      auto w = softmax<kv>(s);
#endif
  return dot<kv>(w, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace softmax_over_missing_axis

// case softmax_over_queries: a softmax over queries
namespace softmax_over_queries {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  auto w = softmax<seq>(dot<d_k>(Q, K) / sqrt(d_k));
#else
      auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k));
#endif
  // next line: dot<kv> contracts weights over seq; did you mean softmax<kv>?
  return dot<kv>(w, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace softmax_over_queries

// case softmax_twice: a softmax of weights
namespace softmax_twice {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: softmax<kv>: softmax(..) * number already holds weights over kv softmax the scores once; normalize<kv> rescales weights
  auto w = softmax<kv>(softmax<kv>(s) * 2.f);
#else
      auto w = softmax<kv>(s * 2.f);
#endif
  return dot<kv>(w, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace softmax_twice

// case mask_after_softmax: a mask on weights
namespace mask_after_softmax {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: mask after softmax<kv> mask the scores before softmax;
  auto w = mask(softmax<kv>(s), index(kv) <= index(seq));
#else
      auto w = softmax<kv>(mask(s, index(kv) <= index(seq)));
#endif
  return dot<kv>(w, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace mask_after_softmax

// case dropout_of_everything: dropout of 10 per cent, written as a number of per cent
namespace dropout_of_everything {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k));
#ifdef WRONG
  // next line: dropout: p is outside of [0, 1)
  return dot<kv>(dropout<10>(w, 1), V);
#else
  return dot<kv>(dropout<0.1>(w, 1), V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace dropout_of_everything

// case function_of_attention: a mistake in the arguments of a function of attention/: the error stays on the line of the call
namespace function_of_attention {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>?
  return scaled_dot_product<d_k, kv>(Q, K, V, causal<kv, seq>);
#else
      return scaled_dot_product<d_k, kv>(Q, K, V, causal<seq, kv>);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace function_of_attention

// case mistake_in_helper: a mistake inside a function that a user wrote over the language: the error is on its line
namespace mistake_in_helper {
using namespace my;

constexpr auto attend(auto query, auto key, auto value) {
  auto scores = dot<d_k>(query, key) / sqrt(d_k);
#ifdef WRONG
  auto weights = softmax<seq>(scores);
#else
  auto weights = softmax<kv>(scores);
#endif
  // next line: dot<kv> contracts weights over seq; did you mean softmax<kv>?
  auto mixed = dot<kv>(weights, value);
  return let<"mixed">(mixed * 2.f);
}

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto mixed = attend(Q, K, V);
  return relu(mixed);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace mistake_in_helper

// case mistake_in_scan: a mistake inside the step of a scan
// at most 17 lines: the step is called by scan.
namespace mistake_in_scan {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, seq, d_k> K, in<"V", batch, seq, d_v> V,
       in<"S0", batch, d_k, d_v> S0) -> outs<out<"O", batch, seq, d_v>, out<"S", batch, d_k, d_v>> {
      auto [o, last] = scan<seq>(
          S0,
          [](auto S, auto q, auto k, auto v) {
#ifdef WRONG
            // next line: dot<d_v>: no axis d_v in K
            auto w = v - dot<d_v>(k, S);
#else
            auto w = v - dot<d_k>(k, S);
#endif
            auto next = S + broadcast<d_v>(k) * broadcast<d_k>(w);
            return std::pair{next, dot<d_k>(q, next)};
          },
          Q, K, V);
      return {o, last};
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace mistake_in_scan

// case refused_scan: a step whose next state does not fit
// at most 17 lines: g++ warns of the function that says so.
namespace refused_scan {
using namespace my;

inline constexpr auto k =
    kernel<"k">([](in<"V", batch, seq, d_v> V, in<"s", batch> s) -> out<"O", batch, d_v> {
#ifdef WRONG
      // next line: scan<seq>: the next state has other axes than the state
      auto sums = scan<seq>(s, [](auto s, auto v) { return broadcast<d_v>(s) + v; }, V);
#else
      auto start = broadcast<d_v>(s);
      auto sums = scan<seq>(start, [](auto s, auto v) { return s + v; }, V);
#endif
      return sums.last;
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace refused_scan
