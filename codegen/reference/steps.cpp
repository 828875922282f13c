// SPDX-License-Identifier: BSL-1.0
#include "codegen/reference/steps.hpp"

#include <algorithm>
#include <qkv/core/half.hpp>
#include <qkv/core/hash.hpp>
#include <qkv/core/types.hpp>

#include "codegen/program/queries.hpp"
#include "codegen/reference/functions.hpp"
#include "codegen/reference/products.hpp"

namespace qkv::codegen::detail {

template <class T>
extents steps<T>::extents_of(const std::vector<axis_id> &axes) const {
  extents e;
  for (axis_id a : axes) e.push_back(size_[a]);
  return e;
}

template <class T>
tensor_value<T> steps<T>::blank(const std::vector<axis_id> &axes) const {
  value v{axes, extents_of(axes), {}, {}};
  v.data.resize(static_cast<std::size_t>(product(v.extent)));
  return v;
}

template <class T>
tensor_value<T> steps<T>::run(const node &n, const values &in) const {
  value v = computed(n, in);
  if (n.type == i32 && core::facts_of(n.kind).wraps)
    for (auto &x : v.data)
      if (std::isfinite(x)) x = wrapped(static_cast<std::int64_t>(x));
  return v;
}

template <class T>
tensor_value<T> steps<T>::computed(const node &n, const values &in) const {
  if (is_source(n.kind)) return source(n);
  if (is_pointwise(n.kind)) return pointwise(n, in);
  if (is_reduction(n.kind)) return reduction(n, in);
  if (is_view(n.kind)) return view(n, in);
  switch (n.kind) {
    case op::uniform:
      return uniform(n, in);
    case op::mask:
      return masked(n, in);
    case op::dot:
      return dot(n, in);
    case op::softmax:
    case op::normalize:
      return weights(n, in);
    case op::take:
      return taken(n, in);
    case op::put:
      return put(n, in);
    case op::concat:
      return joined(n, in);
    case op::cumsum:
      return prefix_sums(n, in);
    case op::output:
      return output(n, in);
    default:
      throw std::logic_error("the interpreter does not know " + std::string(name_of(n.kind)));
  }
}

template <class T>
tensor_value<T> steps<T>::source(const node &n) const {
  value v = blank(n.shape);
  if (n.kind == op::number) v.data[0] = is_floating(n.type) ? static_cast<T>(n.value) : n.value;
  if (n.kind == op::size) v.data[0] = static_cast<T>(size_[n.over[0]]);
  if (n.kind == op::index)
    for (std::size_t k = 0; k < v.data.size(); ++k) v.data[k] = static_cast<T>(k);
  return v;
}

template <class T>
tensor_value<T> steps<T>::uniform(const node &n, const values &in) const {
  value v = blank(n.shape);
  const auto seed = static_cast<std::uint32_t>(static_cast<std::int64_t>(in[0]->data[0]));
  const auto first = [&](std::size_t d) {
    return in.size() > d + 1
               ? static_cast<std::uint32_t>(static_cast<std::int64_t>(in[d + 1]->data[0]))
               : 0;
  };
  std::vector<std::uint32_t> position(n.over.size());
  for (std::size_t k = 0; k < v.data.size(); ++k) {
    std::size_t rest = k;
    for (std::size_t d = position.size(); d-- > 0;) {
      const auto size = static_cast<std::size_t>(v.extent[d]);
      position[d] = static_cast<std::uint32_t>(rest % size) + first(d);
      rest /= size;
    }
    v.data[k] = static_cast<T>(qkv::detail::random_bits(position, seed)) * T(0x1p-24);
  }
  return v;
}

template <class T>
tensor_value<T> steps<T>::pointwise(const node &n, const values &in) const {
  value v = blank(n.shape);
  const bool some_absent =
      std::any_of(in.begin(), in.end(), [](const value *x) { return !x->states.empty(); });
  if (some_absent) v.set_states(present);
  // Operands that are missing repeat the first.
  const auto operand = [&](std::size_t k) { return in[k < in.size() ? k : 0]; };
  const value &a = *operand(0), &b = *operand(1), &c = *operand(2);
  const std::array<extents, 3> strides = {strides_along(a, n.shape), strides_along(b, n.shape),
                                          strides_along(c, n.shape)};
  const auto compute_in = [&](auto zero) {
    using U = decltype(zero);
    auto *to = v.data.data();
    walk_runs<3>(v.extent, strides, [&](const auto &at, std::int64_t count, const auto &step) {
      const auto *x = a.data.data() + at[0], *y = b.data.data() + at[1];
      if (n.kind == op::where) {
        const auto *z = c.data.data() + at[2];
        for (std::int64_t k = 0; k < count; ++k)
          to[k] = static_cast<U>(x[k * step[0]]) != 0 ? y[k * step[1]] : z[k * step[2]];
      } else if (n.kind == op::cast) {
        compute_run<U>(count, x, y, step, to, [&](U p, U) { return cast_to(n.type, p); });
      } else if (n.kind == op::mul && n.type == i32) {
        compute_run<std::int64_t>(count, x, y, step, to,
                                  [](auto p, auto q) { return wrapped(p * q); });
      } else if (is_unary(n.kind)) {
        compute_run<U>(count, x, y, step, to, [&](U p, U) { return unary(n.kind, p); });
      } else {
        with_operation(n.kind, [&](auto o) {
          compute_run<U>(count, x, y, step, to, [&](U p, U q) { return binary<U>(o, p, q); });
        });
      }
      to += count;
    });
  };
  const auto is_whole = [](dtype t) { return !is_floating(t); };
  if (is_whole(n.type) &&
      std::all_of(n.in.begin(), n.in.end(), [&](node_id o) { return is_whole(p_[o].type); }))
    compute_in(typename value::number{});
  else
    compute_in(T{});
  if (!some_absent) return v;
  // Empty weights stay empty in products, and in any other function whose result is still 0.
  const bool holds_weights = qkv::detail::is_float(n.type);
  std::int64_t to = 0;
  walk<3>(v.extent, strides, [&](const auto &at) {
    const state first = n.kind == op::where ? present : a.at(at[0]);
    const state second = n.kind == op::where && a.data[at[0]] == 0 ? c.at(at[2]) : b.at(at[1]);
    if (!a.has(at[0]) || second == absent) {
      v.states[to] = absent;
    } else if (holds_weights && (first == empty_weight || second == empty_weight)) {
      if (n.kind == op::mul) v.data[to] = 0;
      if (v.data[to] == 0) v.states[to] = empty_weight;
    }
    ++to;
  });
  return v;
}

template <class T>
tensor_value<T> steps<T>::masked(const node &n, const values &in) const {
  value v = blank(n.shape);
  v.set_states(absent);
  const value &s = *in[0], &keep = *in[1];
  std::int64_t to = 0;
  walk<2>(v.extent, {strides_along(s, n.shape), strides_along(keep, n.shape)}, [&](const auto &at) {
    v.data[to] = s.data[at[0]];
    if (keep.has(at[1]) && keep.data[at[1]] != 0) v.states[to] = s.at(at[0]);
    ++to;
  });
  return v;
}

// Only products of present elements count. A row of results at a time: none of them waits for
// another.
template <class T>
tensor_value<T> steps<T>::dot(const node &n, const values &in) const {
  using N = typename value::number;
  value moved_a, moved_b;
  const axis_id last = n.shape.empty() ? -1 : n.shape.back();
  const value &a = *with_last(in[0], last, moved_a), &b = *with_last(in[1], last, moved_b);
  value v = blank(n.shape);
  const extents inner = extents_of(n.over);
  const auto of_a = offsets(inner, strides_along(a, n.over));
  const auto of_b = offsets(inner, strides_along(b, n.over));
  extents outer = v.extent, along_a = strides_along(a, n.shape),
          along_b = strides_along(b, n.shape);
  std::int64_t row = 1, a_step = 0, b_step = 0;
  if (!outer.empty()) {
    row = outer.back(), a_step = along_a.back(), b_step = along_b.back();
    outer.pop_back(), along_a.pop_back(), along_b.pop_back();
  }
  const bool all_alike = (a.states.empty() || a_step == 0) && (b.states.empty() || b_step == 0);
  const std::size_t lanes = lanes_of(how_);
  const bool fused = how_ == order::fused;
  std::vector<T> sums(lanes * static_cast<std::size_t>(row));
  auto to = v.data.begin();
  std::vector<std::array<std::int64_t, 2>> terms;
  walk<2>(outer, {along_a, along_b}, [&](const auto &at) {
    if constexpr (std::is_same_v<T, long double>)
      if (all_alike && how_ == order::in_sequence && row > 0) {
        terms.clear();
        for (std::size_t k = 0; k < of_a.size(); ++k)
          if (a.at(at[0] + of_a[k]) == present && b.at(at[1] + of_b[k]) == present)
            terms.push_back({at[0] + of_a[k], at[1] + of_b[k]});
        add_terms(row, terms, a.data.data(), a_step, b.data.data(), b_step, &*to);
        to += row;
        return;
      }
    std::fill(sums.begin(), sums.end(), T(0));
    for (std::size_t k = 0; row > 0 && k < of_a.size(); ++k) {
      const std::int64_t i = at[0] + of_a[k], j = at[1] + of_b[k];
      T *lane = sums.data() + static_cast<std::int64_t>(k % lanes) * row;
      if (!all_alike) {
        for (std::int64_t c = 0; c < row; ++c)
          if (a.at(i + c * a_step) == present && b.at(j + c * b_step) == present)
            (fused ? add_product<true, T, N> : add_product<false, T, N>)(lane[c],
                                                                         a.data[i + c * a_step],
                                                                         b.data[j + c * b_step]);
      } else if (a.at(i) == present && b.at(j) == present) {
        (fused ? add_products<true, T, N> : add_products<false, T, N>)(row, a.data.data() + i,
                                                                       a_step, b.data.data() + j,
                                                                       b_step, lane);
      }
    }
    for (std::int64_t c = 0; c < row; ++c) {
      T s = sums[static_cast<std::size_t>(c)];
      for (std::size_t l = 1; l < lanes; ++l)
        s += sums[l * static_cast<std::size_t>(row) + static_cast<std::size_t>(c)];
      *to++ = s;
    }
  });
  return v;
}

template <class T>
T steps<T>::sum_of(const value &x, std::int64_t base, const std::vector<std::int64_t> &of) const {
  summation<T> sum(how_);
  for (std::int64_t k : of)
    if (x.has(base + k)) sum.add(x.data[base + k]);
  return sum.value();
}

namespace {

// The largest (smallest) present number, NaN if one is; `none` when there is none.
template <class T>
T extreme_of(bool largest, const tensor_value<T> &x, std::int64_t base,
             const std::vector<std::int64_t> &of) {
  T best = largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  for (std::int64_t k : of) {
    if (!x.has(base + k)) continue;
    const T y = x.data[base + k];
    if (std::isnan(y)) return y;
    best = largest ? std::max(best, y) : std::min(best, y);
  }
  return best;
}

}  // namespace

template <class T>
tensor_value<T> steps<T>::reduction(const node &n, const values &in) const {
  const value &x = *in[0];
  value v = blank(n.shape);
  const auto of = offsets(extents_of(n.over), strides_along(x, n.over));
  std::int64_t to = 0;
  walk<1>(v.extent, {strides_along(x, n.shape)}, [&](const auto &at) {
    const std::int64_t base = at[0];
    auto &r = v.data[to++];
    switch (n.kind) {
      case op::sum:
        r = sum_of(x, base, of);
        break;
      case op::max_over:
        r = extreme_of(true, x, base, of);
        break;
      case op::min_over:
        r = extreme_of(false, x, base, of);
        break;
      case op::mean: {
        const auto count =
            std::count_if(of.begin(), of.end(), [&](auto k) { return x.has(base + k); });
        r = count ? sum_of(x, base, of) / static_cast<T>(count) : T(0);
        break;
      }
      default: {  // logsumexp
        const T m = extreme_of(true, x, base, of);
        summation<T> sum(how_);
        for (std::int64_t k : of)
          if (x.has(base + k)) sum.add(std::exp(static_cast<T>(x.data[base + k]) - m));
        r = std::isinf(m) ? m : m + std::log(sum.value());
      }
    }
    // The maximum or minimum of no integers is an end of their range.
    if (n.type == i32 && (n.kind == op::max_over || n.kind == op::min_over))
      r = static_cast<typename value::number>(stored(i32, static_cast<double>(r)));
  });
  return v;
}

template <class T>
tensor_value<T> steps<T>::weights(const node &n, const values &in) const {
  const value &x = *in[0];
  value v = blank(n.shape);
  if (!x.states.empty()) v.set_states(present);
  const std::vector<axis_id> rows = without(n.shape, n.over);
  const auto of_x = offsets(extents_of(n.over), strides_along(x, n.over));
  const auto of_v = offsets(extents_of(n.over), strides_along(v, n.over));
  const bool soft = n.kind == op::softmax;
  // Smaller weights may be flushed to 0, and infinity times a flushed weight is NaN. One loop
  // flushes them, so that both results are allowed.
  const T least = how_ == order::in_eights ? std::numeric_limits<T>::min() : T(0);
  const auto weight = [&](T score) {
    const T w = std::exp(score);
    return w < least ? T(0) : w;
  };
  walk<2>(extents_of(rows), {strides_along(x, rows), strides_along(v, rows)}, [&](const auto &at) {
    const T m = soft ? extreme_of(true, x, at[0], of_x) : T(0);
    const bool dead = soft && !n.less_maximum && m == -std::numeric_limits<T>::infinity();
    summation<T> sum(how_);
    for (std::size_t k = 0; k < of_x.size(); ++k) {
      const std::int64_t i = at[0] + of_x[k], j = at[1] + of_v[k];
      if (!x.has(i)) {
        v.states[j] = empty_weight;
      } else {
        v.data[j] = dead ? T(0) : soft ? weight(static_cast<T>(x.data[i]) - m) : x.data[i];
        sum.add(v.data[j]);
      }
    }
    const T total = sum.value();
    for (std::size_t k = 0; k < of_v.size(); ++k) {
      const std::int64_t j = at[1] + of_v[k];
      if (x.has(at[0] + of_x[k])) v.data[j] = total == 0 ? T(0) : static_cast<T>(v.data[j]) / total;
    }
  });
  return v;
}

template <class T>
tensor_value<T> steps<T>::view(const node &n, const values &in) const {
  const value &x = *in[0];
  value v = blank(n.shape);
  // The operand's axis along which each axis of the result steps; a merged axis is visited as its
  // two parts.
  std::vector<axis_id> walked;
  for (axis_id a : n.shape) {
    if (n.kind == op::merge && a == n.over[0]) {
      walked.push_back(n.over[1]);
      walked.push_back(n.over[2]);
    } else {
      walked.push_back(n.kind == op::rename && a == n.over[1] ? n.over[0] : a);
    }
  }
  extents stride = strides_along(x, walked);
  if (n.kind == op::split) {
    const std::int64_t whole = strides_along(x, {n.over[0]})[0];
    for (std::size_t d = 0; d < walked.size(); ++d) {
      if (walked[d] == n.over[1]) stride[d] = whole * size_[n.over[2]];
      if (walked[d] == n.over[2]) stride[d] = whole;
    }
  }
  if (!x.states.empty()) v.set_states(present);
  std::int64_t to = 0;
  walk<1>(extents_of(walked), {stride}, [&](const auto &at) {
    v.data[to] = x.data[at[0]];
    if (!x.states.empty()) v.states[to] = x.states[at[0]];
    ++to;
  });
  return v;
}

template <class T>
tensor_value<T> steps<T>::prefix_sums(const node &n, const values &in) const {
  const value &x = *in[0];
  value v = blank(n.shape);
  const std::vector<axis_id> rows = without(n.shape, n.over);
  const std::int64_t step_x = strides_along(x, n.over)[0], step_v = strides_along(v, n.over)[0];
  walk<2>(extents_of(rows), {strides_along(x, rows), strides_along(v, rows)}, [&](const auto &at) {
    T sum = 0;
    for (std::int64_t k = 0; k < size_[n.over[0]]; ++k) {
      if (x.has(at[0] + k * step_x)) sum += x.data[at[0] + k * step_x];
      v.data[at[1] + k * step_v] = sum;
    }
  });
  return v;
}

template <class T>
tensor_value<T> steps<T>::at_position(const value &whole, const std::vector<axis_id> &axes,
                                      axis_id a, std::int64_t t) const {
  value v = blank(axes);
  if (!whole.states.empty()) v.set_states(present);
  const std::int64_t from = t * strides_along(whole, {a})[0];
  std::int64_t to = 0;
  walk<1>(v.extent, {strides_along(whole, axes)}, [&](const auto &at) {
    v.data[to] = whole.data[from + at[0]];
    if (!whole.states.empty() && whole.states[from + at[0]] == absent) v.states[to] = absent;
    ++to;
  });
  return v;
}

template <class T>
void steps<T>::put_position(value &whole, const value &part, axis_id a, std::int64_t t) const {
  const value kept = without_states(part);
  const std::int64_t to = t * strides_along(whole, {a})[0];
  std::int64_t from = 0;
  walk<1>(kept.extent, {strides_along(whole, kept.axes)},
          [&](const auto &at) { whole.data[to + at[0]] = kept.data[from++]; });
}

template <class T>
void steps<T>::keep_where_absent(value &next, const value &state) const {
  if (next.states.empty()) return;
  std::int64_t to = 0;
  walk<1>(next.extent, {strides_along(state, next.axes)}, [&](const auto &at) {
    if (!next.has(to)) next.data[to] = state.data[at[0]];
    ++to;
  });
  next.states.clear();
}

template <class T>
tensor_value<T> steps<T>::without_states(value x) const {
  for (std::size_t k = 0; k < x.data.size(); ++k)
    if (!x.has(static_cast<std::int64_t>(k))) x.data[k] = -std::numeric_limits<T>::infinity();
  x.states.clear();
  return x;
}

template <class T>
tensor_value<T> steps<T>::output(const node &n, const values &in) const {
  const value &x = *in[0];
  value v = blank(n.shape);
  const T none = n.type == i32 || n.type == b8 ? T(0) : -std::numeric_limits<T>::infinity();
  std::int64_t to = 0;
  walk<1>(v.extent, {strides_along(x, n.shape)},
          [&](const auto &at) { v.data[to++] = x.has(at[0]) ? x.data[at[0]] : none; });
  return v;
}

template class steps<long double>;
template class steps<double>;
template class steps<float>;

}  // namespace qkv::codegen::detail
