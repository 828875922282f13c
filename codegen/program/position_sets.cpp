// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/position_sets.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

linear_form negative(linear_form form) {
  for (auto &[t, k] : form) k = -k;
  return form;
}

std::optional<two_positions> difference_in(const linear_form &form) {
  if (form.size() != 2) return {};
  const auto &[a, by_a] = *form.begin();
  const auto &[b, by_b] = *form.rbegin();
  if (a.what != term::position || b.what != term::position) return {};
  if (by_a == 1 && by_b == -1) return two_positions{a.id, b.id};
  if (by_a == -1 && by_b == 1) return two_positions{b.id, a.id};
  return {};
}

std::optional<position_less_number> position_less_number_in(const linear_form &form) {
  if (form.size() != 2) return {};
  const auto &[position, by_position] = *form.begin();
  const auto &[number, by_number] = *form.rbegin();
  if (position.what != term::position || number.what != term::step) return {};
  if (by_position != 1 || by_number != -1) return {};
  return position_less_number{position.id, number.id};
}

namespace {

constexpr std::size_t most_alternatives = 64;
constexpr std::int64_t largest_number = std::int64_t{1} << 40;  // sums of a few stay exact

using sets = std::vector<position_set>;

affine opaque(node_id n) { return {{{{term::step, n}, 1}}, 0}; }

void add(linear_form &form, const term &t, std::int64_t factor) {
  std::int64_t &sum = form[t];
  sum += factor;
  if (sum == 0) form.erase(t);
}

affine sum(affine a, const affine &b, std::int64_t factor) {
  for (const auto &[t, k] : b.form) add(a.form, t, factor * k);
  a.number += factor * b.number;
  return a;
}

affine times(const affine &a, std::int64_t factor) { return sum({}, a, factor); }

// The same positions, counted along other axes.
affine renamed(const program &p, const node &view, const affine &a, node_id n) {
  affine r{{}, a.number};
  for (const auto &[t, k] : a.form) {
    term moved = t;
    if (t.what == term::position && t.id == view.over[0]) moved.id = view.over[1];
    if (t.what == term::step && !p[t.id].shape.empty()) return opaque(n);
    add(r.form, moved, k);
  }
  return r;
}

// The least value of a form. Positions go from 0 to size - 1, and sizes from 1.
std::int64_t least_of(const program &p, const linear_form &form) {
  linear_form sizes;
  std::int64_t least = 0;
  for (const auto &[t, k] : form) {
    if (t.what == term::step && (k < 0 || p[t.id].kind != op::abs)) return -interval::infinite;
    if (t.what == term::size) sizes[t] += k;
    if (t.what == term::position && k < 0) {
      sizes[{term::size, p.axes[t.id].root}] += k;
      least -= k;
    }
  }
  for (const auto &[t, k] : sizes) {
    if (k < 0) return -interval::infinite;
    least += k;
  }
  return least;
}

interval range_of(const program &p, const linear_form &form) {
  return {least_of(p, form), -least_of(p, negative(form))};
}

// Meets the interval of a form; false where nothing is left.
bool meet(const program &p, position_set &set, const linear_form &form, interval i) {
  const auto [at, is_new] = set.try_emplace(form, range_of(p, form));
  interval &known = at->second;
  known = {std::max(known.least, i.least), std::min(known.most, i.most)};
  return known.least <= known.most;
}

bool meet(const program &p, position_set &set, const position_set &other) {
  return std::all_of(other.begin(), other.end(),
                     [&](const auto &of) { return meet(p, set, of.first, of.second); });
}

class set_finder {
 public:
  explicit set_finder(const program &p) : p_(p) {}

  sets where(node_id n, bool is_true) const {
    const node &x = p_[n];
    if (x.name.empty()) {
      if (x.kind == op::not_) return where(x.in[0], !is_true);
      if (x.kind == op::and_ || x.kind == op::or_) {
        const sets a = where(x.in[0], is_true), b = where(x.in[1], is_true);
        return (x.kind == op::and_) == is_true ? both(a, b) : either(a, b);
      }
      if (x.kind == op::broadcast) return where(x.in[0], is_true);
      if (is_comparison(x.kind) && p_[x.in[0]].type == i32 && p_[x.in[1]].type == i32)
        return compared(x, is_true);
    }
    const std::int64_t value = is_true;
    return at(linear_form{{{term::step, n}, 1}}, {value, value});
  }

 private:
  sets at(const linear_form &form, interval i) const {
    position_set s;
    return meet(p_, s, form, i) ? sets{s} : sets{};
  }

  sets either(sets a, const sets &b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a.size() <= most_alternatives ? a : sets{{}};
  }

  sets both(const sets &a, const sets &b) const {
    if (a.size() * b.size() > most_alternatives) return {{}};
    sets all;
    for (const position_set &x : a)
      for (position_set y : b)
        if (meet(p_, y, x)) all.push_back(std::move(y));
    return all;
  }

  sets compared(const node &x, bool is_true) const {
    affine a = sum(affine_of(p_, x.in[0]), affine_of(p_, x.in[1]), -1);
    unsigned orders = is_true ? orders_of(x.kind) : less | equal | greater;
    if (!is_true) orders -= orders_of(x.kind);
    if (!a.form.empty() && a.form.begin()->second < 0) {
      a = times(a, -1);
      const bool was_less = orders & less, was_greater = orders & greater;
      orders = (orders & equal) | was_less * greater | was_greater * less;
    }
    const std::int64_t number = -a.number;  // the form is compared with it
    if (orders == (less | greater))
      return either(at(a.form, {-interval::infinite, number - 1}),
                    at(a.form, {number + 1, interval::infinite}));
    return at(a.form, {orders & less ? -interval::infinite : number + !(orders & equal),
                       orders & greater ? interval::infinite : number - !(orders & equal)});
  }

  // The orders of two numbers for which a comparison is true. Throws std::logic_error for another
  // operation.
  enum : unsigned { less = 1, equal = 2, greater = 4 };
  static unsigned orders_of(op comparison) {
    switch (comparison) {
      case op::less:
        return less;
      case op::less_equal:
        return less | equal;
      case op::greater:
        return greater;
      case op::greater_equal:
        return greater | equal;
      case op::equal:
        return equal;
      case op::not_equal:
        return less | greater;
      default:
        throw std::logic_error(std::string(name_of(comparison)) + " has no order");
    }
  }

  const program &p_;
};

}  // namespace

affine affine_of(const program &p, node_id n) {
  const node &x = p[n];
  const bool named = !x.name.empty();
  if (named || x.type != i32) return opaque(n);
  const auto of = [&](std::size_t k) { return affine_of(p, x.in[k]); };
  affine r = opaque(n);
  switch (x.kind) {
    case op::number:
      return {{}, static_cast<std::int64_t>(x.value)};
    case op::index:
      return {{{{term::position, x.over[0]}, 1}}, 0};
    case op::size:
      return {{{{term::size, p.axes[x.over[0]].root}, 1}}, 0};
    case op::neg:
      r = times(of(0), -1);
      break;
    case op::add:
      r = sum(of(0), of(1), 1);
      break;
    case op::sub:
      r = sum(of(0), of(1), -1);
      break;
    case op::mul: {
      const affine a = of(0), b = of(1);
      if (a.form.empty()) r = times(b, a.number);
      if (b.form.empty()) r = times(a, b.number);
      break;
    }
    case op::broadcast:
      return of(0);
    case op::rename:
      return renamed(p, x, of(0), n);
    default:
      break;
  }
  const bool exact = std::all_of(r.form.begin(), r.form.end(),
                                 [](const auto &t) { return std::abs(t.second) < largest_number; });
  return exact && std::abs(r.number) < largest_number ? r : opaque(n);
}

interval range_of(const program &p, const affine &a) {
  interval r = range_of(p, a.form);
  for (std::int64_t *end : {&r.least, &r.most})
    if (std::abs(*end) != interval::infinite) *end += a.number;
  return r;
}

std::vector<position_set> positions_where(const program &p, node_id condition, bool is_true) {
  return set_finder(p).where(condition, is_true);
}

bool all_bound_distance(const std::vector<position_set> &sets, const std::vector<axis_id> &keys,
                        const std::function<bool(const interval &)> &is) {
  const auto bounds = [&](const auto &of) {
    const auto &[form, where] = of;
    const auto d = difference_in(form);
    if (!d || has(keys, d->first) == has(keys, d->second)) return false;
    return is(has(keys, d->first) ? where : interval{-where.most, -where.least});
  };
  return !sets.empty() && std::all_of(sets.begin(), sets.end(), [&](const position_set &s) {
    return std::any_of(s.begin(), s.end(), bounds);
  });
}

}  // namespace qkv::codegen
