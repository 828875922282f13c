// SPDX-License-Identifier: BSL-1.0
// The same numbers under other axes, and numbers selected by position.
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

int drawer::view() {
  switch (d_.below(5)) {
    case 0:
    case 1:
      return renamed();
    case 2:
    case 3:
      return divided();
    default: {
      const int x = pick([&](int v) { return tensor(v) && axes(v).size() < 5; });
      if (x < 0) return x;
      std::vector<int> more;
      for (const auto *list : {&features_, &rows_, &batch_})
        for (int a : some(*list, 0.3))
          if (!has(x, a) && more.size() < 2) more.push_back(a);
      return put(op::broadcast, {x}, more);
    }
  }
}

int drawer::renamed() {
  const int x = pick([&](int v) { return tensor(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const int from = d_.one_of(axes(x));
  std::vector<int> to;
  for (const auto *list : {&rows_, &features_})
    for (int a : *list)
      if (!has(x, a) && (size(a) < 0 || size(from) < 0 || size(a) == size(from))) to.push_back(a);
  if (to.empty() || d_.chance(0.3)) to = {fresh_axis(-1, batch(from), from, "a")};
  return put(op::rename, {x}, {from, d_.one_of(to)});
}

// split and merge
int drawer::divided() {
  const int x = pick([&](int v) { return tensor(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const std::vector<int> of_x = axes(x);
  if (of_x.size() > 1 && d_.chance(0.5)) {
    std::vector<int> two = of_x;
    d_.shuffle(two);
    const long whole = size(two[0]) < 0 || size(two[1]) < 0 ? -1 : size(two[0]) * size(two[1]);
    if (whole > 300) return -1;
    const int merged = fresh_axis(whole, d_.chance(0.2), -1, "m");
    return put(op::merge, {x}, {merged, two[0], two[1]});
  }
  const int whole = d_.one_of(of_x);
  long a = 1 + d_.below(4), b = -1;
  if (size(whole) > 0) {
    while (size(whole) % a) --a;
    b = size(whole) / a;
  } else if (d_.chance(0.3)) {
    a = -1;
  }
  const int outer = fresh_axis(a, d_.chance(0.4), -1, "g");
  const int inner = fresh_axis(b, false, -1, "i");
  return put(op::split, {x}, {whole, outer, inner});
}

int drawer::joined() {
  const int x = pick([&](int v) { return tensor(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const std::vector<int> of_x = axes(x);
  const int a = d_.one_of(of_x);
  const int b = fresh_axis(d_.chance(0.4) ? -1 : some_size(), batch(a), -1, "n");
  std::vector<int> shape = of_x;
  std::replace(shape.begin(), shape.end(), a, b);
  const bool named = d_.chance(0.25);
  if (named) {
    shape = some(shape, 0.6);
    if (std::find(shape.begin(), shape.end(), b) == shape.end()) shape.push_back(b);
    for (int f : some(features_, 0.2))
      if (!has(x, f) && f != b) shape.push_back(f);
  }
  int y = input(of(x).m.type, shape);
  if (of(x).m.type == b8 && d_.chance(0.5)) y = put(op::not_, {y});
  const long size_a = size(a), size_b = size(b);
  const int whole = fresh_axis(size_a < 0 || size_b < 0 ? -1 : size_a + size_b, false, -1, "j");
  const bool first = d_.chance(0.6);
  if (named)
    return first ? put(word::joined, {x, y}, {whole, a, b})
                 : put(word::joined, {y, x}, {whole, b, a});
  return first ? put(op::concat, {x, y}, {whole}) : put(op::concat, {y, x}, {whole});
}

int drawer::gathered() {
  const int x = pick([&](int v) { return tensor(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const int a = d_.one_of(axes(x));
  std::vector<int> along;
  for (const auto *list : {&rows_, &batch_, &features_})
    for (int s : some(*list, 0.4))
      if (along.size() < 2) along.push_back(s);
  for (int s : axes(x))
    if (s != a && d_.chance(0.2) && std::find(along.begin(), along.end(), s) == along.end())
      along.push_back(s);
  const int position = d_.chance(0.5) ? input(i32, along) : positions(along);
  return put(op::take, {x, position}, {a});
}

int drawer::sliced() {
  const int x = pick([&](int v) { return tensor(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const int a = d_.one_of(axes(x));
  const long n = size(a), part = n > 0 ? 1 + d_.below(static_cast<int>(n)) : 1 + d_.below(5);
  const int to = fresh_axis(d_.chance(0.8) ? part : -1, false, -1, "p");
  int first = whole(n > 0 ? d_.below(static_cast<int>(n - part) + 1) : d_.below(3));
  if (d_.chance(0.15)) first = input(i32, {});
  if (d_.chance(0.15)) first = put(op::sub, {put(op::size, {}, {a}), put(op::size, {}, {to})});
  return put(word::slice, {x, first}, {a, to});
}

}  // namespace qkv::fuzz
