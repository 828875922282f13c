#pragma once
// How far an honest evaluation may be off besides what plain loops show: the rounding of the last contraction or reduction
// behind an element, carried through the pointwise steps after it to first order. With u the unit roundoff:
//
//   dot, sum, mean, cumsum   u times the sum of |terms|
//   softmax, normalize       u |weight|, for normalize times (sum of |terms|) / |sum|
//   logsumexp                u (|maximum| + |log of the total| + 1)
//   a + b, a - b             a reduction of two terms: noise of a + noise of b
//   functions of one number  how far the result moves when the operand moves by its noise, and 2 u |result|
//   a * b, a / b, pow        the same of both operands
//   max, min, where, views   the noise of what they choose
//
// Pointwise steps have at least u |result|, the smallest normal number for less, unless they are exact: an argument, a
// whole number, or a result of such that needs no rounding. A number that is not exact and that a cast rounds to 16 bits may
// become its neighbour: u16 |x|, and a sum of such numbers may be off by u16 times the root of the sum of squares.
//
// Noise is infinite where rounding decides: a comparison of numbers closer than their noise, and what is chosen, masked
// or looked up by it; a sum that is finite where its terms overflow in another order.
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

  // The noise of a step at every position, from the values of its operands, their noises and its own value. A noise
  // without data is 0 everywhere.
  value of(node_id, const values &in, const values &noises, const value &result) const;

  // What a scan carries on: `next` is the new value of the state before absent elements keep the old one.
  value carried_on(const value &next, value noise, const value &noise_of_state) const;

 private:
  struct precision {
    bool rounded = false;  // some of its elements, or of what they are made of
    double unit = 0;       // u of the step and of the steps behind it
    double coarse = 0;     // u of a 16-bit type that it was rounded to on the way
    double tiny = 0;       // the smallest normal number
  };
  precision precision_of(node_id) const;

  value pointwise(node_id, const values &in, const values &noises, const value &result) const;
  value of_terms(node_id, const values &in, const values &noises) const;
  value of_weights(node_id, const values &in, const values &noises, const value &result) const;
  value of_logsumexp(node_id, const values &in, const value &result) const;
  value with_undecided(const node &, const values &noises, value noise) const;

  // |x|, or its square, where x is a term of a sum; numbers that may be 0 count as what they may be off by.
  value magnitude(node_id, const value &x, const value &noise, bool squared) const;
  // The noise as a tensor of its operand's shape.
  static value dense(const value &noise, const value &like);

  const program &p_;
  const steps<Precision> &steps_;
  std::vector<precision> precision_;  // per step
};

}  // namespace qkv::codegen::detail
