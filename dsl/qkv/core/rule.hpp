// SPDX-License-Identifier: BSL-1.0
#pragma once
// The checks that several of the language's rules share. A rule is a structural value with kind,
// over, check(operands) -> text, shape and meaning; see core/step.hpp.
#include <qkv/core/checked.hpp>
#include <qkv/core/types.hpp>

namespace qkv::detail {

// An expression of positions alone has no kernel to be computed in.
constexpr bool needs_input(message &m, const call_name &call, const info &x) {
  if (x.tensor()) return false;
  m.say(call, ": ", x.label, " meets no input of the kernel")
      .say("combine it with a step of the kernel first");
  return true;
}

// An axis named in the call and the axis of that name in an operand.
constexpr bool other_axis(message &m, const call_name &call, const axis_data *named,
                          const info &x) {
  if (!x.s.has(named)) return false;
  const axis_data *there = x.s.find(named);
  if (same_size(named, there) && named->batch == there->batch) return false;
  if (named->size != there->size) {
    m.say(call, ": ", named->name, " is ", size_of_axis(there), " in ", x.label, ", not ",
          size_of_axis(named));
  } else {
    m.say(call, ": two different axes are named ", named->name);
  }
  m.show(x);
  return true;
}

constexpr bool lacks_axis(message &m, const call_name &call, const axes &over, const info &x) {
  for (const axis_data *a : over) {
    if (other_axis(m, call, a, x)) return true;
    if (x.s.has(a)) continue;
    m.say(call, ": no axis ", a->name, " in ", x.label);
    m.show(x);
    return true;
  }
  return false;
}

// The last axis is the likely one: other libraries count it as -1.
constexpr void say_last_axis(message &m, sv call, const info &x) {
  if (!x.s.empty()) m.say("did you mean ", call, "<", x.s[x.s.n - 1]->name, ">(", x.label, ")?");
}

constexpr bool names_no_axis(message &m, sv call, const axes &over, const info &x) {
  if (!over.empty()) return false;
  m.say(call, ": names no axis");
  say_last_axis(m, call, x);
  m.show(x);
  return true;
}

// Axes of one name must be the same axis.
constexpr bool sizes_differ(message &m, const call_name &call, const info &l, const info &r) {
  for (const axis_data *a : l.s) {
    if (!r.s.has(a)) continue;
    const axis_data *b = r.s.find(a);
    if (same_size(a, b) && a->batch == b->batch) continue;
    if (a->size != b->size) {
      m.say(call, ": ", a->name, " is ", size_of_axis(a), " in ", l.label, " but ", size_of_axis(b),
            " in ", r.label);
    } else {
      m.say(call, ": two different axes are named ", a->name);
    }
    m.show(l, r);
    return true;
  }
  return false;
}

constexpr bool too_many_axes(message &m, const call_name &call, const axes &result) {
  if (!result.too_many()) return false;
  m.say(call, ": the result has more than ", long{max_axes}, " axes");
  return true;
}

// f64 combines with f64 only; the spec must round or widen the other operand itself. Whole numbers,
// numbers and positions follow.
constexpr bool mixed_precision(message &m, const call_name &call, const info &l, const info &r) {
  const bool wide_l = l.m.type == f64, wide_r = r.m.type == f64;
  const info &narrow = wide_l ? r : l;
  if (wide_l == wide_r || !narrow.tensor() || !is_float(narrow.m.type)) return false;
  m.say(call, ": ", l.label, " is ", name_of(l.m.type), " but ", r.label, " is ", name_of(r.m.type))
      .say("did you mean cast<f64>(", narrow.label, ")?")
      .show(l, r);
  return true;
}

constexpr bool not_logical(message &m, const call_name &call, const info &x) {
  if (x.m.type == b8) return false;
  m.say(call, ": ", x.label, " is ", name_of(x.m.type), ", not b8");
  if (call.name == name_of(op::not_) && x.index())
    m.say("did you mean !(", x.label, " < ..)? ! binds more tightly than <");
  else
    m.say("did you mean ", x.label, x.index() && x.s.n == 2 ? " >= 0?" : " != 0?");
  m.show(x);
  return true;
}

// A refusal with another likely fix in place of those that it offers.
constexpr text with_fix(const text &t, const text &fix) {
  constexpr sv insist = "if it is meant";
  message m;
  for (sv rest = t.view(); !rest.empty();) {
    const sv line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + (line.size() < rest.size()));
    const bool first = m.empty();
    if (!line.starts_with("did you mean"))
      m.say(line);
    else if (const std::size_t at = line.find(insist); at != sv::npos)
      m.say(line.substr(at));
    if (first) m.say("did you mean ", fix, "?");
  }
  return m;
}

namespace rule {

// A call that carries axes, although no step of its formula requires them.
template <str Name>
struct carries {
  axes call{}, needed = call;
  constexpr text check(const info &x) const {
    message m;
    lacks_axis(m, {Name.view(), call}, needed, x);
    return m;
  }
};

// A factor or a term that varies along axes of x alone, although it could have more; along some of
// those that are normalised, or along batch axes.
template <str Name>
struct within {
  axes call{};
  constexpr text check(const info &part, const info &x) const {
    message m;
    const call_name name{Name.view(), call};
    if (sizes_differ(m, name, x, part)) return m;
    if (!x.s.contains(part.s))
      return m
          .say(name, ": ", part.label, " varies along ", part.s.without(x.s), ", which ", x.label,
               " lacks")
          .show(x, part);
    const axes along = part.s.non_batch();
    if (!along.empty() && along.common(call).empty())
      m.say(name, ": ", part.label, " varies along ", along, ", which is not normalised")
          .say("did you mean ", Name.view(), "<", along, ">? if it is meant, ", name, "(", x.label,
               ") * ", part.label)
          .show(x, part);
    return m;
  }
};

}  // namespace rule

// A rule applied to the types of its operands.
template <auto Rule, class... X>
struct applied {
  static constexpr text why() { return Rule.check(of<X>...); }
  // Not why().empty(): a right call instantiates one function fewer.
  static constexpr bool passes = Rule.check(of<X>...).empty();
};
// Inside a formula any operands fit: there make_step() checks the rule, outside of it this does.
template <auto Rule, class... X>
inline constexpr bool fits = applied<Rule, X...>::passes;
template <auto Rule, class... X>
  requires in_formula<X...>
inline constexpr bool fits<Rule, X...> = true;
template <auto Rule, class... X>
  requires(!in_formula<X...>)
using misfit = refusal<applied<Rule, X...>>;

}  // namespace qkv::detail
