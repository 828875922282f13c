// SPDX-License-Identifier: BSL-1.0
#pragma once
// Pages of keys and values of a long context, distributed over several machines: sequences take
// pages of each machine as they grow.
//
//   ring::paged_kv_cache<batch, pages, blocks, slot, tensor<pages, heads, slot, d_k>,
//                        tensor<pages, heads, slot, d_v>> cache(ring, sizes);
//   status s = cache.append(K, V);                                 // the same positions everywhere
//   if (s) s = ring::decode<my::decode_paged>(ring, cache, Q, O);  // O is the same everywhere
//
// The kernel is that of a paged_kv_cache: its first inputs are Q, the pages of keys and of values,
// the i32 table [batch, blocks], i32 lengths [batch]. It was built with DISTRIBUTED
// my::decode_paged:seq,positions, where positions is the axis that merge<positions, blocks, slot>
// makes.
#include <algorithm>
#include <qkv/paged_kv_cache.hpp>
#include <qkv/ring_cache.hpp>

namespace qkv::ring {

// Keys and Values: tensors over Pages (first), Slot (the positions of a page) and any further axes.
template <auto Entry, auto Pages, auto Blocks, auto Slot, qkv::detail::some_tensor Keys,
          qkv::detail::some_tensor Values>
class paged_kv_cache : public member {
  using held = qkv::detail::paged_kv_held<Entry, Blocks, Slot, Keys, Values>;
  using one_machine = qkv::paged_kv_cache<Entry, Pages, Blocks, Slot, Keys, Values>;
  static constexpr int axis = Keys::shape.position(core::data_of<Slot>);

 public:
  using table_type = typename one_machine::table_type;
  using lengths_type = typename one_machine::lengths_type;
  using stored = qkv::detail::stored_types<Keys, Values, table_type, lengths_type>;

  // Sizes give the pages of each machine, and the blocks of all machines together that an entry can
  // have: as many blocks as hold `block` positions go to a machine in turn.
  template <class... E>
  paged_kv_cache(const transport &machines, const extents<E...> &sizes, std::int64_t block = 256)
      : member(machines),
        keys_(sizes),
        values_(sizes),
        blocks_(sizes.template get<core::data_of<Blocks>>()),
        in_turn_(std::clamp<std::int64_t>(block / std::max<std::int64_t>(1, page_size()), 1,
                                          std::max<std::int64_t>(1, blocks_))),
        table_(qkv::detail::exactly{}, own_blocks(sizes)),
        lengths_(sizes) {
    clear();
  }

  // Of one entry, on all machines.
  std::int64_t capacity() const { return qkv::detail::product_of_extents(blocks_, page_size()); }
  std::int64_t block() const { return in_turn_ * page_size(); }
  std::int64_t entries() const { return lengths_.extent(0); }
  std::int64_t page_size() const { return keys_.template extent<Slot>(); }
  // Of this machine.
  std::int64_t free_pages() const { return free_.count(); }
  const Keys &keys() const { return keys_; }
  const Values &values() const { return values_; }
  const table_type &table() const { return table_; }
  // Positions on all machines.
  const lengths_type &lengths() const { return lengths_; }

  // Appends new positions, K and V [entry, .., new positions, ..], which every machine is given:
  // each keeps those of its own blocks. Errors: those of qkv::paged_kv_cache; a machine without
  // pages is the error of all.
  template <class K, class V>
    requires qkv::detail::passes<typename held::template append_fits<K, V>>
  status append(const K &k, const V &v) {
    const qkv_tensor store[] = {keys_.descriptor(), values_.descriptor()},
                     rows[] = {k.descriptor(), v.descriptor()};
    if (status s = qkv::detail::check_append(where(), store, rows, {&K::shape, &V::shape}, {}); !s)
      return s;
    if (entries() > 0 && capacity() > 0 && (!table_.data() || free_.lost()))
      return qkv::detail::no_memory_for_notes("ring::paged_kv_cache");
    const std::int64_t n = rows[0].extent[axis];
    for (int m = 0; m < machines_; ++m)
      if (const std::int64_t needed = pages_of(m, n); needed > pages_)
        return qkv::detail::no_page(needed - pages_of(m, 0), pages_ - pages_of(m, 0));
    for (std::int64_t e = 0; e < entries(); ++e) {
      for (std::int64_t row = 0; row < n;) {
        const std::int64_t at = lengths_(e) + row, of = at / page_size(), slot = at % page_size(),
                           left = page_size() - slot, run = left < n - row ? left : n - row;
        if (owner(of) == rank_) {
          const std::int64_t own = own_block(of);
          if (slot == 0) table_(e, own) = free_.take();
          for (int kind : {0, 1})
            qkv::detail::copy_slots(store[kind], rows[kind], axis,
                                    {e, row, table_(e, own), slot, run});
        }
        row += run;
      }
      lengths_(e) += static_cast<std::int32_t>(n);
    }
    return {};
  }
  template <class K, class V,
            class Err = qkv::detail::refusal<typename held::template append_fits<K, V>>>
  static Err append(const K &, const V &);

  // Forgets the positions of an entry from `length` on; their pages become free. Errors:
  // wrong_extent.
  status truncate(std::int64_t entry, std::int64_t length) {
    if (status s = qkv::detail::check_truncate(where(), entry, length); !s) return s;
    for (std::int64_t b = blocks_for(length); b < blocks_for(lengths_(entry)); ++b)
      if (owner(b) == rank_) {
        free_.give_back(table_(entry, own_block(b)));
        table_(entry, own_block(b)) = 0;
      }
    lengths_(entry) = static_cast<std::int32_t>(length);
    return {};
  }
  void clear() {
    lengths_.fill(0);
    table_.fill(0);
    pages_ = keys_.template extent<Pages>();
    free_.refill(table_.data() ? pages_ : 0);
  }

  // Calls f with what a kernel reads after the queries.
  auto with_stored(auto f) const { return f(keys_, values_, table_, lengths_); }

 private:
  int owner(std::int64_t block) const { return static_cast<int>(block / in_turn_ % machines_); }
  std::int64_t own_block(std::int64_t block) const {
    return block / in_turn_ / machines_ * in_turn_ + block % in_turn_;
  }
  std::int64_t blocks_for(std::int64_t length) const {
    return page_size() == 0 ? 0 : (length + page_size() - 1) / page_size();
  }
  // Among the first blocks of an entry, those of a machine.
  std::int64_t blocks_of(int machine, std::int64_t all) const {
    return share_of_blocks(all, in_turn_, machines_, machine);
  }
  // The pages that a machine needs for all entries with so many more positions.
  std::int64_t pages_of(int machine, std::int64_t more) const {
    std::int64_t all = 0;
    for (std::int64_t e = 0; e < entries(); ++e)
      all += blocks_of(machine, blocks_for(lengths_(e) + more));
    return all;
  }
  qkv::detail::slots_view where() const {
    return qkv::detail::slots_of("ring::paged_kv_cache", axis, capacity(), lengths_);
  }
  template <class Sizes>
  qkv::detail::dimensions own_blocks(const Sizes &sizes) const {
    qkv::detail::dimensions all = qkv::detail::extents_from<table_type>(sizes);
    all[1] = blocks_of(rank_, blocks_);
    return all;
  }

  Keys keys_;
  Values values_;
  std::int64_t blocks_, in_turn_;
  std::int64_t pages_ = 0;  // of each machine
  table_type table_;
  lengths_type lengths_;
  qkv::detail::free_pages free_;
};

}  // namespace qkv::ring
