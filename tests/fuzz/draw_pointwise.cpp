// SPDX-License-Identifier: BSL-1.0
// Steps that work on one position at a time.
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {
namespace {

// Those whose results are finite, some of them twice.
std::vector<op> functions_of_any_number() {
  std::vector<op> all;
  for (const core::op_facts &o : core::op_table)
    if (core::is_function_of_one_number(o.kind) && o.finite && o.kind != op::exp)
      all.push_back(o.kind);
  all.insert(all.end(), {op::neg, op::tanh, op::sigmoid});
  return all;
}

}  // namespace

int drawer::unary() {
  const int x = pick([&](int v) { return tensor(v) && (number(v) || d_.chance(0.2)); });
  if (x < 0) return x;
  const bool wild = d_.chance(0.06);
  switch (d_.below(16)) {
    case 0:
      return put(op::exp, {wild ? x : put(op::min, {x, literal(3)})});
    case 1:
      return put(op::exp, {put(op::neg, {put(op::abs, {x})})});
    case 2:
      return put(op::log, {wild ? x : put(op::add, {put(op::abs, {x}), literal(0.5)})});
    case 3:
      return put(op::sqrt, {wild ? x : put(op::abs, {x})});
    case 4:
      return put(op::rsqrt, {wild ? x : put(op::add, {put(op::mul, {x, x}), literal(0.25)})});
    case 5:
      return put(op::log, {put(op::sigmoid, {put(op::max, {x, literal(-30)})})});
    case 6:
      return put(op::log1p, {wild ? x : put(op::max, {x, literal(-0.75)})});
    default:
      return put(d_.one_of(functions_of_any_number()), {x});
  }
}

// A second operand for x: a number, another step, a new argument, positions, or a statistic of x
// itself.
int drawer::partner(int x) {
  const std::vector<int> of_x = axes(x);
  switch (d_.below(10)) {
    case 0:
    case 1:
      return literal(d_.one_of(std::vector<double>{0.5, 2, -1.5, 0.125, 3, 1, -1, 0, 0.3}));
    case 2:
    case 3:
    case 4:
      return pick([&](int v) {
        return v != x && tensor(v) && (of(v).s.contains(of(x).s) || of(x).s.contains(of(v).s));
      });
    case 5:
      return positions(of_x);
    case 6:
      if (of_x.empty()) return -1;
      return put(d_.one_of(std::vector<op>{op::mean, op::max_over, op::min_over, op::sum}), {x},
                 {d_.one_of(of_x)});
    default: {
      std::vector<int> list = some(of_x, 0.6);
      if (d_.chance(0.3)) d_.shuffle(list);
      return argument(list);
    }
  }
}

int drawer::binary() {
  const int x = pick([&](int v) { return tensor(v) && (number(v) || d_.chance(0.2)); });
  if (x < 0) return x;
  int y = partner(x);
  if (y < 0) return y;
  const op kind = d_.one_of(std::vector<op>{op::add, op::add, op::sub, op::sub, op::mul, op::mul,
                                            op::div, op::min, op::max, op::pow});
  if (kind == op::pow)
    return put(op::pow, {put(op::add, {put(op::abs, {x}), literal(0.5)}),
                         literal(d_.one_of(std::vector<double>{2, 0.5, -1, 1.5}))});
  if (kind == op::div && !d_.chance(0.05) && !l_[y].x.number())
    y = put(op::add, {put(op::abs, {y}), literal(0.5)});
  if (y < 0) return y;
  if (kind == op::div && l_[y].x.number() && l_[y].number == 0) return -1;
  return d_.chance(0.3) ? put(kind, {y, x}) : put(kind, {x, y});
}

int drawer::choice() {
  const int x = pick([&](int v) { return tensor(v) && of(v).m.type != b8; });
  if (x < 0) return x;
  const int c = condition(axes(x));
  int y = partner(x);
  if (d_.chance(0.1)) y = whole(d_.below(3));
  if (d_.chance(0.4))
    y = literal(
        d_.one_of(std::vector<double>{0, 0, 1, -1e9, -std::numeric_limits<double>::infinity()}));
  return d_.chance(0.5) ? put(op::where, {c, x, y}) : put(op::where, {c, y, x});
}

int drawer::conversion() {
  const int x = pick([&](int v) { return tensor(v); });
  if (x < 0) return x;
  if (d_.chance(0.15)) return put(word::plain, {x});
  return put(op::cast, {x}, {},
             d_.one_of(std::vector<dtype>{i32, b8, f32, f32, bf16, f16, main_type_, main_type_}));
}

// Dropout, and plain random numbers.
int drawer::noise() {
  const int x = pick_number();
  if (x < 0) return x;
  const int seed = d_.chance(0.3) ? whole(d_.below(100)) : input(i32, {});
  const int random = put(op::uniform, {seed}, axes(x));
  if (d_.chance(0.2)) return put(op::add, {x, random});
  const double p = d_.one_of(std::vector<double>{0.1, 0.5, 0.9});
  if (d_.chance(0.3)) return put(op::where, {put(op::less, {random, literal(p)}), literal(0), x});
  const dtype type = detail::as_float(of(x).m.type);
  const int kept = put(op::cast, {put(op::greater_equal, {random, literal(p)})}, {}, type);
  return put(op::mul, {put(op::mul, {x, kept}), literal(1 / (1 - p))});
}

}  // namespace qkv::fuzz
