// SPDX-License-Identifier: BSL-1.0
// Wrong calls of right kernels, and wrong use of caches and tensors.
#include <qkv/call.hpp>
#include <qkv/kv_cache.hpp>
#include <qkv/saved.hpp>
#include <qkv/tensor.hpp>

#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), V);
});

using queries = tensor<batch, heads, seq, d_k>;
using keys = tensor<batch, heads, kv, d_k>;
using values = tensor<batch, heads, kv, d_v>;
using results = tensor<batch, heads, seq, d_v>;

// A cache, and what is appended to it.
using cache =
    kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots, d_v>>;
using new_keys = tensor<batch, heads, seq, d_k>;
using new_values = tensor<batch, heads, seq, d_v>;
inline constexpr auto decode = kernel<"decode">(
    [](Q_ Q, StoredK_ K, StoredV_ V, Length_ length) -> out<"O", batch, heads, seq, d_v> {
      return dot<slots>(
          softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), cached_causal<seq, slots>(length))), V);
    });

}  // namespace my

// case call_const_result: a result that cannot be written
namespace call_const_result {
using namespace my;

bool use(queries &Q, keys &K, values &V, results &O) {
#ifdef WRONG
  // next line: call<k>: O is written, but const is given
  return call<k>(Q, K, V, std::as_const(O)).ok();
#else
  return call<k>(Q, K, V, O).ok();
#endif
}

}  // namespace call_const_result

// case call_missing_argument: a call without its result
namespace call_missing_argument {
using namespace my;

bool use(queries &Q, keys &K, values &V, results &O) {
#ifdef WRONG
  // next line: call<k>: 3 given, 4 needed
  return call<k>(Q, K, V).ok();
#else
  return call<k>(Q, K, V, O).ok();
#endif
}

}  // namespace call_missing_argument

// case call_wrong_argument: values where keys belong
namespace call_wrong_argument {
using namespace my;

bool use(queries &Q, keys &K, values &V, results &O) {
#ifdef WRONG
  // next line: call<k>: argument 2: what V takes, where K belongs
  return call<k>(Q, V, V, O).ok();
#else
  return call<k>(Q, K, V, O).ok();
#endif
}

}  // namespace call_wrong_argument

// case call_wrong_dtype: keys of another dtype
namespace call_wrong_dtype {
using namespace my;

bool use(queries &Q, keys &K, tensor<f64, batch, heads, kv, d_k> &L, values &V, results &O) {
  (void)L;
#ifdef WRONG
  // next line: call<k>: argument 2: K is f32 but f64 is given
  return call<k>(Q, L, V, O).ok();
#else
  return call<k>(Q, K, V, O).ok();
#endif
}

}  // namespace call_wrong_dtype

// case cache_append_const: a cache that cannot be written
namespace cache_append_const {
using namespace my;

bool use(cache &c, new_keys &K, new_values &V) {
#ifdef WRONG
  // next line: kv_cache: append changes the cache, but this cache is const pass the cache by a reference that is not const
  return std::as_const(c).append(K, V).ok();
#else
  return c.append(K, V).ok();
#endif
}

}  // namespace cache_append_const

// case cache_append_without_values: new keys alone
namespace cache_append_without_values {
using namespace my;

bool use(cache &c, new_keys &K, new_values &V) {
  (void)V;
#ifdef WRONG
  // next line: kv_cache: append takes new keys, new values, and perhaps counts
  return c.append(K).ok();
#else
  return c.append(K, V).ok();
#endif
}

}  // namespace cache_append_without_values

// case cache_attend_const: a cache that cannot be written, where new positions are appended first
namespace cache_attend_const {
using namespace my;

bool use(cache &c, queries &Q, new_keys &K, new_values &V, results &O) {
#ifdef WRONG
  // next line: kv_cache: attend changes the cache, but this cache is const
  return std::as_const(c).attend<decode>(K, V, Q, O).ok();
#else
  return c.attend<decode>(K, V, Q, O).ok();
#endif
}

}  // namespace cache_attend_const

// case cache_truncate_const: a cache that cannot be written
namespace cache_truncate_const {
using namespace my;

bool use(cache &c) {
#ifdef WRONG
  // next line: kv_cache: truncate changes the cache, but this cache is const
  return std::as_const(c).truncate(0, 1).ok();
#else
  return c.truncate(0, 1).ok();
#endif
}

}  // namespace cache_truncate_const

// case cache_list_of_counts: counts as a list, of rows that do not fit
namespace cache_list_of_counts {
using namespace my;

bool use(cache &c, new_keys &K, new_values &V) {
#ifdef WRONG
  // next line: kv_cache: this cannot be appended to its keys
  return c.append(V, V, {1, 2}).ok();
#else
  return c.append(K, V, {1, 2}).ok();
#endif
}

}  // namespace cache_list_of_counts

// case cache_counts_behind_queries: counts of a ragged batch behind the queries, where the kernel takes them, and not behind
// the new values
namespace cache_counts_behind_queries {
using namespace my;

inline constexpr auto decode =
    kernel<"decode">([](Q_ Q, in<"K", batch, heads, slots, d_k> K,
                        in<"V", batch, heads, slots, d_v> V, in<"length", i32, batch> length,
                        in<"count", i32, batch> count) -> out<"O", batch, heads, seq, d_v> {
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k),
                                            cached_causal<seq, slots>(length, count))),
                        V);
    });

bool use(cache &c, queries &Q, new_keys &K, new_values &V, tensor<i32, batch> &counts, results &O) {
#ifdef WRONG
  // next line: attend<decode>: after the new values comes count: contiguous i32
  return c.attend<decode>(K, V, Q, counts, O).ok();
#else
  return c.attend<decode>(K, V, counts, Q, O).ok();
#endif
}

}  // namespace cache_counts_behind_queries

// case cache_wrong_axes: heads and positions in another order than the cache has them, of sizes that could be the same
namespace cache_wrong_axes {
using namespace my;

using turned_keys = tensor<batch, seq, heads, d_k>;

bool use(cache &c, new_keys &K, turned_keys &L, new_values &V) {
  (void)K;
  (void)L;
#ifdef WRONG
  // next line: kv_cache: this cannot be appended to its keys
  return c.append(L, V).ok();
#else
  return c.append(K, V).ok();
#endif
}

}  // namespace cache_wrong_axes

// case cache_wrong_kernel_argument: keys and values of the cache handed to the kernel once more
namespace cache_wrong_kernel_argument {
using namespace my;

bool use(cache &c, queries &Q, new_keys &K, new_values &V, results &O) {
#ifdef WRONG
  // next line: attend<decode>: 6 given, 5 needed
  return c.attend<decode>(K, V, Q, V, O).ok();
#else
  return c.attend<decode>(K, V, Q, O).ok();
#endif
}

}  // namespace cache_wrong_kernel_argument

// case tensor_without_size: a tensor of sizes that lack one of its axes
namespace tensor_without_size {
using namespace my;

long use() {
#ifdef WRONG
  const extents sizes(extent<batch>(2));
#else
  const extents sizes(extent<batch>(2), extent<seq>(10));
#endif
  // next line: extents: no size for kv
  const tensor<batch, heads, kv, d_k> K(sizes);
  return K.elements();
}

}  // namespace tensor_without_size

// case tensor_of_other_sizes: neither a size for each axis, nor one for each that the call decides
namespace tensor_of_other_sizes {
using namespace my;

#ifdef WRONG
// next line: tensor: 3 sizes are given it takes 2, of batch, seq; or 4, of all axes
queries Q({2, 8, 100});
#else
queries Q({2, 100});
#endif

}  // namespace tensor_of_other_sizes

// case view_of_other_sizes: the same of memory of the caller's
namespace view_of_other_sizes {
using namespace my;

float memory[3 * 64];
#ifdef WRONG
// next line: tensor: 2 sizes are given it takes 1, of seq; or
tensor_view<seq, heads, d_k> Q(memory, {3, 64});
#else
tensor_view<seq, d_k> Q(memory, {3, 64});
#endif

}  // namespace view_of_other_sizes

// case saved_of_another: what another kernel saved
namespace saved_of_another {
using namespace my;

inline constexpr auto other =
    kernel<"other">([](Q_ Q) -> out<"S", batch, heads, seq, d_k> { return exp(Q); });

#ifdef WRONG
using kept = saved<other>;
#else
using kept = saved<k>;
#endif
bool use(kept &steps, queries &Q, keys &K, values &V, results &O) {
  // next line: call<k>: what is saved is of other
  return call<k>(steps, Q, K, V, O).ok();
}

}  // namespace saved_of_another

// case saved_without_result: a call that saves, without its result
namespace saved_without_result {
using namespace my;

bool use(saved<k> &steps, queries &Q, keys &K, values &V, results &O) {
#ifdef WRONG
  // next line: call<k>: 3 given, 4 needed
  return call<k>(steps, Q, K, V).ok();
#else
  return call<k>(steps, Q, K, V, O).ok();
#endif
}

}  // namespace saved_without_result

// case saved_by_a_gradient: a gradient with the steps of another kernel
namespace saved_by_a_gradient {
using namespace my;

inline constexpr auto other =
    kernel<"other">([](Q_ Q) -> out<"S", batch, heads, seq, d_k> { return exp(Q); });
inline constexpr auto step = gradient<other>;

#ifdef WRONG
using kept = saved<k>;
#else
using kept = saved<other>;
#endif
bool use(kept &steps, queries &Q, queries &dS, queries &dQ) {
  // next line: call<other_gradient>: what is saved is of k
  return call<step>(steps, Q, dS, dQ).ok();
}

}  // namespace saved_by_a_gradient
