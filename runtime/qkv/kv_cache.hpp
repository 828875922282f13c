#pragma once
// Keys and values of what came before, for each sequence of a batch: append what is new, attend to all of it.
//
//   kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots, d_v>> cache(sizes);
//   status s = cache.attend<decode>(K, V, Q, O);     // K, V [batch, heads, seq, ..]: seq new positions
//
// The kernel's first inputs are Q, the stored keys, the stored values, then i32 lengths [batch] that count the new
// positions too; whatever follows in its signature follows in the call. Its mask hides what lies beyond a length:
//
//   index(slots) <= index(seq) + length - size(seq)  // the last of the new queries sees all, the first sees up to itself
#include <qkv/call.hpp>
#include <qkv/tensor.hpp>

namespace qkv {

namespace detail {

// Where new positions go.
struct slots_view {
  const char *name;                    // "kv_cache", for messages
  int axis = 0;                        // of slots, in keys, values and in what is appended
  std::int64_t capacity = 0;           // of one entry
  std::span<const std::int32_t> used;  // per entry: positions that are taken
};

// Whether both kinds of rows fit behind what each entry holds: extents, dtype, counts, capacity. store, rows: keys, then
// values. count: how many rows of each entry are real; empty: all of them.
status check_append(const slots_view &, const qkv_tensor (&store)[2], const qkv_tensor (&rows)[2],
                    std::span<const std::int32_t> count);
std::int32_t rows_of_entry(std::span<const std::int32_t> count, const qkv_tensor &rows, int axis,
                           std::int64_t entry);

// Positions that lie together in both.
struct slot_run {
  std::int64_t from_entry, from_slot, to_entry, to_slot, n;
};
void copy_slots(const qkv_tensor &to, const qkv_tensor &from, int axis, const slot_run &);

// Whether the entry exists and holds at least `length` positions.
status check_truncate(const slots_view &, std::int64_t entry, std::int64_t length);

}  // namespace detail

// Keys and Values: tensors over Entry (first), Slots and whatever else. Capacity is the extent of Slots.
template <auto Entry, auto Slots, detail::some_tensor Keys, detail::some_tensor Values>
class kv_cache {
 public:
  using lengths_type = tensor<i32, Entry>;
  static_assert(same_name(Keys::shape[0], data_of<Entry>) &&
                    same_name(Values::shape[0], data_of<Entry>),
                "kv_cache: the first axis of keys and values is that of the entries");
  static_assert(Keys::shape.position(data_of<Slots>) == Values::shape.position(data_of<Slots>) &&
                    Keys::shape.has(data_of<Slots>),
                "kv_cache: keys and values have the axis of slots in the same place");

  template <class... E>
  explicit kv_cache(const extents<E...> &sizes) : keys_(sizes), values_(sizes), lengths_(sizes) {}

  std::int64_t capacity() const { return keys_.template extent<Slots>(); }
  std::int64_t entries() const { return lengths_.extent(0); }
  const Keys &keys() const { return keys_; }
  const Values &values() const { return values_; }
  const lengths_type &lengths() const { return lengths_; }

  // K and V hold new positions in place of Slots; count says how many of them are real for each entry (ragged batches).
  // Errors: wrong_extent, wrong_dtype, null_data, cache_full; nothing is appended then.
  template <detail::some_tensor K, detail::some_tensor V>
  status append(const K &k, const V &v, std::span<const std::int32_t> count = {}) {
    const qkv_tensor store[] = {keys_.descriptor(), values_.descriptor()},
                     rows[] = {k.descriptor(), v.descriptor()};
    if (status s = detail::check_append(where(), store, rows, count); !s) return s;
    for (std::int64_t e = 0; e < entries(); ++e) {
      const std::int32_t n = detail::rows_of_entry(count, rows[0], axis, e);
      for (int kind : {0, 1})
        detail::copy_slots(store[kind], rows[kind], axis, {e, 0, e, lengths_(e), n});
      lengths_(e) += n;
    }
    return {};
  }

  // Appends, then calls the kernel; when either fails, the cache is as it was.
  template <auto Kernel, detail::some_tensor K, detail::some_tensor V, class Q, class... Rest>
  status attend(const options &how, const K &k, const V &v, Q &&q, Rest &&...rest) {
    const lengths_type before = lengths_;
    if (status s = append(k, v); !s) return s;
    status done = call<Kernel>(how, q, keys_, values_, lengths_, rest...);
    if (!done) lengths_ = before;
    return done;
  }
  template <auto Kernel, detail::some_tensor K, detail::some_tensor V, class Q, class... Rest>
  status attend(const K &k, const V &v, Q &&q, Rest &&...rest) {
    return attend<Kernel>(options{}, k, v, q, rest...);
  }

  // Forgets the positions of an entry from `length` on. Errors: wrong_extent.
  status truncate(std::int64_t entry, std::int64_t length) {
    if (status s = detail::check_truncate(where(), entry, length); !s) return s;
    lengths_(entry) = static_cast<std::int32_t>(length);
    return {};
  }
  void clear() { lengths_.fill(0); }

 private:
  static constexpr int axis = Keys::shape.position(data_of<Slots>);
  detail::slots_view where() const {
    return {"kv_cache", axis, capacity(), {lengths_.data(), static_cast<std::size_t>(entries())}};
  }

  Keys keys_;
  Values values_;
  lengths_type lengths_;
};

}  // namespace qkv
