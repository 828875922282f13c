#pragma once
// Groups of query heads that share a key head (Ainslie et al. 2023).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/ops/merge.hpp>

namespace qkv {
namespace detail {

template <axes Heads, axes Features, axes Key, class Q, class K, class V, class... Keep>
struct grouped_query_check {
  static constexpr text why() {
    message m;
    for (const info *x : {&of<K>, &of<V>})
      if (lacks_axis(m, {"grouped_query", Heads}, one_axis(Heads[1]), *x)) return m;
    trial t;
    const info q = t(of<Q>.label, rule::split{Heads}, of<Q>);
    t("result", rule::merge{Heads}, try_attention<Keep...>(t, Features, Key, q, of<K>, of<V>));
    return t.why;
  }
};

template <auto Heads, auto KvHeads, auto Group, auto Features, auto Key, class... T>
inline constexpr bool groups =
    passes<grouped_query_check<axes_of<Heads, KvHeads, Group>(), axes_of<Features>(),
                               axes_of<Key>(), T...>>;
template <auto Heads, auto KvHeads, auto Group, auto Features, auto Key, class... T>
using groups_not = refusal<grouped_query_check<axes_of<Heads, KvHeads, Group>(),
                                               axes_of<Features>(), axes_of<Key>(), T...>>;

}  // namespace detail

// Computes: scaled_dot_product where query head h uses key head h / size(group), over the keys that
//           keep, if it is given, lets through.
// Shapes:   Q[.., heads, query, features], K[.., kv_heads, key, features],
//           V[.., kv_heads, key, values] -> [.., heads, query, values]; heads = kv_heads * group.
//           With one key head, leave the axis out and call scaled_dot_product (multi-query
//           attention).
// Numerics: as scaled_dot_product.
// Errors:   as split: kv_heads that do not divide heads; K or V without them; as
//           scaled_dot_product.
template <an_axis auto Heads, an_axis auto KvHeads, an_axis auto Group, an_axis auto Features,
          an_axis auto Key, traced Q, traced K, traced V, traced... Keep>
  requires(sizeof...(Keep) <= 1) &&
          detail::groups<Heads, KvHeads, Group, Features, Key, Q, K, V, Keep...>
constexpr auto grouped_query(Q query, K key, V value, Keep... keep) {
  auto grouped = split<Heads, KvHeads, Group>(query);
  return merge<Heads, KvHeads, Group>(
      scaled_dot_product<Features, Key>(grouped, key, value, keep...));
}
template <an_axis auto Heads, an_axis auto KvHeads, an_axis auto Group, an_axis auto Features,
          an_axis auto Key, traced Q, traced K, traced V, traced... Keep,
          class Err = detail::groups_not<Heads, KvHeads, Group, Features, Key, Q, K, V, Keep...>>
  requires(sizeof...(Keep) <= 1)
Err grouped_query(Q, K, V, Keep...);

}  // namespace qkv
