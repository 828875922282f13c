// SPDX-License-Identifier: BSL-1.0
#include "call/check.hpp"

#include <algorithm>
#include <limits>
#include <qkv/core/axis.hpp>
#include <qkv/core/dtype.hpp>
#include <string>
#include <vector>

#include "call/variant.hpp"
#include "devices/devices.hpp"
#include "memory/layout.hpp"
#include "memory/overlap.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

constexpr std::int64_t unknown = -1;
// Of elements, too, repeated ones included.
constexpr std::int64_t largest = longest_axis;

std::string_view dtype_name(int t) { return name_of(static_cast<dtype>(t)); }

std::string axes_text(const qkv_kernel &k, const qkv_argument &a) {
  std::string text;
  for (int i = 0; i < a.rank; ++i) text += (i ? ", " : "") + std::string(k.axes[a.axes[i]].name);
  return text;
}

std::string arguments_text(const qkv_kernel &k) {
  std::string text;
  for (int i = 0; i < k.n_arguments; ++i)
    text += (i ? ", " : "") + std::string(k.arguments[i].name);
  return text;
}

// The argument and axis that determined a size, for the message about a mismatch.
struct binding {
  int argument = -1, axis = -1;
};

class checker {
 public:
  checker(const qkv_kernel &k, std::span<const qkv_tensor> t, std::span<std::int64_t> sizes)
      : k_(k), t_(t), sizes_(sizes) {}

  status run() {
    forget();
    for (int i = 0; i < k_.n_arguments; ++i) {
      if (status s = kind(i); !s) return s;
    }
    for (int i = 0; i < k_.n_arguments; ++i) {
      if (status s = extents(i); !s) return s;
    }
    if (status s = conditions(); !s) return s;
    return run_memory();
  }

  void derive_all() {
    while (derive_one(false) || derive_one(true)) {
    }
  }

  status run_memory() const {
    for (int i = 0; i < k_.n_arguments; ++i) {
      if (status s = strides(i); !s) return s;
      if (status s = memory(i); !s) return s;
    }
    for (int i = 0; i < k_.n_arguments; ++i) {
      if (k_.arguments[i].role != QKV_OUT) continue;
      if (status s = own_elements(i); !s) return s;
      if (status s = apart(i); !s) return s;
    }
    return {};
  }

  // t_ has meaning at the places of params only.
  status run_params() {
    params_only_ = true;
    forget();
    for (int i = 0; i < k_.n_arguments; ++i) {
      if (k_.arguments[i].role != QKV_PARAM) continue;
      if (status s = kind(i); !s) return s;
      if (status s = extents(i); !s) return s;
      if (status s = strides(i); !s) return s;
      if (status s = memory(i); !s) return s;
    }
    return {};
  }

 private:
  void forget() {
    std::fill(sizes_.begin(), sizes_.end(), unknown);
    for (int a = 0; a < k_.n_axes; ++a) {
      if (k_.axes[a].root == a) sizes_[a] = k_.axes[a].size;
    }
  }

  const char *name(int i) const { return k_.arguments[i].name; }
  const char *axis(int i, int d) const { return k_.axes[k_.arguments[i].axes[d]].name; }

  status kind(int i) const {
    const qkv_argument &a = k_.arguments[i];
    const qkv_tensor &t = t_[i];
    if (t.dtype < 0 || t.dtype > QKV_B8) {
      return fail(status_code::wrong_dtype,
                  "{}: {} is of dtype {}, which does not exist, but must be {}", k_.name, a.name,
                  t.dtype, dtype_name(a.dtype));
    }
    if (t.dtype != a.dtype) {
      return fail(status_code::wrong_dtype, "{}: {} is {} but must be {}", k_.name, a.name,
                  dtype_name(t.dtype), dtype_name(a.dtype));
    }
    if (t.rank != a.rank) {
      return fail(status_code::wrong_rank, "{}: {} has {} axes but must have {}: {}", k_.name,
                  a.name, t.rank, a.rank, axes_text(k_, a));
    }
    if (!kind_of(t.device)) {
      return fail(status_code::wrong_device, "{}: {} is on device {}, which does not exist",
                  k_.name, a.name, t.device);
    }
    return {};
  }

  status extents(int i) {
    const qkv_argument &a = k_.arguments[i];
    for (int d = 0; d < a.rank; ++d) {
      const std::int64_t e = t_[i].extent[d];
      if (e < 0)
        return fail(status_code::wrong_extent, "{}: axis {} is {} in {} but must be at least 0",
                    k_.name, axis(i, d), e, a.name);
      if (e > largest) {
        return fail(status_code::too_large, "{}: axis {} is {} in {} but at most {} fits", k_.name,
                    axis(i, d), e, a.name, largest);
      }
      const int root = k_.axes[a.axes[d]].root;
      if (k_.axes[root].size >= 0) {
        if (e != k_.axes[root].size) {
          return fail(status_code::wrong_extent, "{}: axis {} is {} in {} but must be {}", k_.name,
                      axis(i, d), e, a.name, k_.axes[root].size);
        }
      } else if (sizes_[root] == unknown) {
        sizes_[root] = e;
      } else if (e != sizes_[root]) {
        return disagree(i, d, root);
      }
    }
    return {};
  }

  status disagree(int i, int d, int root) const {
    const binding b = first(root);
    if (k_.arguments[b.argument].axes[b.axis] == k_.arguments[i].axes[d]) {
      return fail(status_code::wrong_extent, "{}: axis {} is {} in {} but {} in {}", k_.name,
                  axis(i, d), t_[i].extent[d], name(i), sizes_[root], name(b.argument));
    }
    return fail(status_code::wrong_extent,
                "{}: axis {} is {} in {} but {}, which has the same size, is {} in {}", k_.name,
                axis(i, d), t_[i].extent[d], name(i), axis(b.argument, b.axis), sizes_[root],
                name(b.argument));
  }

  // Only called when an earlier argument than the one at hand set the size.
  binding first(int root) const {
    for (int i = 0; i < k_.n_arguments; ++i) {
      if (params_only_ && k_.arguments[i].role != QKV_PARAM) continue;
      for (int d = 0; d < k_.arguments[i].rank; ++d) {
        if (k_.axes[k_.arguments[i].axes[d]].root == root) return {i, d};
      }
    }
    return {};
  }

  std::int64_t &size(int a) { return sizes_[k_.axes[a].root]; }

  // Sizes that no argument carries follow from the conditions, as the blocks of
  // split<seq, blocks, within>. If one factor is 0, the product does not determine the other:
  // another condition does, or it becomes 0, last of all.
  bool derive(const qkv_condition &c, bool zero_factors) {
    std::int64_t &a = size(c.a), &b = size(c.b);
    if (c.kind == QKV_SAME) {
      if ((a == unknown) == (b == unknown)) return false;
      (a == unknown ? a : b) = a == unknown ? b : a;
      return true;
    }
    std::int64_t &f = size(c.c);
    if ((a == unknown) + (b == unknown) + (f == unknown) != 1) return false;
    if (a == unknown) {
      a = together(c, b, f);
      return true;
    }
    const std::int64_t other = b == unknown ? f : b;
    if (c.kind == QKV_SUM) {
      if (other > a) return false;
      (b == unknown ? b : f) = a - other;
      return true;
    }
    if (other == 0 ? a != 0 || !zero_factors : a % other != 0) return false;
    (b == unknown ? b : f) = other == 0 ? 0 : a / other;
    return true;
  }

  bool derive_one(bool zero_factors) {
    return std::any_of(k_.conditions, k_.conditions + k_.n_conditions,
                       [&](const qkv_condition &c) { return derive(c, zero_factors); });
  }

  // Of both parts: the product, or the sum. Saturates.
  static std::int64_t together(const qkv_condition &c, std::int64_t b, std::int64_t f) {
    if (c.kind == QKV_PRODUCT) return product(b, f);
    std::int64_t s = 0;
    return __builtin_add_overflow(b, f, &s) ? std::numeric_limits<std::int64_t>::max() : s;
  }

  status conditions() {
    derive_all();
    for (int i = 0; i < k_.n_conditions; ++i) {
      const qkv_condition &c = k_.conditions[i];
      const char *a = k_.axes[c.a].name, *b = k_.axes[c.b].name;
      if (c.kind == QKV_SAME) {
        if (size(c.a) != size(c.b)) {
          return fail(status_code::wrong_condition, "{}: {}: {} is {} but {} is {}", k_.name,
                      c.text, a, size(c.a), b, size(c.b));
        }
        continue;
      }
      const char *f = k_.axes[c.c].name;
      if (size(c.a) == unknown || (size(c.b) == unknown && size(c.c) == unknown))
        continue;  // named below
      if (size(c.b) == unknown || size(c.c) == unknown) {
        const bool is_b = size(c.b) == unknown;
        if (c.kind == QKV_SUM) {
          return fail(status_code::wrong_condition, "{}: {}: {} is {}, less than {} = {}", k_.name,
                      c.text, a, size(c.a), is_b ? f : b, is_b ? size(c.c) : size(c.b));
        }
        return fail(status_code::wrong_condition, "{}: {}: {} is {}, which {} = {} does not divide",
                    k_.name, c.text, a, size(c.a), is_b ? f : b, is_b ? size(c.c) : size(c.b));
      }
      if (const std::int64_t both = together(c, size(c.b), size(c.c)); size(c.a) != both) {
        return fail(status_code::wrong_condition, "{}: {}: {} is {} but {} {} {} is {}", k_.name,
                    c.text, a, size(c.a), b, c.kind == QKV_SUM ? '+' : '*', f, both);
      }
    }
    for (int a = 0; a < k_.n_axes; ++a) {
      sizes_[a] = size(a);
      if (sizes_[a] == unknown) {
        return fail(status_code::wrong_extent, "{}: axis {} has no size: no argument carries it",
                    k_.name, k_.axes[a].name);
      }
      if (sizes_[a] > largest) {
        return fail(status_code::too_large, "{}: axis {} is {} but at most {} fits", k_.name,
                    k_.axes[a].name, sizes_[a], largest);
      }
    }
    return {};
  }

  status strides(int i) const {
    const qkv_tensor &t = t_[i];
    if (empty(t)) return {};
    std::int64_t span = 1, elements = 1;
    for (int d = t.rank - 1; d >= 0; --d) {
      elements = product(elements, t.extent[d]);
      if (t.extent[d] == 1) continue;
      const std::int64_t s = t.stride[d];
      if (d == t.rank - 1 && s != 1) {
        return fail(status_code::wrong_stride,
                    "{}: stride of {}, the innermost axis of {}, is {} but must be 1", k_.name,
                    axis(i, d), name(i), s);
      }
      if (s < 0)
        return fail(status_code::wrong_stride, "{}: stride of axis {} in {} is negative: {}",
                    k_.name, axis(i, d), name(i), s);
      if (!widen(span, t.extent[d], s) || span > largest) {
        return fail(status_code::too_large,
                    "{}: {} spans more than {} elements (axis {}: {} of stride {})", k_.name,
                    name(i), largest, axis(i, d), t.extent[d], s);
      }
      // Halide does not see host params that are packed, nor copies of those that could be.
      const std::int64_t widest = widest_stride(t.extent[d]);
      const bool packed =
          t.device == QKV_HOST && (params_only_ || may_be_packed(k_, static_cast<std::size_t>(i)));
      if (s > widest && !packed) {
        return fail(status_code::too_large,
                    "{}: stride of axis {} in {} is {} but must be at most {} for {} elements",
                    k_.name, axis(i, d), name(i), s, widest, t.extent[d]);
      }
    }
    if (elements > largest)
      return fail(status_code::too_large,
                  "{}: {} has more than {} elements, repeated ones included", k_.name, name(i),
                  largest);
    return {};
  }

  status memory(int i) const {
    const qkv_tensor &t = t_[i];
    if (empty(t)) return {};
    if (!t.data) return fail(status_code::null_data, "{}: {} has no data", k_.name, name(i));
    if (!kind_of(t.device)->has_addresses) return {};
    const auto bytes = static_cast<std::uint64_t>(size_of(static_cast<dtype>(t.dtype)));
    const auto at = reinterpret_cast<std::uintptr_t>(t.data);
    if (at % bytes != 0) {
      return fail(status_code::misaligned, "{}: data of {} is not aligned to the {} bytes of {}",
                  k_.name, name(i), bytes, dtype_name(t.dtype));
    }
    if (at > std::numeric_limits<std::uintptr_t>::max() -
                 static_cast<std::uint64_t>(span_of(t)) * bytes) {
      return fail(status_code::too_large, "{}: {} ends beyond the address space", k_.name, name(i));
    }
    return {};
  }

  status own_elements(int i) const {
    const int d = overlaps_itself(t_[i]);
    if (d < 0) return {};
    return fail(status_code::overlap,
                "{}: output {} overlaps itself: axis {} has {} elements of stride {}", k_.name,
                name(i), axis(i, d), t_[i].extent[d], t_[i].stride[d]);
  }

  static bool share_memory(const qkv_tensor &a, const qkv_tensor &b) {
    if (a.device != b.device) return false;
    if (!kind_of(a.device)->has_addresses) return a.data == b.data && !empty(a) && !empty(b);
    return overlap(a, b);
  }

  status apart(int i) const {
    for (int j = 0; j < k_.n_arguments; ++j) {
      const bool output = k_.arguments[j].role == QKV_OUT;
      if (j == i || (output && j > i) || !share_memory(t_[i], t_[j])) continue;
      return fail(status_code::overlap, "{}: output {} overlaps {} {}", k_.name, name(i),
                  output ? "output" : "input", name(j));
    }
    return {};
  }

  const qkv_kernel &k_;
  std::span<const qkv_tensor> t_;
  std::span<std::int64_t> sizes_;
  bool params_only_ = false;
};

}  // namespace

status check(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
             std::span<std::int64_t> sizes) {
  if (k.abi != QKV_ABI) {
    return fail(status_code::wrong_version,
                "{}: built for version {} of the runtime's tables, this is {}", k.name, k.abi,
                int{QKV_ABI});
  }
  if (static_cast<std::int64_t>(arguments.size()) != k.n_arguments) {
    return fail(status_code::wrong_count, "{}: {} arguments given but {} needed: {}", k.name,
                arguments.size(), k.n_arguments, arguments_text(k));
  }
  return checker(k, arguments, sizes).run();
}

void derive_sizes(const qkv_kernel &k, std::span<std::int64_t> sizes) {
  for (int a = 0; a < k.n_axes; ++a)
    if (const qkv_axis &axis = k.axes[a]; axis.root == a && axis.size >= 0)
      sizes[static_cast<std::size_t>(a)] = axis.size;
  checker(k, {}, sizes).derive_all();
}

status check_memory(const qkv_kernel &k, std::span<const qkv_tensor> arguments) {
  return checker(k, arguments, {}).run_memory();
}

status check_params(const qkv_kernel &k, std::span<const qkv_tensor> params,
                    std::span<std::int64_t> sizes) {
  std::vector<qkv_tensor> all(static_cast<std::size_t>(k.n_arguments));
  std::size_t next = 0;
  for (int i = 0; i < k.n_arguments; ++i) {
    if (k.arguments[i].role == QKV_PARAM) all[i] = params[next++];
  }
  return checker(k, all, sizes).run_params();
}

}  // namespace qkv::detail
