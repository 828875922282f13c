// SPDX-License-Identifier: BSL-1.0
#pragma once
// Keys and values in pages that the sequences of a batch take as they grow: memory for stored
// positions, not for the longest sequence.
//
//   paged_kv_cache<batch, pages, blocks, slot, tensor<pages, heads, slot, d_k>,
//                  tensor<pages, heads, slot, d_v>> cache(sizes);
//   status s = cache.attend<decode>(K, V, Q, O);  // K, V [batch, heads, seq, ..]: new positions
//
// The kernel's first inputs are Q, the pages of keys and of values, the i32 table [batch, blocks]
// of pages, and i32 lengths [batch] that count the new positions too; mask and counts for ragged
// batches are as with kv_cache. It sees one sequence of positions by
//
//   auto K = merge<positions, blocks, slot>(take<pages>(key_pages, table));
//
// where positions is a run-time axis of the spec.
#include <qkv/kv_cache.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace qkv {

namespace detail {

status no_page(std::int64_t needed, std::int64_t left);

// Pages that no entry holds. If memory for the list runs out, the list is lost, and the next
// request for a page fails.
class free_pages {
 public:
  free_pages() = default;
  free_pages(const free_pages &) noexcept;
  free_pages(free_pages &&o) noexcept { swap(o); }
  free_pages &operator=(free_pages o) noexcept {
    swap(o);
    return *this;
  }
  // All of so many, the first to be taken first.
  void refill(std::int64_t pages) noexcept;
  bool lost() const { return !list_ && room_ > 0; }
  std::int64_t count() const { return n_; }
  std::int32_t take() { return list_[--n_]; }
  void give_back(std::int32_t page) {
    if (n_ < room_ && list_) list_[n_++] = page;
  }

 private:
  void swap(free_pages &o) noexcept {
    std::swap(list_, o.list_);
    std::swap(room_, o.room_);
    std::swap(n_, o.n_);
  }
  std::unique_ptr<std::int32_t[]> list_;
  std::int64_t room_ = 0, n_ = 0;
};

template <auto Entry, auto Blocks, auto Slot, some_tensor Keys, some_tensor Values>
using paged_kv_held = held<"paged_kv_cache", Entry, Keys::shape.position(data_of<Slot>), Keys,
                           Values, Keys, Values, tensor<i32, Entry, Blocks>, tensor<i32, Entry>>;

}  // namespace detail

// Keys and Values: tensors over Pages (first), Slot (the positions of a page) and any further axes.
// An entry holds at most extent(Blocks) * extent(Slot) positions.
template <auto Entry, auto Pages, auto Blocks, auto Slot, detail::some_tensor Keys,
          detail::some_tensor Values>
class paged_kv_cache
    : public detail::appending_calls<paged_kv_cache<Entry, Pages, Blocks, Slot, Keys, Values>,
                                     detail::paged_kv_held<Entry, Blocks, Slot, Keys, Values>> {
  using held = detail::paged_kv_held<Entry, Blocks, Slot, Keys, Values>;

 public:
  using table_type = tensor<i32, Entry, Blocks>;
  using lengths_type = tensor<i32, Entry>;
  static_assert(!core::entries{Entry, Pages, Blocks, Slot}.twice,
                "paged_kv_cache: Entry, Pages, Blocks and Slot must be four different axes");
  static_assert(!Keys::is_view && !Values::is_view,
                "paged_kv_cache: keys and values must own their memory: tensor, not a view");
  static_assert(core::entries{Entry, Pages, Blocks, Slot}.twice ||
                    (Keys::shape.common(core::axes_of<Entry, Blocks>()).empty() &&
                     Values::shape.common(core::axes_of<Entry, Blocks>()).empty()),
                "paged_kv_cache: keys and values must not have the axes Entry and Blocks");
  static_assert(same_name(Keys::shape[0], core::data_of<Pages>) &&
                    same_name(Values::shape[0], core::data_of<Pages>),
                "paged_kv_cache: the first axis of keys and values is that of the pages");
  static_assert(
      Keys::shape.position(core::data_of<Slot>) == Values::shape.position(core::data_of<Slot>) &&
          Keys::shape.has(core::data_of<Slot>),
      "paged_kv_cache: keys and values have the axis of a page's positions in the same place");

  template <class... E>
  explicit paged_kv_cache(const extents<E...> &sizes)
      : keys_(sizes), values_(sizes), table_(sizes), lengths_(sizes) {
    clear();
  }

  std::int64_t entries() const { return lengths_.extent(0); }
  // Of one entry.
  std::int64_t capacity() const {
    return detail::product_of_extents(table_.extent(1), page_size());
  }
  std::int64_t page_size() const { return keys_.template extent<Slot>(); }
  std::int64_t free_pages() const { return free_.count(); }
  const Keys &keys() const { return keys_; }
  const Values &values() const { return values_; }
  const table_type &table() const { return table_; }
  const lengths_type &lengths() const { return lengths_; }

  // Forgets the positions of an entry from `length` on; its pages become free. Errors:
  // wrong_extent.
  status truncate(std::int64_t entry, std::int64_t length) {
    if (status s = detail::check_truncate(where(), entry, length); !s) return s;
    shorten(entry, length);
    return {};
  }
  void clear() {
    lengths_.fill(0);
    table_.fill(0);
    // pages without memory (those of no heads): as many as the table has room for
    std::int64_t pages = table_.data() ? keys_.template extent<Pages>() : 0;
    if (!keys_.data()) pages = std::min(pages, table_.elements());
    free_.refill(pages);
  }
  // Chosen for a const cache only: the functions above are preferred, as they are not templates.
  template <class Err = detail::refusal<typename held::template const_call<"truncate">>>
  static Err truncate(std::int64_t, std::int64_t);
  template <class Err = detail::refusal<typename held::template const_call<"clear">>>
  static Err clear();

 private:
  friend detail::appending_calls<paged_kv_cache, held>;
  static constexpr int axis = Keys::shape.position(core::data_of<Slot>);

  template <class K, class V>
  status append_rows(const K &k, const V &v, const detail::row_counts &counts) {
    const qkv_tensor store[] = {keys_.descriptor(), values_.descriptor()},
                     rows[] = {k.descriptor(), v.descriptor()};
    if (status s = detail::check_append(where(), store, rows, {&K::shape, &V::shape}, counts); !s)
      return s;
    if (entries() > 0 && capacity() > 0 && (!table_.data() || free_.lost()))
      return detail::no_memory_for_notes(held::name);
    std::int64_t needed = 0;
    for (std::int64_t e = 0; e < entries(); ++e)
      needed += pages_for(lengths_(e) + detail::rows_of_entry(counts, rows[0], axis, e)) -
                pages_for(lengths_(e));
    if (needed > free_pages()) return detail::no_page(needed, free_pages());
    for (std::int64_t e = 0; e < entries(); ++e) {
      const std::int64_t n = detail::rows_of_entry(counts, rows[0], axis, e);
      for (std::int64_t done = 0; done < n;) {
        const std::int64_t at = lengths_(e), slot = at % page_size();
        if (slot == 0) table_(e, at / page_size()) = free_.take();
        const std::int64_t run = std::min(n - done, page_size() - slot);
        for (int kind : {0, 1})
          detail::copy_slots(store[kind], rows[kind], axis,
                             {e, done, table_(e, at / page_size()), slot, run});
        lengths_(e) += static_cast<std::int32_t>(run);
        done += run;
      }
    }
    return {};
  }

  std::int64_t pages_for(std::int64_t length) const {
    return page_size() == 0 ? 0 : (length + page_size() - 1) / page_size();
  }
  void shorten(std::int64_t entry, std::int64_t length) {
    for (std::int64_t b = pages_for(length); b < pages_for(lengths_(entry)); ++b) {
      free_.give_back(table_(entry, b));
      table_(entry, b) = 0;
    }
    lengths_(entry) = static_cast<std::int32_t>(length);
  }
  status with_stored(auto f) { return f(keys_, values_, table_, lengths_); }
  detail::slots_view where() const {
    return detail::slots_of("paged_kv_cache", axis, capacity(), lengths_);
  }

  Keys keys_;
  Values values_;
  table_type table_;
  lengths_type lengths_;
  detail::free_pages free_;
};

}  // namespace qkv
