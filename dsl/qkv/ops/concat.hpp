// SPDX-License-Identifier: BSL-1.0
#pragma once
// Two tensors one after the other along an axis.
#include <qkv/core/call.hpp>
#include <qkv/core/views.hpp>

namespace qkv {
namespace detail {

// whole = a + b, as far as it is known now.
constexpr bool sum_differs(message &m, const call_name &call, const axis_data *whole,
                           const axis_data *a, const axis_data *b) {
  if (whole->size < 0 || a->size < 0 || b->size < 0 || a->size + b->size == whole->size)
    return false;
  m.say(call, ": ", a->name, " + ", b->name, " is ", a->size + b->size, " but ", whole->name,
        " is ", whole->size);
  return true;
}

namespace rule {

struct concat {
  axes over{};             // the whole, what a has of it, what b has (one axis may be both)
  bool all_named = false;  // else the other axes must be equal
  static constexpr op kind = op::concat;

  constexpr const axis_data *part_of_b() const { return over[over.n - 1]; }

  constexpr text check(const info &a, const info &b) const {
    message m;
    const call_name call{"concat", one_axis(over[0])};
    if (over.n < 2 || lacks_axis(m, call, one_axis(over[1]), a) ||
        lacks_axis(m, call, one_axis(part_of_b()), b)) {
      if (m.empty()) {
        m.say(call, ": which axes are joined? ", a.label, " and ", b.label,
              " must differ in one each")
            .say("name them: concat<", over[0]->name, ", of_first, of_second>")
            .show(a, b);
      }
      return m;
    }
    const info rest_a = {a.label, a.s.without(one_axis(over[1])), a.m, a.kind},
               rest_b = {b.label, b.s.without(one_axis(part_of_b())), b.m, b.kind};
    for (const info *x : {&rest_a, &rest_b})
      if (x->s.has(over[0]))
        return m.say(call, ": ", x->label, " already has ", over[0]->name).show(a, b);
    if (sizes_differ(m, call, rest_a, rest_b)) return m;
    if (!all_named && !rest_a.s.same_set(rest_b.s)) {
      return m.say(call, ": the other axes differ: ", rest_a.s, " and ", rest_b.s).show(a, b);
    }
    if (a.m.type != b.m.type) {
      return m
          .say(call, ": ", a.label, " is ", name_of(a.m.type), " but ", b.label, " is ",
               name_of(b.m.type))
          .show(a, b);
    }
    if (sum_differs(m, call, over[0], a.s.find(over[1]), b.s.find(part_of_b())) ||
        too_many_axes(m, call, shape(a, b)))
      m.show(a, b);
    return m;
  }
  constexpr axes shape(const info &a, const info &b) const {
    return replace(a.s, one_axis(over[1]), one_axis(over[0]))
        .with(b.s.without(one_axis(part_of_b())));
  }
  constexpr marks meaning(const info &a, const info &b) const {
    marks m = values(a.m, a.m.type);
    m.param = a.param() && b.param();
    return m;
  }
};

// The axes of a and b that the other lacks, when each has one.
constexpr concat joined(const axis_data *whole, const info &a, const info &b) {
  axes over = one_axis(whole);
  const axes of_a = a.s.without(b.s), of_b = b.s.without(a.s);
  if (of_a.n == 1 && of_b.n == 1) over.add(of_a).add(of_b);
  return {over, false};
}

// As a call names them: the whole, or all three.
struct concat_call {
  axes over{};
  static constexpr sv call = "concat<whole[, of_first, of_second]>(first, second)";
  constexpr text check(const info &a, const info &b) const {
    return over.n == 1 ? joined(over[0], a, b).check(a, b) : concat{over, true}.check(a, b);
  }
};

}  // namespace rule

template <auto Whole, class A, class B>
inline constexpr rule::concat concat_of = rule::joined(data_of<Whole>, of<A>, of<B>);
template <auto Whole, auto A, auto B>
inline constexpr rule::concat concat_named = {core::axes_of<Whole, A, B>(), true};

}  // namespace detail

// The whole; the parts follow from the operands: concat<kv>(past, now).
// Computes: a, then b, along Whole. The axes that are joined are those that the other lacks.
// Shapes:   a[.., p], b[.., n] -> [.., Whole], size(Whole) = size(p) + size(n); the other axes
//           equal.
// Numerics: no arithmetic; one dtype.
// Errors:   no axis, or more than one, that the other lacks; sizes that do not add up (what is not
//           static is compared at the call); different dtypes.
template <an_axis auto Whole, traced A, traced B>
  requires detail::fits<detail::concat_of<Whole, A, B>, A, B>
constexpr auto concat(A a, B b) {
  return detail::make_step<detail::concat_of<Whole, A, B>>(a, b);
}

// The same where the joined axes are named, OfA of a and OfB of b: the other axes may then differ,
// and the result has all of them (Luong's [query; key] of every pair).
template <an_axis auto Whole, an_axis auto OfA, an_axis auto OfB, traced A, traced B>
  requires detail::fits<detail::concat_named<Whole, OfA, OfB>, A, B>
constexpr auto concat(A a, B b) {
  return detail::make_step<detail::concat_named<Whole, OfA, OfB>>(a, b);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::concat_call, detail::brackets<Ax...>, T...>>
Err concat(T...);

}  // namespace qkv
