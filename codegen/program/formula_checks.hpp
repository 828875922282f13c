// SPDX-License-Identifier: BSL-1.0
#pragma once
// Conditions under which a formula that looks like a slip is one.
#include <algorithm>
#include <vector>

#include "codegen/program/formula_pattern.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen::checks {

// Where a pattern was found.
struct place {
  const program &p;
  const std::vector<std::vector<node_id>> &users;
  node_id at;
  const pattern_match &found;

  node_id operator[](const char *variable) const { return found[variable]; }
  double number(const char *variable) const { return found.numbers.at(variable); }
  const std::vector<axis_id> &axes(const char *variable) const { return found.axes.at(variable); }
  axis_id root(const char *variable) const { return p.axes[axes(variable).front()].root; }
  template <class F>
  bool is_used(node_id n, F by) const {
    return std::any_of(users[n].begin(), users[n].end(), by);
  }
  // The step is a divisor, or is taken off.
  bool is_right_of(op kind) const {
    return is_used(
        at, [&](node_id user) { return p[user].kind == kind && inner_of(p, p[user].in[1]) == at; });
  }
  bool reads(node_id n, node_id of) const {
    return depends_on(p, n, [&](node_id m) { return m == of; });
  }
};

// True if a minus comes after the sum, or a negative factor or divisor: its sign is meant.
bool is_negated_later(const place &);
// Variable `rest` stands for 1 - variable `of`: a likelihood t y + (1 - t) (1 - y).
bool is_rest_of(const place &, const char *rest, const char *of);
// Always: the formula alone says it.
bool is_slip(const place &);
// <a> and <v> are unlike, also as aliases.
bool has_two_axes(const place &);
// #e is one of 0 to 1e-3.
bool is_small(const place &);
// 1e-6 that is added to a logarithm's argument or to a further divisor has a reason.
bool is_small_and_kept(const place &);
// #a is nearly 1, and not a root of 1/2 or 3/4.
bool is_most_of_one(const place &);
// A loss is made of it by sums, products with numbers and signs.
bool is_of_loss(const place &);
// y is never positive, and falls with positions.
bool is_of_falling_power(const place &);
// s is the state of a scan, to which this step times another key than k is added.
bool is_written_elsewhere(const place &);
// #a and #b add up to 1, whatever their signs.
bool are_shares(const place &);
// sigmoid(..), which is inside the other term, as a reset gate is.
bool is_inside_other(const place &);
// It is stored under a name of the signature.
bool is_result(const place &);
// s is the state of a scan, to which k times this step is added.
bool is_carried_and_added(const place &);
// A number of 0 or 1 for each position.
bool is_indicator(const place &);
// c is the conversion of a truth.
bool is_of_truth(const place &);
// exp(#n) is.
bool is_at_least_20(const place &);
// The number of slots of a page is another one.
bool is_not_stride(const place &);
// 2 to the power of 8 (h + 1) / H of batch <h>.
bool is_growing_slope(const place &);
// Both exponents x and y grow with a position, or both fall.
bool decay_alike(const place &);
// Keys are weighed by it, as it is.
bool are_scores(const place &);
// a is x times a param and b a part of sum(x * x), and exp is taken of both.
bool adds_square_in_exponent(const place &);
// a and y are projections of one step.
bool are_projections_of_one(const place &);
// #n is a cap: above 1, and not the 2 of a sigmoid made of tanh.
bool is_cap_upside_down(const place &);
// u is a part of h, but not h / sqrt(2).
bool is_unlike_gelu(const place &);
// An input and a layer of it are added and dropped together.
bool is_residual_dropped(const place &);
// <a> are the keys of the scores.
bool is_by_number_of_keys(const place &);
// s has other features than q and k, and no scale.
bool is_scaled_alone(const place &);
// Nothing that is made of it is divided.
bool is_never_divided(const place &);
// a and b are angles of unlike positions.
bool is_of_two_positions(const place &);
// t is divided by one number, and s is not.
bool is_softened_alone(const place &);
// y is never negative, and grows with positions.
bool is_power_beyond_one(const place &);
// A param of the scores chooses along <e>, but the weights are those of positions along <a>.
bool is_routed_elsewhere(const place &);
// A power of base 2 or its like whose exponent ends below -30 or beyond 30 at the last head.
bool is_steep_slope(const place &);
// <h> has half of the positions of <d>.
bool is_half_missing(const place &);
// The numbers kept are not divided by their share, before or after.
bool is_not_divided(const place &);
// softmax<a>(x) is a step, too, and nothing else weighs values over the axis.
bool has_weights_beside(const place &);
// n counts some of the positions along <a>, and x hides none of them.
bool is_length(const place &);
// Halves exchanged: of positions first + 32 and 0, in this order.
bool are_halves_exchanged(const place &);
// The statistic of another step, which is not multiplied by it afterwards.
bool is_of_another(const place &);
// True if all that is divided has been divided by the share already, as dropout() does.
bool is_share_kept(const place &);
// Weights of which no argument hides any, so that each row has some.
bool are_whole(const place &);
// Rows that are compared with themselves, without a mask.
bool is_of_itself(const place &);
// Weights that a condition of positions makes 0 before they are contracted alone.
bool is_hidden_late(const place &);
// <a> and <b> are unlike, and one of them is <d>.
bool is_one_of_them(const place &);
// Of x * cast(uniform(..) < p): p, or the rest of it.
double kept_share(const place &);
// elu(..) + 1 is what the other operand is made of.
bool has_one_beside(const place &);
// The square of the temperature multiplies it later.
bool is_scaled_by_square(const place &);
// A scan along the axis, or products of weights that a causal mask leaves.
bool is_of_earlier_alone(const place &);

}  // namespace qkv::codegen::checks
