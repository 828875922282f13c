// SPDX-License-Identifier: BSL-1.0
// Reductions, weights, products and recurrences.
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

int drawer::reduction() {
  const int x = pick([&](int v) { return tensor(v) && of(v).m.type != b8 && !axes(v).empty(); });
  if (x < 0) return x;
  if (!in_scan_ && d_.chance(0.25)) return put(op::cumsum, {x}, {d_.one_of(axes(x))});
  std::vector<int> over = some(axes(x), 0.3);
  if (over.empty()) over.push_back(d_.one_of(axes(x)));
  return put(d_.one_of(std::vector<op>{op::sum, op::max_over, op::min_over, op::mean, op::logsumexp,
                                       op::sum}),
             {x}, over);
}

int drawer::weights() {
  int x = pick([&](int v) { return number(v) && !axes(v).empty(); });
  if (x < 0) return x;
  std::vector<int> over = {d_.one_of(axes(x))};
  if (d_.chance(0.1)) over = some(axes(x), 0.5);
  if (d_.chance(0.1))  // a shift that varies
    if (const int shifted = put(op::sub, {x, argument(axes(x))}); shifted >= 0) x = shifted;
  if (d_.chance(0.65)) return put(op::softmax, {x}, over);
  if (!d_.chance(0.1)) x = put(d_.one_of(std::vector<op>{op::relu, op::sigmoid, op::abs}), {x});
  return put(op::normalize, {x}, over);
}

int drawer::product() {
  const int x = pick([&](int v) { return tensor(v) && !axes(v).empty() && of(v).m.type != b8; });
  if (x < 0) return x;
  const std::vector<int> of_x = axes(x);
  if (d_.chance(0.5)) {  // of two steps, over all common axes except some batch axes
    const int y = pick(
        [&](int v) { return tensor(v) && of(v).m.type != b8 && !of(v).s.common(of(x).s).empty(); });
    if (y < 0) return y;
    std::vector<int> over;
    for (int a : of_x)
      if (has(y, a) && (!batch(a) || d_.chance(0.15))) over.push_back(a);
    if (d_.chance(0.05)) return put(op::dot, {x, x}, some(of_x, 0.6));
    return d_.chance(0.5) ? put(op::dot, {x, y}, over) : put(op::dot, {y, x}, over);
  }
  std::vector<int> over = {d_.one_of(of_x)};
  if (d_.chance(0.25)) over.push_back(d_.one_of(of_x));
  if (over.size() > 1 && over[0] == over[1]) over.pop_back();
  std::vector<int> shape = over;
  for (int a : some(of_x, 0.4))
    if (batch(a) && std::find(over.begin(), over.end(), a) == over.end()) shape.push_back(a);
  for (const auto *more : {&features_, &rows_, &batch_})
    for (int a : some(*more, 0.25))
      if (!has(x, a)) shape.push_back(a);
  if (d_.chance(0.4)) d_.shuffle(shape);
  if (d_.chance(0.1))
    return put(op::dot,
               {x, filled(d_.one_of(std::vector<double>{1, -0.5, 3}),
                          of(x).m.type == f64 ? f64 : f32, shape)},
               over);
  if (d_.chance(0.05)) return put(op::dot, {x, put(op::index, {}, {over[0]})}, {over[0]});
  const bool sums_heads = std::any_of(over.begin(), over.end(), [&](int a) { return batch(a); });
  const int y = sums_heads || d_.chance(0.5) ? param(shape) : input(some_type(), shape);
  return d_.chance(0.8) ? put(op::dot, {x, y}, over) : put(op::dot, {y, x}, over);
}

// A state that keeps part of itself and adds something of each position; its steps are drawn as
// those outside.
int drawer::recurrence() {
  if (in_scan_) return -1;
  const int x = pick([&](int v) { return number(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const int along = d_.one_of(axes(x));
  std::vector<int> shape = axes(x);
  std::erase(shape, along);
  for (int a : some(features_, 0.2))
    if (a != along && std::find(shape.begin(), shape.end(), a) == shape.end()) shape.push_back(a);
  const dtype type = of(x).m.type == f64 ? f64 : f32;
  int start = -1;
  if (!shape.empty() && d_.chance(0.6)) {
    start = filled(0, type, shape);
  } else {
    start = input(type, shape);
  }
  const int state = put(op::carried, {start}, {along});
  if (state < 0) return state;
  const values outside = pool_;
  in_scan_ = true;
  int in = put(op::element, {x, state}, {along});
  for (int more = d_.below(3); more > 0; --more) {
    const int y = pick([&](int v) { return number(v) && l_[v].state < 0 && has(v, along); });
    put(op::element, {y, state}, {along});
  }
  std::erase_if(pool_, [&](int v) { return l_[v].state != state && has(v, along); });
  int taken = put(op::cast, {in}, {}, type);
  for (int a : shape)
    if (taken >= 0 && !has(taken, a)) taken = put(op::broadcast, {taken}, {a});
  int next = -1;
  for (int tries = 0; tries < 4 && next < 0; ++tries) {
    const int kept = put(op::mul, {state, literal(d_.one_of(std::vector<double>{0.5, 0.9, -0.3}))});
    for (int extra = d_.below(3); extra > 0; --extra) anything();
    const int add = pick([&](int v) {
      return l_[v].state == state && of(v).s.same_set(of(state).s) && of(v).m.type == type;
    });
    next = put(op::add, {kept, d_.chance(0.4) ? taken : add});
    if (d_.chance(0.3)) next = put(op::tanh, {next});
  }
  if (next >= 0 && d_.chance(0.15)) next = put(op::mask, {next, condition(axes(next))});
  for (int extra = d_.below(4); extra > 0; --extra) anything();
  int y = pick([&](int v) { return l_[v].state == state && of(v).m.type == type; });
  if (y < 0 || d_.chance(0.2)) y = next;
  in_scan_ = false;
  pool_ = outside;
  const int result = put(op::scan, {state, next, y}, {along});
  if (result >= 0 && d_.chance(0.4)) put(op::last, {result}, {along});
  return result;
}

}  // namespace qkv::fuzz
