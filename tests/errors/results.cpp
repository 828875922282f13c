// SPDX-License-Identifier: BSL-1.0
// Kernels whose declaration does not fit what they return.
#include "axes.hpp"

// case duplicate_names: two arguments of one name
namespace duplicate_names {
using namespace my;

#ifdef WRONG
using second = in<"Q", batch, heads, kv, d_k>;
#else
using second = in<"K", batch, heads, kv, d_k>;
#endif

constexpr auto body = [](Q_ Q, second K) -> out<"S", batch, heads, seq, kv> {
  return dot<d_k>(Q, K);
};
// next line: kernel k: two arguments are named Q
inline constexpr auto k = kernel<"k">(body);

}  // namespace duplicate_names

// case no_result_declared: a kernel that does not say what it returns
namespace no_result_declared {
using namespace my;

#ifdef WRONG
constexpr auto body = [](Q_ Q, K_ K) { return dot<d_k>(Q, K); };
#else
constexpr auto body = [](Q_ Q, K_ K) -> out<"S", batch, heads, seq, kv> { return dot<d_k>(Q, K); };
#endif
// next line: kernel k: declares no result
inline constexpr auto k = kernel<"k">(body);

}  // namespace no_result_declared

// case number_of_results: two results where one is declared
namespace number_of_results {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: results: 1 declared, 2 returned
  return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
#else
      return dot<kv>(softmax<kv>(s), V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace number_of_results

// case wrong_result: a result with another axis than declared
namespace wrong_result {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
  (void)V;
#ifdef WRONG
  // next line: result O: kv is not declared
  return softmax<kv>(s);
#else
      return dot<kv>(softmax<kv>(s), V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace wrong_result

// case wrong_second_result: the second of two results with another axis than declared
namespace wrong_second_result {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
      // next line: result lse: kv is not declared declared instead: seq
      return {dot<kv>(softmax<kv>(s), V), logsumexp<seq>(s)};
#else
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
#endif
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace wrong_second_result

// case parts_of_one_result: one result taken apart, as of nn.MultiheadAttention
namespace parts_of_one_result {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: scaled_dot_product(Q, K, V) is one result, not several give it one name: auto o = ..;
  auto [o, weights] = scaled_dot_product<d_k, kv>(Q, K, V);
#else
      auto o = scaled_dot_product<d_k, kv>(Q, K, V);
#endif
  return o;
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace parts_of_one_result

// case wrong_among_results: a step that is refused, and results that read it
namespace wrong_among_results {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
      // next line: dot<kv>: no axis kv in Q
      auto y = dot<kv>(Q, V);
#else
      auto y = dot<kv>(softmax<kv>(s), V);
#endif
      auto lse = logsumexp<kv>(s);
      return {y, lse};
    });

}  // namespace wrong_among_results

// case wrong_in_scan: a step of a scan that is refused, and what is computed with its results
// at most 17 lines
namespace wrong_in_scan {
using namespace my;

constexpr auto body = [](Q_ Q, in<"K", batch, heads, seq, d_k> K, in<"V", batch, heads, seq, d_v> V)
    -> outs<out<"O", batch, heads, seq, d_v>, out<"S", batch, heads, d_k, d_v>> {
  auto [y, last] = scan<seq>(
      zeros<batch, heads, d_k, d_v>(),
      [](auto S, auto k, auto v, auto q) {
#ifdef WRONG
        // next line: *: neither side contains the other
        auto next = S + k * v;
#else
        auto next = S + broadcast<d_v>(k) * broadcast<d_k>(v);
#endif
        return std::pair{next, dot<d_k>(q, next)};
      },
      K, V, Q);
  auto z = 2 * y + V;
  return {z, last / 2};
};
inline constexpr auto k = kernel<"k">(body);

}  // namespace wrong_in_scan
