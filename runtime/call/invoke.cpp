// SPDX-License-Identifier: BSL-1.0
#include "call/invoke.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <qkv/core/dtype.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiled/halide_type.hpp"
#include "compiled/user_context.hpp"
#include "devices/devices.hpp"
#include "devices/session.hpp"
#include "memory/dense.hpp"
#include "memory/layout.hpp"
#include "process/float_state.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

// Halide's view of one argument, innermost axis first.
struct buffer {
  halide_buffer_t view{};
  std::array<halide_dimension_t, QKV_MAX_RANK + 3> dim{};

  void point_to(void *data, int dtype, int rank) {
    view.host = static_cast<std::uint8_t *>(data);
    view.type = halide_type_of(dtype);
    view.dimensions = rank;
    view.dim = dim.data();
  }
  void set(const qkv_tensor &t) {
    point_to(t.device == QKV_HOST ? t.data : nullptr, t.dtype, t.rank);
    std::int64_t dense = 1;
    for (int d = t.rank - 1, i = 0; d >= 0;
         --d, ++i) {  // the stride of a single element has no meaning: make it fit
      const std::int64_t stride = t.extent[d] == 1 ? dense : t.stride[d];
      dim[i] = {0, static_cast<std::int32_t>(t.extent[d]), static_cast<std::int32_t>(stride)};
      dense = std::max(dense, stride * t.extent[d]);
      dense = std::min<std::int64_t>(dense, INT32_MAX);
    }
  }
  // Every element of an empty tensor is one and the same row of zeros.
  void set_empty(const qkv_tensor &t, void *zeros) {
    point_to(zeros, t.dtype, t.rank);
    for (int d = t.rank - 1, i = 0; d >= 0; --d, ++i) {
      dim[i] = {0, static_cast<std::int32_t>(std::max<std::int64_t>(1, t.extent[d])),
                i == 0 ? 1 : 0};
    }
  }
  void set(const panels &p, void *data, int dtype) {
    point_to(data, dtype, p.rank);
    std::int32_t stride = 1;
    for (int d = p.rank - 1, i = 0; d >= 0; --d, ++i) {
      dim[i] = {0, p.extent[d], stride};
      stride *= p.extent[d];
    }
  }
};

// Compiled code detects that something does not fit 31 bits, by Halide's checks or by ours
// (codegen/halide/lower/limits.hpp).
constexpr std::string_view of_ours = "too_large: ";
bool is_too_large(int code, std::string_view text) {
  return code == halide_error_code_buffer_allocation_too_large ||
         code == halide_error_code_buffer_extents_too_large || text.find(of_ours) != text.npos;
}

// Rewords Halide's "Total allocation for buffer scores$1 is 2147580964, which exceeds the maximum
// size of 2147483647".
std::string size_text(std::string_view text) {
  if (const std::size_t ours = text.find(of_ours); ours != text.npos)
    return std::string(text.substr(ours + of_ours.size()));
  const std::size_t at = text.find("buffer "), is = text.find(" is ");
  if (at == text.npos || is == text.npos || is < at) return std::string(text);
  const std::string_view name = text.substr(at + 7, is - at - 7), rest = text.substr(is + 4);
  return fmt::format("{} has {} {} but at most {} fit", name.substr(0, name.find('$')),
                     rest.substr(0, rest.find(',')),
                     text.starts_with("Total") ? "bytes" : "elements",
                     std::numeric_limits<std::int32_t>::max());
}

// Only a param that some variant of its kernel packs gets past the checks with such a stride.
bool has_wide_stride(const qkv_tensor &t) {
  if (empty(t)) return false;
  for (int d = 0; d < t.rank; ++d)
    if (t.extent[d] > 1 && t.stride[d] > widest_stride(t.extent[d])) return true;
  return false;
}

class invocation {
 public:
  invocation(const qkv_kernel &k, std::span<const qkv_tensor> t, const options &how)
      : k_(k),
        t_(t),
        context_(how),
        buffers_(t.size(), &memory_),
        kept_(&memory_),
        apart_(&memory_),
        sizes_(&memory_),
        args_(&memory_) {
    kept_.reserve(t.size());
  }

  status run(std::span<const std::int64_t> sizes, const bound_params *bound) {
    device &where = context_.how.on;
    if (status s = choose(k_, t_, where); !s) return s;
    if (status s = choose_variant(where, bound); !s) return s;
    if (where != device::host) {
      if (status s = use_device(k_.name, context_.how); !s) return s;
    }
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (status s = build(i, bound ? bound->of[i] : nullptr); !s) return s;
    }
    const running_call from_here;
    device_session session(k_, context_);
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (status s = session.attach(buffers_[i].view, t_[i], k_.arguments[i]); !s) return s;
    }
    void *user = &context_;
    args_.push_back(&user);
    for (buffer &b : buffers_) args_.push_back(&b.view);
    sizes_.reserve(sizes.size());
    for (int a = 0; a < k_.n_axes; ++a) {
      if (k_.axes[a].root != a || k_.axes[a].size >= 0) continue;
      sizes_.push_back(static_cast<std::int32_t>(sizes[a]));
      args_.push_back(&sizes_.back());
    }
    const int code = variant_->entry(args_.data());
    if (code != 0) return explain(code);
    if (status s = session.collect(); !s) return s;
    for (const auto &[i, from] : apart_) copy_apart(from, t_[i]);
    return {};
  }

 private:
  status choose_variant(device where, const bound_params *bound) {
    if (bound && !runs_on(*bound->variant, where))
      return fail(status_code::wrong_device,
                  "{}: its params were prepared for {} but the call runs on {}", k_.name,
                  bound->variant->device, device_name(where));
    if (bound) {
      variant_ = bound->variant;
      return {};
    }
    if (status s = variant_for(k_, where, variant_); !s) return s;
    return variant_ ? status{} : not_built(where);
  }

  // Names the argument that selected the device by lying on it, or the options.
  status not_built(device where) const {
    const char *there = device_name(where);
    for (std::size_t i = 0; i < t_.size(); ++i)
      if (t_[i].device != QKV_HOST)
        return fail(status_code::unsupported, "{}: {} is on {}, for which the kernel was not built",
                    k_.name, k_.arguments[i].name, there);
    return fail(status_code::unsupported, "{}: not built for {}", k_.name, there);
  }

  status no_memory(const char *what, std::size_t bytes) const {
    return fail(status_code::out_of_memory, "{}: no memory for {} ({} bytes)", k_.name, what,
                bytes);
  }

  status build(std::size_t i, const bound_param *bound) {
    const qkv_argument &a = k_.arguments[i];
    const qkv_tensor &t = t_[i];
    if (bound && bound->packed) {
      buffers_[i].set(bound->layout, bound->data, t.dtype);
      return {};
    }
    if (const qkv_pack *p = pack_of(*variant_, i)) return build_packed(i, *p);
    const bool is_far = context_.how.on != device::host && is_fragmented(t);
    if (t.device == QKV_HOST && (is_far || has_wide_stride(t))) return build_dense(i);
    if (!empty(t)) {
      buffers_[i].set(t);
      return {};
    }
    const std::int64_t row = t.rank ? std::max<std::int64_t>(1, t.extent[t.rank - 1]) : 1;
    const std::size_t bytes = static_cast<std::size_t>(row) *
                              static_cast<std::size_t>(size_of(static_cast<dtype>(t.dtype)));
    void *zeros = borrow(bytes);
    if (!zeros) return no_memory(a.name, bytes);
    std::memset(zeros, 0, bytes);
    buffers_[i].set_empty(t, zeros);
    return {};
  }

  status build_packed(std::size_t i, const qkv_pack &p) {
    const qkv_tensor &t = t_[i];
    if (t.device != QKV_HOST)
      return fail(status_code::unsupported, "{}: {} is on {} but must be packed on the host",
                  k_.name, k_.arguments[i].name, device_name(t.device));
    panels layout;
    if (status s = measure(k_, p, t, layout); !s) return s;
    void *to = borrow(layout.bytes);
    if (!to) return no_memory("packed params", layout.bytes);
    write_panels(p, t, layout, to);
    buffers_[i].set(layout, to, t.dtype);
    return {};
  }

  // A copy with strides that Halide takes, or that a device copies at once.
  status build_dense(std::size_t i) {
    const std::size_t bytes = dense_bytes(t_[i]);
    const qkv_tensor t = dense(t_[i], borrow(bytes));
    if (!t.data) return no_memory(k_.arguments[i].name, bytes);
    if (k_.arguments[i].role == QKV_OUT)
      apart_.push_back({i, t.data});
    else
      copy_dense(t_[i], t.data);
    buffers_[i].set(t);
    return {};
  }

  void *borrow(std::size_t bytes) { return kept_.emplace_back(context_.memory, bytes).data(); }

  status explain(int code) const {
    if (context_.no_memory && code == halide_error_code_device_malloc_failed)
      return fail(status_code::out_of_memory, "{}: the device's memory is at its limit", k_.name);
    if (context_.no_memory || code == halide_error_code_out_of_memory) {
      return fail(status_code::out_of_memory, "{}: the workspace has no more memory", k_.name);
    }
    const char *text = context_.has_text ? context_.text.data() : "no text";
    if (is_too_large(code, text))
      return fail(status_code::too_large, "{}: {}", k_.name, size_text(text));
    if (is_device_error(code))
      return fail(status_code::device_failed, "{}: {} (code {})", k_.name, text, code);
    return fail(status_code::kernel_failed, "{}: the compiled code failed: {} (code {})", k_.name,
                text, code);
  }

  const qkv_kernel &k_;
  std::span<const qkv_tensor> t_;
  user_context context_;
  const qkv_variant *variant_ = nullptr;
  alignas(std::max_align_t)
      std::array<std::byte, 6144> first_;  // enough for the buffers of most kernels
  std::pmr::monotonic_buffer_resource memory_{first_.data(), first_.size()};
  std::pmr::vector<buffer> buffers_;
  std::pmr::vector<borrowed> kept_;
  std::pmr::vector<std::pair<std::size_t, const void *>> apart_;  // outputs, and their elements
  std::pmr::vector<std::int32_t> sizes_;
  std::pmr::vector<void *> args_;
};

}  // namespace

status choose(const qkv_kernel &k, std::span<const qkv_tensor> t, device &where) {
  if (!kind_of(where))
    return fail(status_code::wrong_device,
                "{}: the call is to run on device {}, which does not exist", k.name,
                static_cast<int>(where));
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].device == QKV_HOST) continue;
    const auto here = static_cast<device>(t[i].device);
    if (where != device::host && where != here) {
      return fail(status_code::wrong_device, "{}: {} is on {} but the call runs on {}", k.name,
                  k.arguments[i].name, device_name(t[i].device), device_name(where));
    }
    where = here;
  }
  return {};
}

status invoke(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
              std::span<const std::int64_t> sizes, const bound_params *bound, const options &how) {
  bool work = false;
  for (int i = 0; i < k.n_arguments; ++i)
    work |= k.arguments[i].role == QKV_OUT && !empty(arguments[i]);
  if (!work) return {};
  const float_state_guard keep_float_state;
  const int keep_errno = errno;
  const status s = invocation(k, arguments, how).run(sizes, bound);
  errno = keep_errno;
  return s;
}

}  // namespace qkv::detail
