// SPDX-License-Identifier: BSL-1.0
// Graphs that look like attention: projections, scores, scale, bias, mask, weights, gates, values,
// epilogues.
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

// Applies some of the changes of scores that people write, in any order.
int drawer::adjusted(int s, int row, int key) {
  const std::vector<int> of_s = axes(s);
  for (int more = d_.below(4); more > 0 && s >= 0; --more) {
    int next = -1;
    switch (d_.below(11)) {
      case 8: {  // a mask that the call chooses
        const int flag = put(op::greater, {input(i32, {}), whole(0)});
        next = put(op::where, {flag, put(op::mask, {s, condition(of_s)}),
                               d_.chance(0.5) ? s : put(op::mask, {s, condition(of_s)})});
        break;
      }
      case 9: {  // looked up by distance
        if (row < 0) break;
        const int table = fresh_axis(d_.chance(0.5) ? 1 + d_.below(12) : -1, false, -1, "r");
        std::vector<int> of_table = some(batch_, 0.4);
        std::erase_if(of_table, [&](int a) { return !has(s, a); });
        const int middle = d_.chance(0.7) ? whole(d_.below(8)) : put(op::size, {}, {row});
        const int at =
            put(op::add,
                {put(op::sub, {put(op::index, {}, {key}), put(op::index, {}, {row})}), middle});
        if (d_.chance(0.5)) {  // from products of the queries
          of_table = some(of_s, 0.5);
          std::erase(of_table, key);
          std::erase(of_table, row);
          std::vector<int> of_q = of_table, of_r = {table, features_[0]};
          of_q.push_back(row), of_q.push_back(features_[0]);
          if (std::find(of_q.begin(), of_q.end(), features_[0]) + 1 != of_q.end()) break;
          const int product = put(op::dot, {input(some_type(), of_q), param(of_r)}, {features_[0]});
          next = put(op::add, {s, put(op::take, {product, at}, {table})});
          break;
        }
        of_table.push_back(table);
        next = put(op::add, {s, put(op::take, {param(of_table), at}, {table})});
        break;
      }
      case 0:
        next = put(op::mul, {s, literal(d_.one_of(std::vector<double>{0.125, 0.5, 0.25}))});
        break;
      case 1: {
        std::vector<int> shape = some(of_s, 0.6);
        if (std::find(shape.begin(), shape.end(), key) == shape.end()) shape.push_back(key);
        next = put(op::add, {s, argument(shape)});
        break;
      }
      case 2:
        next = put(op::mul, {put(op::tanh, {put(op::div, {s, literal(5)})}), literal(5)});
        break;
      case 3:
        if (row < 0) break;
        next = put(op::sub,
                   {s, put(op::mul, {put(op::abs, {put(op::sub, {put(op::index, {}, {key}),
                                                                 put(op::index, {}, {row})})}),
                                     literal(0.1)})});
        break;
      case 4:
        next = put(op::where, {condition(of_s), s,
                               literal(d_.one_of(std::vector<double>{
                                   -1e9, -std::numeric_limits<double>::infinity()}))});
        break;
      case 5: {
        const int c = condition(of_s);
        const int hidden =
            put(op::where, {c, literal(0), literal(-std::numeric_limits<double>::infinity())});
        next = put(op::add, {s, hidden});
        break;
      }
      case 6:
        if (row >= 0) next = put(op::mask, {s, put(word::causal, {}, {row, key}, d_.below(3))});
        break;
      default:
        next = put(op::mask, {s, condition(of_s)});
    }
    if (next >= 0) s = named(next);
  }
  return s;
}

int drawer::made_weights(int s, int key) {
  const std::vector<int> over = {key};
  int w = -1;
  switch (d_.below(11)) {
    case 5:  // integers
      w = put(op::where, {put(op::greater, {s, literal(0)}), whole(1), whole(0)});
      break;
    case 0:
      w = put(op::normalize, {put(op::relu, {s})}, over);
      break;
    case 1:
      w = put(op::normalize, {put(op::exp, {put(op::min, {s, literal(2)})})}, over);
      break;
    case 2:
      w = put(op::sigmoid, {s});
      break;
    case 3:
      w = put(op::relu, {s});
      break;
    case 4: {
      const int other = put(op::softmax, {put(op::mul, {s, literal(0.5)})}, over);
      w = put(op::sub, {put(op::softmax, {s}, over), put(op::mul, {literal(0.3), other})});
      break;
    }
    default:
      w = put(op::softmax, {s}, over);
  }
  if (w < 0) w = put(op::softmax, {s}, over);
  if (w >= 0 && d_.chance(0.25)) {
    const int gate = put(op::sigmoid, {argument(some(axes(w), 0.7))});
    const int gated = put(op::mul, {w, gate});
    if (gated >= 0) w = gated;
  }
  return w;
}

int drawer::scores(int q, int k, const std::vector<int> &features, int row, int key) {
  int s = put(op::dot, {q, k}, features);
  if (s >= 0 && d_.chance(0.5)) s = put(op::div, {s, put(word::root, {}, {features[0]})});
  return s < 0 ? s : adjusted(s, row, key);
}

// Another sum of the same pairs, or of a product with them, over the keys or over the queries:
// gradients are such sums.
int drawer::another_sum(int pairs, int row, int key) {
  const int wide = d_.one_of(features_);
  const auto input_of = [&](std::vector<int> last) {
    std::vector<int> shape = some(batch_, 0.8);
    shape.insert(shape.end(), last.begin(), last.end());
    return input(some_type(), shape);
  };
  if (pairs >= 0 && row >= 0 && d_.chance(0.5)) {
    const int other = put(op::dot, {input_of({row, wide}), input_of({key, wide})}, {wide});
    const int factor = d_.chance(0.5)
                           ? put(op::sub, {other, put(op::broadcast, {input_of({row})}, {key})})
                           : other;
    pairs = put(op::mul, {pairs, factor});
  }
  if (pairs < 0) return -1;
  const int over = row >= 0 && d_.chance(0.4) ? row : key;
  if (d_.chance(0.3)) return put(op::sum, {pairs}, {over});
  return put(op::dot, {pairs, d_.chance(0.2) ? input_of({over}) : input_of({over, wide})}, {over});
}

int drawer::attention() {
  if (in_scan_) return -1;
  std::vector<int> rows = rows_;
  d_.shuffle(rows);
  const int key = rows[0], row = rows.size() > 1 && d_.chance(0.85) ? rows[1] : -1;
  std::vector<int> feature = features_;
  d_.shuffle(feature);
  const int d = feature[0], e = feature.back();
  const auto shape = [&](double batch, std::vector<int> rest) {
    std::vector<int> s = some(batch_, batch);
    for (int a : rest)
      if (a >= 0) s.push_back(a);
    return s;
  };
  const auto operand = [&](int at, int wide) -> int {
    if (d_.chance(0.25))  // an existing value
      if (const int x = pick([&](int v) { return number(v) && has(v, at) && has(v, wide); });
          x >= 0)
        return x;
    if (d_.chance(0.25) && features_.size() > 1) {  // a projection
      const int model = features_[0] == wide ? features_[1] : features_[0];
      std::vector<int> of_x = some(batch_, 0.5), of_w = {model, wide};
      for (int b : batch_)
        if (d_.chance(0.4) && std::find(of_x.begin(), of_x.end(), b) == of_x.end())
          of_w.push_back(b);
      of_x.push_back(at), of_x.push_back(model);
      d_.shuffle(of_w);
      return put(op::dot, {input(some_type(), of_x), param(of_w)}, {model});
    }
    return input(some_type(), shape(0.8, {at, wide}));
  };
  const int q = row >= 0 ? operand(row, d) : input(some_type(), shape(0.8, {d}));
  const int k = operand(key, d);
  int s = -1;
  if (row >= 0 && d_.chance(0.06)) {  // additive scores
    const int both = put(op::add, {put(op::broadcast, {q}, {key}), put(op::broadcast, {k}, {row})});
    s = put(op::dot, {put(op::tanh, {both}), param({d})}, {d});
  } else {
    s = scores(q, k, {d}, row, key);
  }
  if (s < 0) return s;
  const int w = made_weights(s, key);
  const int v = d_.chance(0.1) ? input(some_type(), shape(0.7, {key})) : operand(key, e);
  const int o = put(op::dot, {w, v}, {key});
  if (d_.chance(0.3)) wanted_.push_back(put(op::logsumexp, {s}, {key}));
  while (d_.chance(0.25))
    if (const int more = another_sum(w, row, key); more >= 0) wanted_.push_back(more);
  if (d_.chance(0.25)) wanted_.push_back(w);
  if (d_.chance(0.1)) wanted_.push_back(s);
  if (o >= 0 && d_.chance(0.3) && has(o, e)) {
    const int model = fresh_axis(some_size(), false, -1, "y");
    std::vector<int> over = {e}, of_w = {model, e};
    for (int b : axes(o))
      if (batch(b) && d_.chance(0.5)) over.push_back(b), of_w.push_back(b);
    return put(op::dot, {o, param(of_w)}, over);
  }
  return o;
}

// Features of queries and keys, contracted without softmax.
int drawer::linear_attention() {
  if (in_scan_ || rows_.size() < 2) return -1;
  const int row = rows_[0], key = rows_[1], d = features_[0], e = features_.back();
  if (d == e) return -1;
  const std::vector<int> b = some(batch_, 0.7);
  const auto shape = [&](int x, int y) {
    std::vector<int> s = b;
    s.push_back(x), s.push_back(y);
    return s;
  };
  const op feature = d_.one_of(std::vector<op>{op::relu, op::sigmoid, op::elu, op::abs});
  const int q = put(feature, {input(some_type(), shape(row, d))});
  const int k = put(feature, {input(some_type(), shape(key, d))});
  const int v = input(some_type(), shape(key, e));
  int s = put(op::dot, {q, k}, {d});
  if (s >= 0 && d_.chance(0.4)) {
    const int hidden = put(op::mask, {s, condition(axes(s))});
    if (hidden >= 0) s = hidden;
  }
  if (d_.chance(0.4)) s = put(op::normalize, {s}, {key});
  return put(op::dot, {s, v}, {key});
}

}  // namespace qkv::fuzz
