#pragma once
// Strided memory that ends (or begins) at a page nobody may touch: reading past a tensor crashes, writing between its
// rows is seen.
#include <qkv/kernel.h>

#include <cstdint>
#include <random>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::testing {

enum class layout {
  dense,
  padded,
  permuted
};  // rows apart; axes in another order, the innermost in place
enum class guard { after, before };  // which end lies at the page

class guarded {
 public:
  guarded(dtype type, const std::vector<std::int64_t> &extent, layout, guard, std::mt19937 &);
  ~guarded();
  guarded(const guarded &) = delete;
  guarded &operator=(const guarded &) = delete;

  const qkv_tensor &descriptor() const { return tensor_; }
  void write(const std::vector<double> &row_major);
  std::vector<double> read() const;
  bool untouched_between() const;  // the memory between the elements is as it was

 private:
  template <class F>
  void each(F f) const;
  std::size_t size() const;

  dtype type_;
  qkv_tensor tensor_{};
  char *pages_ = nullptr;
  std::size_t mapped_ = 0, bytes_ = 0;
  char *begin_ = nullptr;
};

}  // namespace qkv::testing
