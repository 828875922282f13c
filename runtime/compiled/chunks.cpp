// SPDX-License-Identifier: BSL-1.0
// Kernels that run by chunks of the positions along an axis: the order in which their parts are
// called, and the memory between them.
#include <fmt/format.h>
#include <qkv/kernel.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "compiled/halide_type.hpp"

namespace qkv::detail {
namespace {

// A tensor: all of it, for one bound between chunks if it lies there.
struct whole {
  halide_buffer_t view{};
  std::array<halide_dimension_t, QKV_MAX_RANK + 1> dim{};  // innermost first
  const std::int32_t *axes = nullptr;                      // outermost first
  std::int64_t from_bound_to_bound = 0;                    // bytes
};

// Where a part of a chunk is: the chunk, and the position along each outer axis.
struct place {
  std::int64_t chunk = 0;
  std::int64_t task = 0;
};

class chunked_call {
 public:
  chunked_call(void **args, const qkv_chunks &c)
      : args_(args), c_(c), user_(*static_cast<void **>(args[0])) {
    values_.resize(static_cast<std::size_t>(c.n_arguments + c.n_temporaries));
  }
  chunked_call(const chunked_call &) = delete;
  chunked_call &operator=(const chunked_call &) = delete;
  ~chunked_call() {
    for (void *one : memory_) halide_free(user_, one);
  }

  int run() {
    const std::int64_t n = size(c_.along);
    chunks_ = (n + c_.positions - 1) / c_.positions;
    for (std::int32_t i = 0; i < c_.n_arguments; ++i) {
      value(i).view = *static_cast<halide_buffer_t *>(args_[1 + i]);
      value(i).axes = c_.arguments[i].axes;
    }
    memory_.reserve(static_cast<std::size_t>(c_.n_temporaries));
    for (std::int32_t i = 0; i < c_.n_temporaries; ++i)
      if (const int code = allocate(c_.temporaries[i], value(c_.n_arguments + i))) return code;
    if (const int code = call(c_.parts[0], nullptr)) return code;
    if (const int code = for_each_task(states_of_task)) return code;
    if (const int code = call(c_.parts[2], nullptr)) return code;
    if (const int code = for_each_task(chunks_of_task)) return code;
    return call(c_.parts[4], nullptr);
  }

 private:
  whole &value(std::int32_t i) { return values_[static_cast<std::size_t>(i)]; }

  std::int64_t size(std::int32_t axis) const {
    const std::int32_t root = c_.axes[axis].root;
    if (c_.axes[root].size >= 0) return c_.axes[root].size;
    std::int32_t before = 0;
    for (std::int32_t a = 0; a < root; ++a) before += c_.axes[a].root == a && c_.axes[a].size < 0;
    return *static_cast<const std::int32_t *>(args_[1 + c_.n_arguments + before]);
  }

  int too_large(std::int64_t n, const char *what) const {
    std::array<char, 96> text{};
    fmt::format_to_n(text.data(), text.size() - 1,
                     "too_large: a step between chunks has {} {} but at most {} fit", n, what,
                     std::numeric_limits<std::int32_t>::max());
    halide_error(user_, text.data());
    return halide_error_code_buffer_extents_too_large;
  }

  int allocate(const qkv_chunk_temporary &t, whole &w) {
    w.axes = t.axes;
    w.view.type = halide_type_of(t.dtype);
    w.view.dimensions = t.rank;
    std::int64_t n = 1;
    for (std::int32_t d = 0; d < t.rank; ++d) {
      const std::int64_t extent = std::max<std::int64_t>(size(t.axes[t.rank - 1 - d]), 1);
      w.dim[static_cast<std::size_t>(d)] = {0, static_cast<std::int32_t>(extent),
                                            static_cast<std::int32_t>(n)};
      n *= extent;
      if (n > std::numeric_limits<std::int32_t>::max()) return too_large(n, "elements");
    }
    w.view.dim = w.dim.data();
    w.from_bound_to_bound = n * w.view.type.bytes();
    const std::int64_t bytes = w.from_bound_to_bound * (t.at_bounds ? chunks_ + 1 : 1);
    void *memory = halide_malloc(user_, static_cast<std::size_t>(bytes));
    if (!memory) return halide_error_code_out_of_memory;
    memory_.push_back(memory);
    w.view.host = static_cast<std::uint8_t *>(memory);
    return 0;
  }

  // The positions of the chunk along `along`, and the one of the task along each outer axis.
  void crop(whole &w, const place &at) const {
    for (std::int32_t d = 0; d < w.view.dimensions; ++d) {
      halide_dimension_t &dim = w.dim[static_cast<std::size_t>(d)];
      const std::int32_t axis = w.axes[w.view.dimensions - 1 - d];
      std::int64_t first = 0;
      if (axis == c_.along) {
        first = at.chunk * c_.positions;
        dim.extent = length(at);
      } else if (const std::int64_t own = position(axis, at.task); own >= 0) {
        first = own;
        dim.extent = 1;
      }
      w.view.host += first * dim.stride * w.view.type.bytes();
    }
  }
  std::int32_t length(const place &at) const {
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(c_.positions, size(c_.along) - at.chunk * c_.positions));
  }
  // -1: not an outer axis.
  std::int64_t position(std::int32_t axis, std::int64_t task) const {
    for (std::int32_t i = 0; i < c_.n_outer; ++i) {
      if (c_.outer[i] == axis) return task % size(axis);
      task /= size(c_.outer[i]);
    }
    return -1;
  }

  int call(const qkv_chunk_part &part, const place *at) {
    if (!part.entry) return 0;
    const auto n = static_cast<std::size_t>(part.n_values);
    std::vector<whole> views(n);
    std::vector<std::int32_t> sizes;
    sizes.reserve(static_cast<std::size_t>(part.n_sizes));
    void *user = user_;
    std::vector<void *> args = {&user};
    for (std::size_t k = 0; k < n; ++k) {
      const qkv_chunk_value &which = part.values[k];
      whole &w = views[k];
      w = value(which.value);
      std::copy_n(w.view.dim, w.view.dimensions, w.dim.begin());
      w.view.dim = w.dim.data();
      if (is_at_bounds(which.value))
        w.view.host += w.from_bound_to_bound * (at            ? at->chunk + which.later
                                                : which.later ? chunks_
                                                              : 0);
      if (at) crop(w, *at);
      args.push_back(&w.view);
    }
    for (std::int32_t k = 0; k < part.n_sizes; ++k) {
      const std::int32_t axis = part.sizes[k];
      sizes.push_back(at && axis == c_.along ? length(*at) : static_cast<std::int32_t>(size(axis)));
      args.push_back(&sizes.back());
    }
    return part.entry(args.data());
  }
  bool is_at_bounds(std::int32_t i) const {
    return i >= c_.n_arguments && c_.temporaries[i - c_.n_arguments].at_bounds != 0;
  }

  int for_each_task(halide_task_t task) {
    std::int64_t tasks = chunks_ > 0 ? 1 : 0;
    for (std::int32_t i = 0; i < c_.n_outer; ++i) tasks *= size(c_.outer[i]);
    if (tasks > std::numeric_limits<std::int32_t>::max()) return too_large(tasks, "tasks");
    if (tasks == 0) return 0;
    return halide_do_par_for(user_, task, 0, static_cast<int>(tasks),
                             reinterpret_cast<std::uint8_t *>(this));
  }
  static int states_of_task(void *, int task, std::uint8_t *self) {
    auto &c = *reinterpret_cast<chunked_call *>(self);
    for (std::int64_t k = 0; k + !c.c_.has_last_state < c.chunks_; ++k)
      if (const int code = c.call_for(c.c_.parts[1], {k, task})) return code;
    return 0;
  }
  static int chunks_of_task(void *, int task, std::uint8_t *self) {
    auto &c = *reinterpret_cast<chunked_call *>(self);
    for (std::int64_t k = c.chunks_; k-- > 0;)
      if (const int code = c.call_for(c.c_.parts[3], {k, task})) return code;
    return 0;
  }
  int call_for(const qkv_chunk_part &part, const place &at) {
    try {
      return call(part, &at);
    } catch (const std::bad_alloc &) {
      return halide_error_code_out_of_memory;
    }
  }

  void **const args_;
  const qkv_chunks &c_;
  void *const user_;
  std::int64_t chunks_ = 0;
  std::vector<whole> values_;
  std::vector<void *> memory_;
};

}  // namespace
}  // namespace qkv::detail

int qkv_run_chunks(void **args, const qkv_chunks *c) {
  try {
    return qkv::detail::chunked_call(args, *c).run();
  } catch (const std::bad_alloc &) {
    return halide_error_code_out_of_memory;
  }
}
