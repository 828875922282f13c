// SPDX-License-Identifier: BSL-1.0
#pragma once
// A tensor whose dtype is known at run time, read from and written to files; private to the
// runtime.
#include <qkv/kernel.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <qkv/npy.hpp>
#include <qkv/tool.hpp>
#include <span>
#include <string>

namespace qkv::detail {

// A contiguous host tensor.
class value {
 public:
  value() = default;
  value(int dtype, std::span<const std::int64_t> shape);  // zero; throws std::bad_alloc
  const qkv_tensor &descriptor() const { return t_; }
  std::int64_t elements() const;
  std::size_t bytes() const;
  void *data() const { return t_.data; }

  double get(std::int64_t i) const;
  void set(std::int64_t i, double x);
  tool::array numbers() const;

  // Reads an array of np.save; f64 serves for f32 and i64 for i32. Returns a text about the misfit,
  // or an empty one.
  static std::string from(const npy_array &, int dtype, value &result);
  npy_array to_npy() const;

 private:
  struct release {
    void operator()(void *p) const { std::free(p); }
  };
  qkv_tensor t_{};
  std::unique_ptr<void, release> memory_;
};

}  // namespace qkv::detail
