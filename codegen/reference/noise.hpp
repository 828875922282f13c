// SPDX-License-Identifier: BSL-1.0
#pragma once
// Noise: the error of an honest evaluation beyond that of plain loops. It is the rounding of the
// last contraction or reduction behind an element, carried through the steps after it to first
// order. With u the unit roundoff:
//
//   dot, sum, mean, cumsum, put   u times the sum of |terms|; of one term, its noise
//   softmax                  u |weight| and 2 u times the largest weight of its row, relative
//                            to which exp is exact there; weights below the smallest normal number
//                            may be 0
//   normalize                u |weight| (sum of |terms|) / |sum|
//   logsumexp                u (|maximum| + |log of the total| + 1)
//   a + b, a - b             a reduction of two terms: noise of a + noise of b
//   functions of one number  how far the result moves when the operand moves by its noise,
//                            and 2 u |result|
//   a * b, a / b, pow        the same, for both operands
//   max, min, where, views   the noise of the selected values
//
// A difference of two sums may cancel: the gradient of a softmax is w (g - sum w g), and is 0 in a
// row of one key. So may a sum of what normalize gives, whose terms of both signs add up to 1. As a
// term of a further sum, it counts as its noise / u where it is smaller than that.
//
// The noise of a pointwise step is at least u |result| and at least the smallest normal number,
// unless the step is exact: an argument, an integer, or a result of exact operands that needs no
// rounding. An inexact number that a cast rounds to 16 bits may become its neighbour, u16 |x| away;
// a sum of such numbers may be off by u16 times the root of the sum of squares.
//
// Noise is infinite where rounding decides: in comparisons of numbers closer than their noise and
// in everything that they select, mask or look up, and in finite sums whose terms overflow in
// another order.
#include <vector>

#include "codegen/reference/steps.hpp"

namespace qkv::codegen::detail {

template <class Precision>
class noise_meter {
 public:
  using value = tensor_value<Precision>;
  using T = typename value::number;
  using values = std::vector<const value *>;

  noise_meter(const program &, const steps<Precision> &);

  // The noise of a step at every position, from its operands, their noises and its own value. Noise
  // without data is 0 everywhere.
  value of(node_id, const values &in, const values &noises, const value &result) const;

  // The noise of a scan's state: `next` is the new value before absent elements keep the old one.
  value carried_on(const value &next, value noise, const value &noise_of_state) const;

 private:
  struct precision {
    bool rounded = false;  // some elements, or elements that they depend on, are rounded
    double unit = 0;       // u of the step and of the steps behind it
    double coarse = 0;     // u of a 16-bit type that it was rounded to on the way
    double tiny = 0;       // smallest normal number
  };
  precision precision_of(node_id) const;
  void find_cancelled();

  value pointwise(node_id, const values &in, const values &noises, const value &result) const;
  value of_terms(node_id, const values &in, const values &noises) const;
  // The noise of a sum of one term each.
  value of_one_term(const node &, const values &in, const values &noises) const;
  bool has_one_term(const node &, const value &) const;
  value of_weights(node_id, const values &in, const values &noises, const value &result) const;
  value of_logsumexp(node_id, const values &in, const value &result) const;
  value of_mask(const node &, const value &keep, value noise, const value &noise_of_keep) const;
  value of_take(const node &, const value &position, const value &noise,
                const value &noise_of_position) const;
  value of_put(node_id, const values &in, const values &noises) const;
  value with_undecided(const node &, const values &noises, value noise) const;

  // |x| or its square, for a term x of a sum; a number that may be 0 counts as its possible error.
  value magnitude(node_id, const value &x, const value &noise, bool squared) const;
  // The noise expanded to its operand's shape.
  static value dense(const value &noise, const value &like);
  // A value along some axes of a step, along all of them.
  value repeated(const node &, const value &part) const;

  const program &p_;
  const steps<Precision> &steps_;
  std::vector<precision> precision_;  // per step
  std::vector<bool> cancelled_;       // per step: made of sums that may cancel
};

}  // namespace qkv::codegen::detail
