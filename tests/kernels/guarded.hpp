// SPDX-License-Identifier: BSL-1.0
#pragma once
// A tensor with strides in guarded memory: reads past it crash; writes between its rows or around
// it are detected.
#include <qkv/kernel.h>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "codegen/program/program.hpp"
#include "tests/support/guarded_memory.hpp"

namespace qkv::testing {

enum class layout {
  dense,
  padded,
  permuted
};  // rows apart; axes in another order, the innermost in place
class guarded {
 public:
  guarded(dtype type, const std::vector<std::int64_t> &extent, layout, guard, std::mt19937 &);

  const qkv_tensor &descriptor() const { return tensor_; }
  void write(const std::vector<double> &row_major);
  std::vector<double> read() const;
  bool untouched_between() const;  // no writes between the elements or around them

 private:
  template <class F>
  void each(F f) const;
  std::size_t size() const;

  dtype type_;
  guard where_;
  qkv_tensor tensor_{};
  std::optional<guarded_block> memory_;
};

}  // namespace qkv::testing
