// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors of the tool: allocated by a kernel's table and sizes, filled at random or from files.
#include <qkv/kernel.h>
#include <qkv/tool.hpp>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "files/value.hpp"

namespace qkv::tool {

using detail::value;

// The size of each axis of a kernel, in the order of its table.
class kernel_sizes {
 public:
  explicit kernel_sizes(const qkv_kernel &);
  // Sets an axis by name, or the axis that it is another name of; false when there is none or its
  // size is fixed to another.
  bool set(std::string_view name, std::int64_t n);
  // The size that the spec gave the axis of this name; -1: none, or there is no such axis.
  std::int64_t fixed(std::string_view name) const;
  bool known(int axis) const { return size_[root(axis)] >= 0; }
  std::int64_t of(int axis) const { return size_[root(axis)]; }
  void set(int axis, std::int64_t n) { size_[root(axis)] = n; }
  // Sizes that conditions decide follow from the others; a size that was given by name stays as it
  // is.
  void complete();
  // The same, and axes that are still without a size get this one; the batch gets 1.
  void complete_with(std::int64_t n);
  // The first axis without a size, or -1.
  int unknown() const;

  sizes by_name() const;
  std::string text() const;  // batch=2 seq=17: the sizes that the call decides
  std::vector<std::int64_t> shape(const qkv_argument &) const;

 private:
  std::size_t root(int axis) const { return static_cast<std::size_t>(k_->axes[axis].root); }
  void follow(const qkv_condition &);

  const qkv_kernel *k_;
  std::vector<std::int64_t> size_;
  std::vector<bool> asked_;  // by name
};

// Numbers as a test wants them: normal for inputs, scaled down for params so that scores stay of
// order 1, whole numbers from `shortest` to the largest extent, masks mostly 1.
void fill_at_random(const qkv_argument &, std::int64_t shortest, std::int64_t largest_extent,
                    std::mt19937 &, value &);

// All arguments of a kernel; outputs are filled with NaN so that unwritten elements show. With full
// lengths, whole numbers are the largest extent, so that they hide nothing that a cost counts.
enum class lengths : unsigned char { any, full };
std::vector<value> random_arguments(const qkv_kernel &, const kernel_sizes &, unsigned seed,
                                    lengths = lengths::any);

std::vector<qkv_tensor> descriptors(const std::vector<value> &);

std::string signature_text(const qkv_kernel &);

}  // namespace qkv::tool
