// SPDX-License-Identifier: BSL-1.0
#include <qkv/paged_kv_cache.hpp>

#include <algorithm>
#include <limits>
#include <new>

#include "status/fail.hpp"

namespace qkv::detail {

status no_page(std::int64_t needed, std::int64_t left) {
  return fail(status_code::cache_full, "paged_kv_cache: {} pages are needed, {} are free", needed,
              left);
}

free_pages::free_pages(const free_pages &o) noexcept : room_(o.room_) {
  if (!o.list_) return;
  list_.reset(new (std::nothrow) std::int32_t[static_cast<std::size_t>(room_)]);
  if (!list_) return;
  n_ = o.n_;
  std::copy_n(o.list_.get(), n_, list_.get());
}

void free_pages::refill(std::int64_t pages) noexcept {
  pages = std::clamp<std::int64_t>(pages, 0, std::numeric_limits<std::int32_t>::max());
  if (!list_ || room_ != pages)
    list_.reset(pages > 0 ? new (std::nothrow) std::int32_t[static_cast<std::size_t>(pages)]
                          : nullptr);
  room_ = pages;
  n_ = list_ ? pages : 0;
  for (std::int64_t p = 0; p < n_; ++p) list_[p] = static_cast<std::int32_t>(pages - 1 - p);
}

}  // namespace qkv::detail
