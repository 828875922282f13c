// SPDX-License-Identifier: BSL-1.0
#include "codegen/reference/noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/half.hpp>
#include <stdexcept>

#include "codegen/program/queries.hpp"
#include "codegen/reference/functions.hpp"

namespace qkv::codegen::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_f32 = std::numeric_limits<float>::max();

template <class T>
bool is_undecided(T noise) {
  return std::isinf(noise);
}

template <class P>
bool some_undecided(const tensor_value<P> &noise) {
  return std::any_of(noise.data.begin(), noise.data.end(), [](auto x) { return std::isinf(x); });
}

// 1 where the noise is infinite, else 0; every element present.
template <class P>
tensor_value<P> indicator(tensor_value<P> noise) {
  for (auto &x : noise.data) x = std::isinf(x) ? 1 : 0;
  noise.states.clear();
  return noise;
}

// True if a step rounds to an integer or a boolean.
bool is_discrete(const node &n) { return n.type == i32 || n.type == b8; }

// True for functions whose error is larger than that of arithmetic.
bool is_elementary(op o) { return is_unary(o) && core::facts_of(o).error.f32 > 1; }

// True if an exact result needs no rounding: 0, or a normal number of the arithmetic's type.
template <class T>
bool holds(double unit, double tiny, T x) {
  return x == 0 || (std::abs(x) >= tiny &&
                    (unit == 0x1p-53 ? static_cast<double>(x) == x : static_cast<float>(x) == x));
}

// True if the result is a selected value, up to its sign, rather than a computed one.
bool chooses(op o) {
  switch (group_of(o)) {
    case core::op_group::source:
    case core::op_group::random:
    case core::op_group::mask:
    case core::op_group::gather:
    case core::op_group::view:
    case core::op_group::output:
      return true;
    case core::op_group::unary:
    case core::op_group::arithmetic:
    case core::op_group::comparison:
    case core::op_group::logic:
    case core::op_group::choice:
      return o == op::cast || core::facts_of(o).error.f32 == 0;
    case core::op_group::reduction:
      return o == op::max_over || o == op::min_over;
    case core::op_group::contraction:
    case core::op_group::weights:
    case core::op_group::prefix:
    case core::op_group::state:
    case core::op_group::scan:
    case core::op_group::scatter:
      return false;
  }
  throw std::logic_error("an operation of no group");
}

// True if a step passes on the relative error of an operand: it multiplies, selects or sums.
bool is_linear(op o) {
  return o == op::cast || core::facts_of(o).linear != core::linear_rule::nothing;
}

// The larger of |f(x + d) - y| and |f(x - d) - y|; NaN counts as infinity.
template <class T, class F>
T movement(F f, T x, T d, T y) {
  if (d == 0) return T(0);
  const T a = std::abs(f(x + d) - y), b = std::abs(f(x - d) - y);
  return std::isnan(a) || std::isnan(b) ? T(infinity) : std::max(a, b);
}

}  // namespace

template <class P>
noise_meter<P>::noise_meter(const program &p, const steps<P> &s) : p_(p), steps_(s) {
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    precision_.push_back(precision_of(n));
  find_cancelled();
}

template <class P>
void noise_meter<P>::find_cancelled() {
  std::vector<bool> is_sum, is_share;  // also pointwise steps of sums, and of what normalize gives
  for (const node &n : p_.nodes) {
    const auto any = [&](const std::vector<bool> &of) {
      return std::any_of(n.in.begin(), n.in.end(), [&](node_id operand) { return of[operand]; });
    };
    const bool sums = n.kind == op::dot || n.kind == op::sum || n.kind == op::mean,
               keeps = is_pointwise(n.kind) || is_view(n.kind),
               both_sums = n.in.size() == 2 && is_sum[n.in[0]] && is_sum[n.in[1]];
    cancelled_.push_back(is_floating(n.type) &&
                         ((n.kind == op::sub && both_sums) || (sums && any(is_share)) ||
                          (is_linear(n.kind) && any(cancelled_))));
    is_sum.push_back(sums || (keeps && any(is_sum)));
    is_share.push_back(n.kind == op::normalize || (keeps && any(is_share)));
  }
}

template <class P>
typename noise_meter<P>::precision noise_meter<P>::precision_of(node_id id) const {
  const node &n = p_[id];
  if (is_discrete(n)) return {};
  precision r;
  r.unit = n.type == f64 ? 0x1p-53 : 0x1p-24;
  r.tiny = n.type == f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  for (node_id operand : n.in) {
    const precision &o = precision_[operand];
    if (!o.rounded) continue;
    r.rounded = true;
    r.unit = std::max(r.unit, o.unit);
    r.coarse = std::max(r.coarse, o.coarse);
    r.tiny = std::max(r.tiny, o.tiny);
  }
  if (r.rounded && (n.type == bf16 || n.type == f16))
    r.coarse = std::max(r.coarse, unit_roundoff(n.type));
  if (n.kind == op::number)
    r.rounded = n.type != f64 && static_cast<float>(n.value) != n.value;
  else if (!chooses(n.kind))
    r.rounded = true;
  return r;
}

template <class P>
tensor_value<P> noise_meter<P>::dense(const value &noise, const value &like) {
  if (!noise.data.empty()) return noise;
  value v = like;
  std::fill(v.data.begin(), v.data.end(), T(0));
  return v;
}

template <class P>
tensor_value<P> noise_meter<P>::repeated(const node &n, const value &part) const {
  node along = n;
  along.kind = op::broadcast;
  return steps_.run(along, {&part});
}

template <class P>
tensor_value<P> noise_meter<P>::magnitude(node_id n, const value &x, const value &noise,
                                          bool squared) const {
  const precision &r = precision_[n];
  value v = x;
  const T floor = r.unit > 0 ? static_cast<T>(r.tiny / r.unit) : T(0);
  for (std::size_t k = 0; k < v.data.size(); ++k) {
    T &y = v.data[k];
    y = std::abs(y) + (noise.data[k] > 0 ? floor : T(0));
    if (cancelled_[n] && r.unit > 0 && !is_undecided(noise.data[k]))
      y = std::max(y, noise.data[k] / static_cast<T>(r.unit));
    if (squared) y *= y;
  }
  return v;
}

// Sums the magnitudes with the step itself; rounding to 16 bits adds the root of the sum of
// squares.
template <class P>
tensor_value<P> noise_meter<P>::of_terms(node_id id, const values &in, const values &noises) const {
  const node &n = p_[id];
  const auto total = [&](bool squared) {
    std::vector<value> of;
    values pointers;
    for (std::size_t k = 0; k < in.size(); ++k)
      of.push_back(magnitude(n.in[k], *in[k], *noises[k], squared));
    for (const value &v : of) pointers.push_back(&v);
    return steps_.run(n, pointers);
  };
  const precision &r = precision_[id];
  value v = total(false);
  const T u = static_cast<T>(r.unit);
  for (T &y : v.data) y = r.unit == 0x1p-24 && y > largest_f32 ? T(infinity) : y * u;
  if (r.coarse > 0) {
    const value squares = total(true);
    for (std::size_t k = 0; k < v.data.size(); ++k)
      v.data[k] += static_cast<T>(r.coarse) * std::sqrt(squares.data[k]);
  }
  if (!has_one_term(n, *in[0])) return v;
  const value term = of_one_term(n, in, noises);
  for (std::size_t k = 0; k < v.data.size(); ++k) v.data[k] = std::max(v.data[k], term.data[k]);
  return v;
}

// Along its axes, a value has one position.
template <class P>
bool noise_meter<P>::has_one_term(const node &n, const value &x) const {
  for (std::size_t d = 0; d < x.axes.size(); ++d)
    if (has(n.over, x.axes[d]) && x.extent[d] != 1) return false;
  return true;
}

template <class P>
tensor_value<P> noise_meter<P>::of_one_term(const node &n, const values &in,
                                            const values &noises) const {
  const auto sizes = [](value v) {
    for (T &y : v.data) y = is_undecided(y) ? T(0) : std::abs(y);
    return v;
  };
  const value dx = sizes(*noises[0]);
  if (n.kind != op::dot) return steps_.run(n, {&dx});
  const value x = sizes(*in[0]), y = sizes(*in[1]), dy = sizes(*noises[1]);
  value v = steps_.run(n, {&dx, &y});
  const value second = steps_.run(n, {&x, &dy});
  for (std::size_t k = 0; k < v.data.size(); ++k) v.data[k] += second.data[k];
  return v;
}

template <class P>
tensor_value<P> noise_meter<P>::of_weights(node_id id, const values &in, const values &noises,
                                           const value &result) const {
  const node &n = p_[id];
  const precision &r = precision_[id];
  value v = result;
  for (T &y : v.data) y = std::abs(y) * static_cast<T>(r.unit + r.coarse);
  if (n.kind == op::softmax) {
    node largest = n;
    largest.kind = op::max_over;
    largest.shape = without(n.shape, n.over);
    const value row = repeated(n, steps_.run(largest, {&result}));
    for (std::size_t k = 0; k < v.data.size(); ++k)
      if (v.data[k] != 0) v.data[k] += static_cast<T>(2 * r.unit * row.data[k] + r.tiny);
    return v;
  }
  // The ratio of |x| / sum |x| to |x| / |sum x| measures how much the sum cancels.
  const value x = magnitude(n.in[0], *in[0], *noises[0], false), share = steps_.run(n, {&x});
  for (std::size_t k = 0; k < v.data.size(); ++k)
    if (share.data[k] > 0) v.data[k] *= std::abs(result.data[k]) / share.data[k];
  return v;
}

template <class P>
tensor_value<P> noise_meter<P>::of_logsumexp(node_id id, const values &in,
                                             const value &result) const {
  const precision &r = precision_[id];
  node largest = p_[id];
  largest.kind = op::max_over;
  value v = steps_.run(largest, in);
  for (std::size_t k = 0; k < v.data.size(); ++k)
    v.data[k] = static_cast<T>(r.unit + r.coarse) *
                (std::abs(v.data[k]) + std::abs(result.data[k] - v.data[k]) + 1);
  return v;
}

template <class P>
tensor_value<P> noise_meter<P>::pointwise(node_id id, const values &in, const values &noises,
                                          const value &result) const {
  const node &n = p_[id];
  const precision &own = precision_[id];
  const auto operand = [&](std::size_t k) { return k < in.size() ? k : 0; };
  const auto stride = [&](std::size_t k) { return strides_along(*in[operand(k)], n.shape); };
  // The noise of an exact operand is one 0 instead of the operand's layout.
  const T zero = 0;
  const auto off_of = [&](std::size_t k) {
    const value &noise = *noises[operand(k)];
    return noise.data.empty() ? std::pair{&zero, std::int64_t{0}}
                              : std::pair{noise.data.data(), std::int64_t{1}};
  };
  const std::array offs = {off_of(0), off_of(1), off_of(2)};
  const T u = static_cast<T>(own.unit);
  const bool discrete = is_discrete(n), elementary = is_elementary(n.kind),
             choice = chooses(n.kind);
  value v = result;
  const auto measure = [&](auto kind) {
    std::size_t to = 0;
    walk<3>(result.extent, {stride(0), stride(1), stride(2)}, [&](const auto &at) {
      const auto number_of = [&](std::size_t k) { return in[operand(k)]->data[at[k]]; };
      const auto off = [&](std::size_t k) { return offs[k].first[at[k] * offs[k].second]; };
      const T x = number_of(0), y = number_of(1), dx = off(0), dy = in.size() > 1 ? off(1) : T(0);
      const T is = result.data[to];
      T &d = v.data[to++];
      if (kind == op::where) {
        d = is_undecided(dx) ? (y == number_of(2) ? T(0) : T(infinity)) : x != 0 ? dy : off(2);
        return;
      }
      if (is_undecided(dx) || is_undecided(dy)) return void(d = T(infinity));
      if (!std::isfinite(is) && !discrete) return void(d = T(0));
      const auto of_first = [&](T a) {
        return kind == op::cast ? cast_to(n.type, a)
               : is_unary(kind) ? unary(kind, a)
                                : binary<T>(kind, a, y);
      };
      const auto of_second = [&](T b) { return binary<T>(kind, x, b); };
      if (discrete) {
        const bool moved =
            movement(of_first, x, 4 * dx, is) > 0 || movement(of_second, y, 4 * dy, is) > 0;
        d = moved ? T(infinity) : T(0);
        return;
      }
      if (kind == op::add || kind == op::sub)
        d = dx + dy;
      else if (kind == op::cast)
        d = dx == 0 ? T(0) : dx + static_cast<T>(own.coarse) * std::abs(x);
      else
        d = movement(of_first, x, dx, is) + movement(of_second, y, dy, is);
      if (elementary) d += 2 * u * std::abs(is);
      if (!choice && (dx > 0 || dy > 0 || elementary || !holds(own.unit, own.tiny, is)))
        d = std::max({d, u * std::abs(is), T(own.tiny)});
    });
  };
  with_operation(n.kind, measure);
  return v;
}

// Infinite wherever an element that contributes is infinite, absent or not.
template <class P>
tensor_value<P> noise_meter<P>::with_undecided(const node &n, const values &noises,
                                               value noise) const {
  if (std::none_of(noises.begin(), noises.end(), [](const value *v) { return some_undecided(*v); }))
    return noise;
  value count;
  if (n.kind == op::dot) {
    std::vector<value> of, ones;
    for (const value *v : noises) {
      of.push_back(indicator(*v));
      ones.push_back(of.back());
      std::fill(ones.back().data.begin(), ones.back().data.end(), T(1));
    }
    count = steps_.run(n, {&of[0], &ones[1]});
    const value second = steps_.run(n, {&ones[0], &of[1]});
    for (std::size_t k = 0; k < count.data.size(); ++k) count.data[k] += second.data[k];
  } else {
    const value of = indicator(*noises[0]);
    node sum = n;
    if (n.kind != op::cumsum) sum.kind = op::sum;
    if (makes_weights(n.kind)) sum.shape = without(n.shape, n.over);
    count = steps_.run(sum, {&of});
    if (makes_weights(n.kind)) count = repeated(n, count);
  }
  for (std::size_t k = 0; k < noise.data.size(); ++k)
    if (count.data[k] > 0) noise.data[k] = T(infinity);
  return noise;
}

template <class P>
tensor_value<P> noise_meter<P>::of_mask(const node &n, const value &keep, value noise,
                                        const value &noise_of_keep) const {
  value v = steps_.run(n, {&noise, &keep});
  const value unsure = indicator(noise_of_keep);
  noise.states.clear();
  const value seen = steps_.run(n, {&noise, &unsure});
  for (std::size_t k = 0; k < v.data.size(); ++k)
    if (seen.states[k] != absent) v.data[k] = T(infinity);
  return v;
}

template <class P>
tensor_value<P> noise_meter<P>::of_take(const node &n, const value &position, const value &noise,
                                        const value &noise_of_position) const {
  value v = steps_.run(n, {&noise, &position});
  if (!some_undecided(noise_of_position)) return v;
  const value unsure = repeated(n, noise_of_position);
  for (std::size_t k = 0; k < v.data.size(); ++k)
    if (is_undecided(unsure.data[k])) v.data[k] = T(infinity);
  return v;
}

// As of a sum, whose terms are those of one position each; of one term, its noise.
template <class P>
tensor_value<P> noise_meter<P>::of_put(node_id id, const values &in, const values &noises) const {
  const node &n = p_[id];
  const precision &r = precision_[id];
  const auto total = [&](const value &terms) { return steps_.run(n, {&terms, in[1]}); };
  value ones = *in[0], sizes = *noises[0];
  std::fill(ones.data.begin(), ones.data.end(), T(1));
  for (T &y : sizes.data) y = is_undecided(y) ? T(0) : std::abs(y);
  const value terms = total(magnitude(n.in[0], *in[0], *noises[0], false)),
              squares = total(magnitude(n.in[0], *in[0], *noises[0], true)), count = total(ones),
              of_one = total(sizes), undecided = total(indicator(*noises[0]));
  const bool moved = some_undecided(*noises[1]);
  value v = terms;
  for (std::size_t k = 0; k < v.data.size(); ++k) {
    v.data[k] = terms.data[k] * static_cast<T>(r.unit) +
                static_cast<T>(r.coarse) * std::sqrt(squares.data[k]);
    if (count.data[k] == 1) v.data[k] = std::max(v.data[k], of_one.data[k]);
    if (moved || undecided.data[k] > 0) v.data[k] = T(infinity);
  }
  return v;
}

template <class P>
tensor_value<P> noise_meter<P>::of(node_id id, const values &in, const values &noises,
                                   const value &result) const {
  const node &n = p_[id];
  if (n.kind == op::number && precision_[id].rounded) {
    value v = result;
    v.data[0] = std::abs(v.data[0]) * static_cast<T>(precision_[id].unit);
    return v;
  }
  if (is_source(n.kind) || n.kind == op::uniform) return {};
  const bool exact =
      std::all_of(noises.begin(), noises.end(), [](auto *v) { return v->data.empty(); });
  if (exact && (chooses(n.kind) || is_discrete(n))) return {};
  if (is_pointwise(n.kind)) return pointwise(id, in, noises, result);

  std::vector<value> noise;
  values pointers;
  for (std::size_t k = 0; k < in.size(); ++k) {
    noise.push_back(dense(*noises[k], *in[k]));
    noise[k].states = in[k]->states;
  }
  for (value &v : noise) pointers.push_back(&v);
  const auto finite_parts = [&](value v) {
    for (std::size_t k = 0; k < v.data.size(); ++k)
      if (!std::isfinite(result.data[k]))
        v.data[k] = T(0);
      else if (std::isnan(v.data[k]))
        v.data[k] = T(infinity);
    v.states = result.states;
    return v;
  };
  switch (n.kind) {
    case op::mask:
      return of_mask(n, *in[1], std::move(noise[0]), noise[1]);
    case op::take:
      return of_take(n, *in[1], noise[0], noise[1]);
    case op::put:
      return finite_parts(of_put(id, in, pointers));
    case op::dot:
    case op::sum:
    case op::mean:
    case op::cumsum:
      return with_undecided(n, pointers, finite_parts(of_terms(id, in, pointers)));
    case op::softmax:
    case op::normalize:
      return with_undecided(n, pointers, finite_parts(of_weights(id, in, pointers, result)));
    case op::logsumexp:
      return with_undecided(n, pointers, finite_parts(of_logsumexp(id, in, result)));
    case op::max_over:
    case op::min_over: {
      node largest = n;
      largest.kind = op::max_over;
      return with_undecided(n, pointers, finite_parts(steps_.run(largest, {&noise[0]})));
    }
    case op::output:
      noise[0].states.clear();
      return steps_.run(n, pointers);
    default:  // views and concat
      return steps_.run(n, pointers);
  }
}

template <class P>
tensor_value<P> noise_meter<P>::carried_on(const value &next, value noise,
                                           const value &noise_of_state) const {
  if (noise.data.empty() || next.states.empty()) return noise;
  value v = noise;
  v.states = next.states;
  steps_.keep_where_absent(v, dense(noise_of_state, v));
  for (std::size_t k = 0; k < v.data.size(); ++k)
    if (is_undecided(noise.data[k])) v.data[k] = T(infinity);
  return v;
}

template class noise_meter<long double>;
template class noise_meter<double>;
template class noise_meter<float>;

}  // namespace qkv::codegen::detail
