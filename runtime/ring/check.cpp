// SPDX-License-Identifier: BSL-1.0
#include "ring/check.hpp"

#include <algorithm>
#include <limits>
#include <qkv/core/dtype.hpp>

#include "call/check.hpp"
#include "ring/local_tensor.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

using detail::fail;

class checking {
 public:
  checking(const qkv_kernel &k, const transport &machines, const layout &where,
           std::span<const qkv_tensor> arguments, const options &how, checked_call &made)
      : k_(k), machines_(machines), where_(where), arguments_(arguments), how_(how), made_(made) {}

  status run() {
    if (status s = parts::of(k_, made_.of); !s) return s;
    if (how_.on != device::host || how_.accumulate)
      return fail(status_code::unsupported,
                  "{}: several machines use processors, and do not add to outputs", k_.name);
    if (where_.machines() != machines_.size())
      return fail(status_code::wrong_count, "{}: the layout is of {} machines, not {}", k_.name,
                  where_.machines(), machines_.size());
    if (std::string d = where_.defect(); !d.empty())
      return fail(status_code::wrong_count, "{}: {}", k_.name, d);
    constexpr std::int64_t most_positions = std::numeric_limits<std::int32_t>::max() - 4096;
    if (std::max(where_.all_queries(), where_.all_keys()) > most_positions)
      return fail(status_code::too_large, "{}: {} queries and {} keys do not fit 32 bits", k_.name,
                  where_.all_queries(), where_.all_keys());
    if (arguments_.size() != static_cast<std::size_t>(k_.n_arguments))
      return fail(status_code::wrong_count, "{}: it has {} arguments, not {}", k_.name,
                  k_.n_arguments, arguments_.size());
    made_.sizes.assign(static_cast<std::size_t>(k_.n_axes), -1);
    for (int i = 0; i < k_.n_arguments; ++i)
      if (status s = check(k_.arguments[i], arguments_[static_cast<std::size_t>(i)]); !s) return s;
    detail::derive_sizes(k_, made_.sizes);
    if (status s = detail::check_memory(k_, arguments_); !s) return s;
    if (status s = whole_pages(); !s) return s;
    return same_runs();
  }

 private:
  // The keys of a page; -1: not known yet.
  std::int64_t page_size() const {
    const int root = k_.axes[axis_called(k_, made_.of.within)].root;
    return k_.axes[root].size >= 0 ? k_.axes[root].size
                                   : made_.sizes[static_cast<std::size_t>(root)];
  }
  status whole_pages() const {
    const int m = machines_.rank();
    const std::int64_t n = made_.of.pages.empty() ? 1 : std::max<std::int64_t>(page_size(), 1);
    for (const positions &run : where_.keys(m))
      if (run.first % n != 0 || run.n % n != 0)
        return fail(status_code::wrong_count,
                    "{}: machine {} has keys {} to {} of {}, which are not whole pages of {}",
                    k_.name, m, run.first, run.first + run.n, made_.of.key, n);
    return {};
  }

  // Queries and keys along aliases are the same tokens.
  status same_runs() const {
    const int q = axis_called(k_, made_.of.query), k = axis_called(k_, made_.of.key);
    const bool are_renamed =
        std::any_of(k_.conditions, k_.conditions + k_.n_conditions, [&](const qkv_condition &c) {
          return c.kind == QKV_SAME && ((c.a == q && c.b == k) || (c.a == k && c.b == q));
        });
    if (k_.axes[q].root != k_.axes[k].root && !are_renamed) return {};
    const int m = machines_.rank();
    for (std::size_t r = 0; r < where_.queries(m).size(); ++r)
      if (where_.queries(m)[r].n != where_.keys(m)[r].n ||
          (where_.queries(m)[r].n > 0 && where_.queries(m)[r].first != where_.keys(m)[r].first))
        return fail(status_code::wrong_count,
                    "{}: {} and {} are the same tokens, but run {} of machine {} differs", k_.name,
                    made_.of.query, made_.of.key, r, m);
    return {};
  }

  // The extent of an axis of an argument here, or -1: any.
  std::int64_t expected(const qkv_argument &a, int axis) const {
    const std::string_view name = k_.axes[axis].name;
    const int m = machines_.rank();
    if (name == made_.of.query) return where_.n_queries(m);
    if (name == made_.of.key) {
      for (int d = 0; d < a.rank; ++d)
        if (k_.axes[a.axes[d]].name == made_.of.query) return where_.all_keys();
      return where_.n_keys(m);
    }
    if (name == made_.of.pages) return page_size() > 0 ? where_.n_keys(m) / page_size() : -1;
    // Other aliases have all of these positions.
    const int root_axis = k_.axes[axis].root;
    if (root_axis == k_.axes[axis_called(k_, made_.of.query)].root) return where_.all_queries();
    if (root_axis == k_.axes[axis_called(k_, made_.of.key)].root) return where_.all_keys();
    const qkv_axis &root = k_.axes[root_axis];
    return root.size >= 0 ? root.size : made_.sizes[static_cast<std::size_t>(k_.axes[axis].root)];
  }

  status check(const qkv_argument &a, const qkv_tensor &t) {
    if (t.device != QKV_HOST)
      return fail(status_code::wrong_device, "{}: {} is not in the host's memory", k_.name, a.name);
    if (t.dtype != a.dtype)
      return fail(status_code::wrong_dtype, "{}: {} is {}, not {}", k_.name, a.name,
                  t.dtype >= 0 && t.dtype <= QKV_B8 ? name_of(static_cast<dtype>(t.dtype))
                                                    : std::string_view("of no known type"),
                  name_of(static_cast<dtype>(a.dtype)));
    if (t.rank != a.rank)
      return fail(status_code::wrong_rank, "{}: {} has {} axes, not {}", k_.name, a.name, t.rank,
                  a.rank);
    for (int d = 0; d < a.rank; ++d) {
      const int axis = a.axes[d];
      const std::int64_t n = expected(a, axis);
      if (t.extent[d] < 0)
        return fail(status_code::wrong_extent, "{}: axis {} is {} in {}", k_.name,
                    k_.axes[axis].name, t.extent[d], a.name);
      if (n >= 0 && t.extent[d] != n)
        return fail(status_code::wrong_extent, "{}: axis {} is {} in {} but {} on machine {}",
                    k_.name, k_.axes[axis].name, t.extent[d], a.name, n, machines_.rank());
      const std::string_view name = k_.axes[axis].name;
      if (name != made_.of.query && name != made_.of.key && name != made_.of.pages)
        made_.sizes[static_cast<std::size_t>(k_.axes[axis].root)] = t.extent[d];
    }
    return {};
  }

  const qkv_kernel &k_;
  const transport &machines_;
  const layout &where_;
  const std::span<const qkv_tensor> arguments_;
  const options &how_;
  checked_call &made_;
};

}  // namespace

int axis_called(const qkv_kernel &k, std::string_view name) {
  for (int a = 0; a < k.n_axes; ++a)
    if (name == k.axes[a].name) return a;
  return 0;
}

status check_call(const qkv_kernel &k, const transport &machines, const layout &where,
                  std::span<const qkv_tensor> arguments, const options &how, checked_call &result) {
  return checking(k, machines, where, arguments, how, result).run();
}

}  // namespace qkv::ring
