// SPDX-License-Identifier: BSL-1.0
// Positions, conditions on positions and on inputs, and masks made of them.
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

// index(s), index(kv) - index(s) + 3, size(kv) - 1, an i32 input ..
int drawer::positions(const std::vector<int> &axes) {
  if (axes.empty()) return d_.chance(0.5) ? input(i32, {}) : whole(d_.below(9));
  const int a = d_.one_of(axes), b = d_.one_of(axes);
  const int at = put(op::index, {}, {a});
  switch (d_.below(8)) {
    case 0:
      return put(op::sub, {at, put(op::index, {}, {b})});
    case 1:
      return put(op::sub, {put(op::sub, {put(op::size, {}, {a}), whole(1)}), at});
    case 2:
      return put(op::add, {put(op::sub, {at, put(op::index, {}, {b})}), whole(d_.below(5))});
    case 3:
      return put(op::add, {at, whole(d_.below(7) - 3)});
    case 4:
      return put(op::mul, {at, whole(d_.below(4))});
    case 5:
      return input(i32, some(axes, 0.5));
    case 6:
      return put(op::add, {at, input(i32, {})});
    default:
      return at;
  }
}

int drawer::one_condition(const std::vector<int> &axes) {
  const int a = axes.empty() ? -1 : d_.one_of(axes), b = axes.empty() ? -1 : d_.one_of(axes);
  const std::vector<op> orders = {op::less,          op::less_equal, op::greater,
                                  op::greater_equal, op::equal,      op::not_equal};
  switch (d_.below(a < 0 ? 3 : 11)) {
    case 0:
      return input(b8, some(axes, 0.6));
    case 1: {  // of an existing number
      const int x = pick([&](int v) {
        if (!number(v)) return false;
        const auto of_v = this->axes(v);
        return std::all_of(of_v.begin(), of_v.end(), [&](int s) {
          return std::find(axes.begin(), axes.end(), s) != axes.end();
        });
      });
      return put(d_.one_of(orders), {x, literal(d_.one_of(std::vector<double>{0, 0.3, -0.4}))});
    }
    case 2:  // for the whole call
      if (a >= 0 && d_.chance(0.5))
        return put(op::greater, {put(op::size, {}, {a}), whole(d_.below(40))});
      return d_.chance(0.5) ? input(b8, {}) : put(op::greater, {input(i32, {}), whole(1)});
    case 3:  // a length
      return put(op::less, {put(op::index, {}, {a}), input(i32, some(axes, 0.3))});
    case 4:
      return put(op::less_equal, {put(op::index, {}, {a}), put(op::index, {}, {b})});
    case 5:  // a window
      return put(op::less,
                 {put(op::abs, {put(op::sub, {put(op::index, {}, {a}), put(op::index, {}, {b})})}),
                  d_.chance(0.3) ? input(i32, {}) : whole(1 + d_.below(9))});
    case 6: {  // documents
      std::vector<int> of = some(batch_, 0.5);
      std::erase_if(of,
                    [&](int x) { return std::find(axes.begin(), axes.end(), x) == axes.end(); });
      std::vector<int> other = of;
      of.push_back(a), other.push_back(b);
      if (std::count(of.begin(), of.end(), a) > 1 || std::count(other.begin(), other.end(), b) > 1)
        return -1;
      return put(op::equal, {input(i32, of), input(i32, other)});
    }
    case 7:
      return put(word::causal, {}, {a, b}, a == b ? 0 : d_.below(3));
    default:
      return put(d_.one_of(orders), {positions(axes), positions(axes)});
  }
}

int drawer::condition(const std::vector<int> &axes) {
  const int c = one_condition(axes);
  if (d_.chance(0.7)) return c;
  if (d_.chance(0.2)) return put(op::not_, {c});
  return put(d_.chance(0.6) ? op::and_ : op::or_, {c, one_condition(axes)});
}

int drawer::masked() {
  const int x = pick([&](int v) { return number(v) && !axes(v).empty(); });
  if (x < 0) return x;
  const int c = condition(axes(x));
  return d_.chance(0.15) ? put(word::rows, {x, c}) : put(op::mask, {x, c});
}

}  // namespace qkv::fuzz
