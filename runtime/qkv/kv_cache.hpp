// SPDX-License-Identifier: BSL-1.0
#pragma once
// Keys and values of earlier positions, for each sequence of a batch: append the new ones, attend
// to all of them.
//
//   kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots, d_v>>
//       cache(sizes);
//   status s = cache.attend<decode>(K, V, Q, O);  // K, V [batch, heads, seq, ..]: new positions
//
// with sizes = extents{extent<batch>(4), extent<slots>(1000)} for the axes that the types leave
// open. The kernel's first inputs are Q, the stored keys, the stored values, then i32 lengths
// [batch] that count the new positions too; the rest of its signature follows in the call. Its mask
// is cached_causal<seq, slots>(length); windows and biases take the same length, as alibi<seq,
// slots>(slope, length). Rotary angles are those of position index(seq) + length - size(seq) of
// query i.
//
//   cache.attend<ragged>(K, V, counts, Q, O);  // counts: contiguous i32, one per entry (span,
//                                              // vector, tensor, list)
//
// Where entries take different numbers of new positions, counts follow V. Q has the rows of K;
// those of an entry from its count on are not appended. The kernel takes counts after the lengths,
// its mask is cached_causal<seq, slots>(length, count), windows and biases take both, too, and
// query i is at index(seq) + length - count.
#include <qkv/append.hpp>

namespace qkv {

namespace detail {
template <auto Entry, auto Slots, some_tensor Keys, some_tensor Values>
using kv_held = held<"kv_cache", Entry, Keys::shape.position(data_of<Slots>), Keys, Values, Keys,
                     Values, tensor<i32, Entry>>;
}

// Keys and Values: tensors over Entry (first), Slots and any further axes. Capacity is the extent
// of Slots.
template <auto Entry, auto Slots, detail::some_tensor Keys, detail::some_tensor Values>
class kv_cache : public detail::appending_calls<kv_cache<Entry, Slots, Keys, Values>,
                                                detail::kv_held<Entry, Slots, Keys, Values>> {
  using held = detail::kv_held<Entry, Slots, Keys, Values>;

 public:
  using lengths_type = tensor<i32, Entry>;
  static_assert(!core::entries{Entry, Slots}.twice,
                "kv_cache: Entry and Slots must be different axes");
  static_assert(!Keys::is_view && !Values::is_view,
                "kv_cache: keys and values must own their memory: tensor, not a view");
  static_assert(same_name(Keys::shape[0], core::data_of<Entry>) &&
                    same_name(Values::shape[0], core::data_of<Entry>),
                "kv_cache: the first axis of keys and values is that of the entries");
  static_assert(Keys::shape.position(core::data_of<Slots>) ==
                        Values::shape.position(core::data_of<Slots>) &&
                    Keys::shape.has(core::data_of<Slots>),
                "kv_cache: keys and values have the axis of slots in the same place");

  template <class... E>
  explicit kv_cache(const extents<E...> &sizes) : keys_(sizes), values_(sizes), lengths_(sizes) {}

  std::int64_t capacity() const { return keys_.template extent<Slots>(); }
  std::int64_t entries() const { return lengths_.extent(0); }
  const Keys &keys() const { return keys_; }
  const Values &values() const { return values_; }
  const lengths_type &lengths() const { return lengths_; }

  // Forgets the positions of an entry from `length` on. Errors: wrong_extent.
  status truncate(std::int64_t entry, std::int64_t length) {
    if (status s = detail::check_truncate(where(), entry, length); !s) return s;
    shorten(entry, length);
    return {};
  }
  void clear() { lengths_.fill(0); }
  // Chosen for a const cache only: the functions above are preferred, as they are not templates.
  template <class Err = detail::refusal<typename held::template const_call<"truncate">>>
  static Err truncate(std::int64_t, std::int64_t);
  template <class Err = detail::refusal<typename held::template const_call<"clear">>>
  static Err clear();

 private:
  friend detail::appending_calls<kv_cache, held>;
  static constexpr int axis = Keys::shape.position(core::data_of<Slots>);
  template <class K, class V>
  status append_rows(const K &k, const V &v, const detail::row_counts &counts) {
    const qkv_tensor store[] = {keys_.descriptor(), values_.descriptor()},
                     rows[] = {k.descriptor(), v.descriptor()};
    if (status s = detail::check_append(where(), store, rows, {&K::shape, &V::shape}, counts); !s)
      return s;
    for (std::int64_t e = 0; e < entries(); ++e) {
      const std::int64_t n = detail::rows_of_entry(counts, rows[0], axis, e);
      for (int kind : {0, 1})
        detail::copy_slots(store[kind], rows[kind], axis, {e, 0, e, lengths_(e), n});
      lengths_(e) += static_cast<std::int32_t>(n);
    }
    return {};
  }
  status with_stored(auto f) { return f(keys_, values_, lengths_); }
  void shorten(std::int64_t entry, std::int64_t length) {
    lengths_(entry) = static_cast<std::int32_t>(length);
  }
  detail::slots_view where() const {
    return detail::slots_of("kv_cache", axis, capacity(), lengths_);
  }

  Keys keys_;
  Values values_;
  lengths_type lengths_;
};

}  // namespace qkv
