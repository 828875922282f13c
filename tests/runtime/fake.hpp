// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels written by hand, with tables as a generated library has them: the runtime is tested
// without a code generator.
#include <HalideRuntime.h>
#include <qkv/kernel.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace fake {

struct axis {
  const char *name;
  std::int64_t size = -1;
  int root = -1;  // itself
};

struct argument {
  const char *name;
  int role, dtype;
  std::vector<std::int32_t> axes;
};

// Owns what a table points to.
class library {
 public:
  library(const char *name, std::vector<axis> axes, std::vector<argument> arguments, qkv_entry host)
      : arguments_(std::move(arguments)) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes_.push_back(
          {axes[i].name, axes[i].size, axes[i].root < 0 ? static_cast<int>(i) : axes[i].root});
    }
    for (const argument &a : arguments_) {
      table_arguments_.push_back(
          {a.name, a.role, a.dtype, static_cast<int>(a.axes.size()), a.axes.data()});
    }
    table = {.abi = QKV_ABI,
             .name = name,
             .fingerprint = 1,
             .n_axes = static_cast<int>(axes_.size()),
             .n_arguments = static_cast<int>(arguments_.size()),
             .n_conditions = 0,
             .n_variants = 0,
             .axes = axes_.data(),
             .arguments = table_arguments_.data(),
             .conditions = nullptr,
             .variants = nullptr};
    with(qkv_variant{"fake", "host", nullptr, host, 0, nullptr});
  }
  library(const library &) = delete;

  library &with(std::vector<qkv_condition> conditions) {
    conditions_ = std::move(conditions);
    table.conditions = conditions_.data();
    table.n_conditions = static_cast<int>(conditions_.size());
    return *this;
  }
  // One more variant, after those that there are.
  library &with(const qkv_variant &variant) {
    variants_.push_back(variant);
    table.variants = variants_.data();
    table.n_variants = static_cast<int>(variants_.size());
    return *this;
  }
  // Packs of the first variant.
  library &with(std::vector<qkv_pack> packs) {
    packs_ = std::move(packs);
    variants_[0].packs = packs_.data();
    variants_[0].n_packs = static_cast<int>(packs_.size());
    return *this;
  }

  qkv_kernel table{};

 private:
  std::vector<argument> arguments_;
  std::vector<qkv_axis> axes_;
  std::vector<qkv_argument> table_arguments_;
  std::vector<qkv_condition> conditions_;
  std::vector<qkv_pack> packs_;
  std::vector<qkv_variant> variants_;
};

// A library of kernels that stays loaded for the lifetime of this object.
class loaded {
 public:
  loaded(const char *name, std::vector<const qkv_kernel *> kernels)
      : kernels_(std::move(kernels)),
        library_{name, kernels_.data(), static_cast<int>(kernels_.size()), 0, nullptr} {
    qkv_register_library(&library_);
  }
  ~loaded() { qkv_unregister_library(&library_); }
  loaded(const loaded &) = delete;
  loaded &operator=(const loaded &) = delete;

 private:
  std::vector<const qkv_kernel *> kernels_;
  qkv_library library_;
};

// The i-th argument of compiled code, innermost axis first.
inline halide_buffer_t &buffer(void **args, int i) {
  return *static_cast<halide_buffer_t *>(args[1 + i]);
}
inline void *user(void **args) { return *static_cast<void **>(args[0]); }
inline std::int32_t size(void **args, int place) {
  return *static_cast<std::int32_t *>(args[place]);
}

template <class T>
T &at(const halide_buffer_t &b, std::initializer_list<int> outermost_first) {
  std::ptrdiff_t offset = 0;
  int d = b.dimensions;
  for (int i : outermost_first) {
    --d;
    offset += std::ptrdiff_t{i} * b.dim[d].stride;
  }
  return reinterpret_cast<T *>(b.host)[offset];
}

// O[batch, seq, d] = Q[batch, seq, d] + the sum over kv of K[batch, kv, d] * V[batch, kv, d]; d is
// 4, kv its own size.
library &blend();
// The same with kv an alias of seq.
library &blend_self();
// Y[seq, n, m] = X[seq, k] W[k, n, m]: W is a param in panels of 4 columns (n, m); k, n are decided
// at the call, m is 3.
library &project();

// Attention over 4 wide heads without a mask, and causal with heads in groups of 2: O = softmax(Q K
// / 2) V.
library &sdpa_none();
library &sdpa_causal();

// A contiguous host tensor.
qkv_tensor tensor(void *data, std::initializer_list<std::int64_t> extents, int dtype = QKV_F32);
template <class T>
qkv_tensor tensor(std::vector<T> &v, std::initializer_list<std::int64_t> extents,
                  int dtype = QKV_F32) {
  return tensor(static_cast<void *>(v.data()), extents, dtype);
}

}  // namespace fake
