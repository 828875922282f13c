// SPDX-License-Identifier: BSL-1.0
#pragma once
// New keys and values for a cache: shared by both caches.
#include <qkv/call.hpp>
#include <qkv/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace qkv::detail {

// The place of new positions in a cache.
struct slots_view {
  const char *name;           // "kv_cache", for messages
  int axis = 0;               // of slots, in keys, values and appended rows
  std::int64_t capacity = 0;  // of one entry
  std::int64_t entries = 0;
  // Per entry: positions that are taken; empty where they have no memory.
  std::span<const std::int32_t> used;
};
template <class Lengths>
slots_view slots_of(const char *name, int axis, std::int64_t capacity, const Lengths &lengths) {
  const std::int64_t n = lengths.extent(0);
  slots_view v{name, axis, capacity, n, {}};
  if (lengths.data() && n > 0) v.used = {lengths.data(), static_cast<std::size_t>(n)};
  return v;
}

// Number of real rows among the new ones of each entry; absent: all of them.
using row_counts = std::optional<std::span<const std::int32_t>>;

// Checks that both kinds of rows fit behind the contents of each entry: device, extents, strides,
// memory of their own, counts, capacity. `store`, `rows` and `shapes` hold keys, then values.
status check_append(const slots_view &, const qkv_tensor (&store)[2], const qkv_tensor (&rows)[2],
                    const axes *const (&shapes)[2], const row_counts &);
std::int64_t rows_of_entry(const row_counts &, const qkv_tensor &rows, int axis,
                           std::int64_t entry);

// The error when lengths or pages cannot be stored.
status no_memory_for_notes(const char *name);
// 0 where one is not positive; as large as can be where the product is larger.
std::int64_t product_of_extents(std::int64_t, std::int64_t);

// Positions that lie together in both.
struct slot_run {
  std::int64_t from_entry, from_slot, to_entry, to_slot, n;
};
void copy_slots(const qkv_tensor &to, const qkv_tensor &from, int axis, const slot_run &);

// Checks that the entry exists and holds at least `length` positions.
status check_truncate(const slots_view &, std::int64_t entry, std::int64_t length);

// Empty when `rows` match the stored ones, but for entries on the first axis and new positions on
// axis `slots`.
constexpr text rows_misfit(sv cache, sv kind, const axis_data *entry, int slots,
                           const given_spec &stored, const given_spec &rows) {
  axes wanted = stored.shape;
  wanted.a[0] = entry;
  if (rows.shape.n == wanted.n) wanted.a[slots] = rows.shape[slots];
  text t;
  if (rows.type == stored.type && same_axes(rows.shape, wanted)) return t;
  wanted.a[slots] = stored.shape[slots];
  t << cache << ": this cannot be appended to its " << kind;
  show_operand(t, kind, stored.type, wanted);
  if (rows.tensor)
    show_operand(t, "given", rows.type, rows.shape);
  else
    t << "\ngiven: no tensor";
  return t << "\nany axis may take the place of " << stored.shape[slots]->name;
}

// Counts of rows: a span of i32, or an i32 tensor over the entries that owns its memory (a view may
// have strides).
template <class T, auto Entry>
constexpr bool are_counts() {
  using type = std::remove_cvref_t<T>;
  if constexpr (some_tensor<type>)
    return !type::is_view && type::type == i32 && type::shape.n == 1 &&
           same_name(type::shape[0], data_of<Entry>);
  else
    return std::is_convertible_v<const type &, std::span<const std::int32_t>>;
}
template <class T>
std::span<const std::int32_t> span_of(const T &counts) {
  if constexpr (some_tensor<T>)
    return {counts.data(), static_cast<std::size_t>(counts.elements())};
  else
    return counts;
}

// The contents of a cache of this name: Keys and Values, whose positions run along axis `Slots`,
// and Stored, which it passes to a kernel after the queries.
template <str Name, auto Entry, int Slots, class Keys, class Values, class... Stored>
struct held {
  static constexpr const char *name = Name.s;
  using counts = const_tensor_view<i32, Entry>;
  template <class T>
  static constexpr bool counting = are_counts<T, Entry>();

  // Checks that K and V can be appended, by these counts if there are any.
  template <class K, class V, class... Counts>
  struct append_fits {
    static constexpr text why() {
      constexpr given_spec k = given_of<K>(), v = given_of<V>();
      text t = rows_misfit(Name.view(), "keys", data_of<Entry>, Slots, given_of<Keys>(), k);
      if (!t.empty()) return t;
      t = rows_misfit(Name.view(), "values", data_of<Entry>, Slots, given_of<Values>(), v);
      if (!t.empty()) return t;
      if (!same_name(k.shape[Slots], v.shape[Slots]))
        return t << Name.view() << ": the new keys go along " << k.shape[Slots]->name
                 << ", the new values along " << v.shape[Slots]->name;
      if (sizeof...(Counts) > 1 || !(counting<Counts> && ...))
        return t << Name.view()
                 << ": after keys and values come counts: contiguous i32, one for each "
                 << data_of<Entry>->name;
      return t;
    }
  };

  struct append_lacks {
    static constexpr text why() {
      text t;
      return t << Name.view() << ": append takes new keys, new values, and perhaps counts";
    }
  };
  // A call that would change a cache that is const.
  template <str Call>
  struct const_call {
    static constexpr text why() {
      text t;
      return t << Name.view() << ": " << Call.view()
               << " changes the cache, but this cache is const"
               << "\npass the cache by a reference that is not const";
    }
  };

  // Checks that K, V, perhaps counts, Q and the kernel's other arguments fit.
  template <auto Kernel, class... Argument>
  struct attend_fits {
    static constexpr text why() {
      text t;
      return t
             << "attend<" << kernel_type<Kernel>::name
             << ">: new keys, new values, then what the kernel takes, without what the cache holds";
    }
  };
  template <auto Kernel, class K, class V, class Q, class... Rest>
    requires(!counting<Q>)
  struct attend_fits<Kernel, K, V, Q, Rest...> {
    static constexpr text why() {
      constexpr auto &all = signature_of<kernel_type<Kernel>>;
      constexpr std::size_t next = 1 + sizeof...(Stored);
      if (all.size() > next && all[next].role == QKV_IN && all[next].type == i32 &&
          all[next].shape.n == 1 && same_name(all[next].shape[0], data_of<Entry>)) {
        text t;
        return t << "attend<" << kernel_type<Kernel>::name << ">: after the new values comes "
                 << all[next].name << ": contiguous i32, the new positions of each "
                 << data_of<Entry>->name;
      }
      return with_stored<Kernel, K, V, Q, Rest...>();
    }
  };
  template <auto Kernel, class K, class V, class Counts, class Q, class... Rest>
    requires counting<Counts>
  struct attend_fits<Kernel, K, V, Counts, Q, Rest...> {
    static constexpr text why() { return with_stored<Kernel, K, V, Q, const counts &, Rest...>(); }
  };

 private:
  template <auto Kernel, class K, class V, class Q, class... Rest>
  static constexpr text with_stored() {
    text t = append_fits<K, V>::why();
    if (!t.empty()) return t;
    t = call_fits<"attend", kernel_type<Kernel>, part::all, Q, const Stored &..., Rest...>::why();
    if (t.empty()) return t;
    t << "\nthe cache gives";
    constexpr auto &all = signature_of<kernel_type<Kernel>>;
    for (std::size_t i = 1; i <= sizeof...(Stored) && i < all.size(); ++i)
      t << (i > 1 ? ", " : " ") << all[i].name;
    return t;
  }
};

// Append, and the call that appends and attends, for a Cache with append_rows(K, V, counts),
// with_stored(f), lengths() and shorten(entry, length).
template <class Cache, class Held>
class appending_calls {
  using counts_list = std::initializer_list<std::int32_t>;
  using counts_span = std::span<const std::int32_t>;
  template <str Call>
  using const_call = refusal<typename Held::template const_call<Call>>;

 public:
  // K and V hold new positions in place of the cache's own, and entries on the first axis. Counts,
  // if given, are the numbers of positions that are real for each entry: append(K, V, {3, 1}), or a
  // span, vector or tensor. Errors: wrong_device, wrong_extent, wrong_stride, too_large,
  // wrong_count, null_data, overlap, cache_full, out_of_memory; nothing is appended then.
  template <class K, class V, class... Counts>
    requires passes<typename Held::template append_fits<K, V, Counts...>>
  status append(const K &k, const V &v, const Counts &...counts) {
    row_counts given;
    ((given = span_of(counts)), ...);
    return static_cast<Cache &>(*this).append_rows(k, v, given);
  }
  template <class K, class V, class... Counts,
            class Err = refusal<typename Held::template append_fits<K, V, Counts...>>>
  static Err append(const K &, const V &, const Counts &...);  // static: clang reports it once
  template <class... Given, class Err = const_call<"append">>
    requires(sizeof...(Given) > 1 && passes<typename Held::template append_fits<Given...>>)
  static Err append(const Given &...);  // chosen for a const cache only
  template <class Only, class Err = refusal<typename Held::append_lacks>>
  static Err append(const Only &);

  template <class K, class V>
    requires passes<typename Held::template append_fits<K, V>>
  status append(const K &k, const V &v, counts_list counts) {
    return append(k, v, counts_span(counts));
  }
  template <class K, class V, class Err = refusal<typename Held::template append_fits<K, V>>>
  static Err append(const K &, const V &, counts_list);

  // Appends K and V, then calls the kernel with Q, the contents of the cache, and the rest; when
  // either fails, the entries keep their contents. For ragged batches, counts follow V (the number
  // of new positions of an entry that are real); the kernel takes them after the lengths: i32 over
  // the entries there are counts. Errors: those of append, of call.
  template <auto Kernel, class K, class... Argument>
    requires(!begins_with_options<K> &&
             passes<typename Held::template attend_fits<Kernel, K, Argument...>>)
  status attend(K &&k, Argument &&...argument) {
    return run<Kernel>(options{}, k, argument...);
  }
  template <auto Kernel, class K, class... Argument>
    requires passes<typename Held::template attend_fits<Kernel, K, Argument...>>
  status attend(const options &how, K &&k, Argument &&...argument) {
    return run<Kernel>(how, k, argument...);
  }
  template <auto Kernel, class... Argument,
            class Err = refusal<typename Held::template attend_fits<Kernel, Argument...>>>
    requires(!begins_with_options<Argument...>)
  static Err attend(Argument &&...);
  template <auto Kernel, class... Argument,
            class Err = refusal<typename Held::template attend_fits<Kernel, Argument...>>>
  static Err attend(const options &, Argument &&...);
  template <auto Kernel, class... Argument, class Err = const_call<"attend">>
    requires(!begins_with_options<Argument...> &&
             passes<typename Held::template attend_fits<Kernel, Argument...>>)
  static Err attend(Argument &&...);
  template <auto Kernel, class... Argument, class Err = const_call<"attend">>
    requires passes<typename Held::template attend_fits<Kernel, Argument...>>
  static Err attend(const options &, Argument &&...);

  // The same with counts as a list: attend<ragged>(K, V, {3, 1}, Q, O).
  template <auto Kernel, class K, class V, class... Rest>
    requires passes<typename Held::template attend_fits<Kernel, K, V, counts_span, Rest...>>
  status attend(K &&k, V &&v, counts_list counts, Rest &&...rest) {
    const counts_span given(counts);
    return run<Kernel>(options{}, k, v, given, rest...);
  }
  template <auto Kernel, class K, class V, class... Rest>
    requires passes<typename Held::template attend_fits<Kernel, K, V, counts_span, Rest...>>
  status attend(const options &how, K &&k, V &&v, counts_list counts, Rest &&...rest) {
    const counts_span given(counts);
    return run<Kernel>(how, k, v, given, rest...);
  }
  template <
      auto Kernel, class K, class V, class... Rest,
      class Err = refusal<typename Held::template attend_fits<Kernel, K, V, counts_span, Rest...>>>
  static Err attend(K &&, V &&, counts_list, Rest &&...);
  template <
      auto Kernel, class K, class V, class... Rest,
      class Err = refusal<typename Held::template attend_fits<Kernel, K, V, counts_span, Rest...>>>
  static Err attend(const options &, K &&, V &&, counts_list, Rest &&...);

 private:
  template <auto Kernel, class K, class V, class First, class... Rest>
  status run(const options &how, const K &k, const V &v, First &first, Rest &...rest) {
    if constexpr (Held::template counting<First>) {
      const auto count = span_of(first);
      const typename Held::counts counts(count.data(), {static_cast<std::int64_t>(count.size())});
      return [&](auto &q, auto &...others) {
        return append_and_call(k, v, count, [&](const auto &...stored) {
          return call<Kernel>(how, q, stored..., counts, others...);
        });
      }(rest...);
    } else {
      return append_and_call(k, v, std::nullopt, [&](const auto &...stored) {
        return call<Kernel>(how, first, stored..., rest...);
      });
    }
  }
  template <class K, class V, class Call>
  status append_and_call(const K &k, const V &v, const row_counts &counts, Call call) {
    auto &cache = static_cast<Cache &>(*this);
    const auto before = cache.lengths();
    if (cache.entries() > 0 && (!before.data() || !cache.lengths().data()))
      return no_memory_for_notes(Held::name);
    if (status s = cache.append_rows(k, v, counts); !s) return s;
    status done = cache.with_stored(call);
    for (std::int64_t e = 0; !done && e < cache.entries(); ++e) cache.shorten(e, before(e));
    return done;
  }
};

}  // namespace qkv::detail
