// SPDX-License-Identifier: BSL-1.0
#pragma once
// Keys and values of a long context, distributed over several machines: each keeps its own, every
// machine has the queries, and what they found is merged.
//
//   ring::kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots,
//   d_v>>
//       cache(ring, extents{extent<batch>(4), extent<slots>(1'000'000)});
//   status s = cache.append(K, V);                            // the same new positions everywhere
//   if (s) s = ring::decode<my::decode>(ring, cache, Q, O);   // O is the same everywhere
//
// The kernel is that of a kv_cache: its first inputs are Q, the stored keys, the stored values,
// then i32 lengths [batch]; its mask is cached_causal<seq, slots>(length). It was built with
// DISTRIBUTED my::decode:seq,slots.
#include <algorithm>
#include <qkv/kv_cache.hpp>
#include <qkv/ring.hpp>

namespace qkv::detail {

// The tensors that a cache passes to a kernel after the queries.
template <class... Stored>
struct stored_types {};

// The call of a kernel with what a cache passes to it after the queries.
template <auto Kernel, class Stored, class Q, class... Rest>
struct decoding;
template <auto Kernel, class... Stored, class Q, class... Rest>
struct decoding<Kernel, stored_types<Stored...>, Q, Rest...> {
  static constexpr bool fits = callable<"decode", Kernel, part::all, Q, const Stored &..., Rest...>;
  template <class Queries>
  using refusal = call_refusal<"decode", Kernel, part::all, Queries, const Stored &..., Rest...>;
};

template <class T>
concept shared_cache = requires { typename T::stored; };

}  // namespace qkv::detail

namespace qkv::ring {

// Runs a kernel whose keys are distributed in blocks; every machine has all queries. Errors: those
// of run_parts().
status run_block_cyclic(const qkv_kernel &, transport &, std::int64_t keys, std::int64_t block,
                        std::span<const qkv_tensor> arguments, const settings &) noexcept;

// The part of one machine of a group.
class member {
 public:
  explicit member(const transport &machine) : machines_(machine.size()), rank_(machine.rank()) {}

  // False for a machine of another number, or among another number of them.
  bool is_of(const transport &machine) const {
    return machine.rank() == rank_ && machine.size() == machines_;
  }

 protected:
  int machines_, rank_;
};

// Keys and Values: tensors over Entry (first), Slots and any further axes.
template <auto Entry, auto Slots, qkv::detail::some_tensor Keys, qkv::detail::some_tensor Values>
class kv_cache : public member {
  using held = qkv::detail::kv_held<Entry, Slots, Keys, Values>;
  static constexpr int axis = Keys::shape.position(core::data_of<Slots>);
  using dimensions = qkv::detail::dimensions;

 public:
  using lengths_type = tensor<i32, Entry>;
  using stored = qkv::detail::stored_types<Keys, Values, lengths_type>;
  static_assert(!core::entries{Entry, Slots}.twice,
                "ring::kv_cache: Entry and Slots must be different axes");
  static_assert(!Keys::is_view && !Values::is_view,
                "ring::kv_cache: keys and values must own their memory: tensor, not a view");
  static_assert(same_name(Keys::shape[0], core::data_of<Entry>) &&
                    same_name(Values::shape[0], core::data_of<Entry>),
                "ring::kv_cache: the first axis of keys and values is that of the entries");
  static_assert(Keys::shape.position(core::data_of<Slots>) ==
                        Values::shape.position(core::data_of<Slots>) &&
                    Keys::shape.has(core::data_of<Slots>),
                "ring::kv_cache: keys and values have the axis of slots in the same place");

  // Sizes give the slots of all machines together, distributed in blocks of so many.
  template <class... E>
  kv_cache(const transport &machines, const extents<E...> &sizes, std::int64_t block = 256)
      : member(machines),
        capacity_(sizes.template get<core::data_of<Slots>>()),
        block_(std::clamp<std::int64_t>(block, 1, capacity_ > 1 ? capacity_ : 1)),
        keys_(qkv::detail::exactly{}, own<Keys>(sizes)),
        values_(qkv::detail::exactly{}, own<Values>(sizes)),
        lengths_(sizes) {}

  std::int64_t capacity() const { return capacity_; }
  std::int64_t block() const { return block_; }
  std::int64_t entries() const { return lengths_.extent(0); }
  // Of this machine, block after block.
  const Keys &keys() const { return keys_; }
  const Values &values() const { return values_; }
  // Positions on all machines.
  const lengths_type &lengths() const { return lengths_; }

  // Appends new positions, K and V [entry, .., new positions, ..], which every machine is given:
  // each keeps those of its own slots. Errors: those of qkv::kv_cache.
  template <class K, class V>
    requires qkv::detail::passes<typename held::template append_fits<K, V>>
  status append(const K &k, const V &v) {
    const qkv_tensor store[] = {keys_.descriptor(), values_.descriptor()},
                     rows[] = {k.descriptor(), v.descriptor()};
    const auto where = qkv::detail::slots_of("ring::kv_cache", axis, capacity_, lengths_);
    if (status s = qkv::detail::check_append(where, store, rows, {&K::shape, &V::shape}, {}); !s)
      return s;
    const std::int64_t n = rows[0].extent[axis];
    for (std::int64_t e = 0; e < entries(); ++e) {
      for (std::int64_t row = 0; row < n;) {
        const std::int64_t at = lengths_(e) + row, left = block_ - at % block_,
                           run = left < n - row ? left : n - row;
        if (at / block_ % machines_ == rank_)
          for (int kind : {0, 1})
            qkv::detail::copy_slots(store[kind], rows[kind], axis, {e, row, e, own_slot(at), run});
        row += run;
      }
      lengths_(e) += static_cast<std::int32_t>(n);
    }
    return {};
  }
  template <class K, class V,
            class Err = qkv::detail::refusal<typename held::template append_fits<K, V>>>
  static Err append(const K &, const V &);

  // Forgets the positions of an entry from `length` on. Errors: wrong_extent.
  status truncate(std::int64_t entry, std::int64_t length) {
    const auto where = qkv::detail::slots_of("ring::kv_cache", axis, capacity_, lengths_);
    if (status s = qkv::detail::check_truncate(where, entry, length); !s) return s;
    lengths_(entry) = static_cast<std::int32_t>(length);
    return {};
  }
  void clear() { lengths_.fill(0); }

  // Calls f with what a kernel reads after the queries.
  auto with_stored(auto f) const { return f(keys_, values_, lengths_); }

 private:
  std::int64_t own_slot(std::int64_t position) const {
    return position / block_ / machines_ * block_ + position % block_;
  }
  template <class Tensor, class Sizes>
  dimensions own(const Sizes &sizes) const {
    dimensions all = qkv::detail::extents_from<Tensor>(sizes);
    all[static_cast<std::size_t>(Tensor::shape.position(core::data_of<Slots>))] =
        capacity_ > 0 ? share_of_blocks(capacity_, block_, machines_, rank_) : 0;
    return all;
  }

  std::int64_t capacity_, block_;
  Keys keys_;
  Values values_;
  lengths_type lengths_;
};

// Calls the kernel with Q, the contents of the cache, and the rest; every machine gets all results.
// Errors: those of run_parts(); the cache is as it was.
template <auto Kernel, qkv::detail::shared_cache Cache, class Q, class... Rest>
  requires qkv::detail::decoding<Kernel, typename Cache::stored, Q, Rest...>::fits
status decode(transport &machine, const settings &how, const Cache &cache, Q &&queries,
              Rest &&...rest) {
  const qkv_kernel *table = nullptr;
  if (status s = qkv::detail::table_of<qkv::detail::kernel_type<Kernel>>(table); !s.ok())
    return machine.agree(s, how.deadline);
  if (!cache.is_of(machine))
    return machine.agree(
        {status_code::wrong_count,
         "ring::kv_cache: it was made for another machine of the group, or another group"},
        how.deadline);
  return cache.with_stored([&](const auto &...stored) {
    return run_block_cyclic(*table, machine, cache.capacity(), cache.block(),
                            qkv::detail::descriptors(queries, stored..., rest...), how);
  });
}
template <auto Kernel, qkv::detail::shared_cache Cache, class Q, class... Rest>
  requires qkv::detail::decoding<Kernel, typename Cache::stored, Q, Rest...>::fits
status decode(transport &machine, const Cache &cache, Q &&queries, Rest &&...rest) {
  return ring::decode<Kernel>(machine, settings{}, cache, queries, rest...);
}
template <auto Kernel, qkv::detail::shared_cache Cache, class Q, class... Rest,
          class Err = typename qkv::detail::decoding<Kernel, typename Cache::stored, Q,
                                                     Rest...>::template refusal<Q>>
Err decode(transport &, const Cache &, Q &&, Rest &&...);

}  // namespace qkv::ring
