// SPDX-License-Identifier: BSL-1.0
#pragma once
// One function per kind of step, from the operands' values to the step's.
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/reference/order.hpp"
#include "codegen/reference/tensor_value.hpp"

namespace qkv::codegen::detail {

template <class T>
class steps {
 public:
  steps(const program &p, std::vector<std::int64_t> size, order how)
      : p_(p), size_(std::move(size)), how_(how), masked_(masked_steps(p)) {}

  // The value of a step other than an argument.
  tensor_value<T> run(const node &, const std::vector<const tensor_value<T> *> &operands) const;

  tensor_value<T> blank(const std::vector<axis_id> &axes) const;

  // The elements that a scan reads and writes at position t of an axis, in the order of `axes`.
  tensor_value<T> at_position(const tensor_value<T> &, const std::vector<axis_id> &axes, axis_id,
                              std::int64_t t) const;
  void put_position(tensor_value<T> &whole, const tensor_value<T> &part, axis_id,
                    std::int64_t t) const;
  // Keeps the old state where the next one is absent.
  void keep_where_absent(tensor_value<T> &next, const tensor_value<T> &state) const;
  // As memory holds it: absent elements are -inf.
  tensor_value<T> without_states(tensor_value<T>) const;

 private:
  using value = tensor_value<T>;
  using values = std::vector<const value *>;

  value computed(const node &, const values &) const;
  value source(const node &) const;
  value uniform(const node &, const values &) const;
  value pointwise(const node &, const values &) const;
  value masked(const node &, const values &) const;
  value dot(const node &, const values &) const;
  value reduction(const node &, const values &) const;
  value weights(const node &, const values &) const;
  value view(const node &, const values &) const;
  value taken(const node &, const values &) const;
  value put(const node &, const values &) const;
  value joined(const node &, const values &) const;
  value prefix_sums(const node &, const values &) const;
  value output(const node &, const values &) const;

  extents extents_of(const std::vector<axis_id> &axes) const;
  T sum_of(const value &, std::int64_t base, const std::vector<std::int64_t> &offsets) const;

  const program &p_;
  std::vector<std::int64_t> size_;
  order how_;
  std::vector<bool> masked_;
};

}  // namespace qkv::codegen::detail
