// SPDX-License-Identifier: BSL-1.0
#pragma once
// The words of the signature of a kernel: in, param, out, outs.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

constexpr marks declared_marks(const entries &e) {
  marks m;
  m.fault.twice = e.twice;
  m.fault.stray = e.stray;
  m.type = e.type;
  return m;
}
constexpr marks input_marks(const entries &e) {
  marks m = declared_marks(e);
  m.given = true;
  return m;
}
constexpr marks param_marks(const entries &e) {
  marks m = declared_marks(e);
  m.param = true;
  return m;
}

constexpr form input_form(const entries &e) {
  return e.twice || e.stray ? form::misdeclared : form::tensor;
}
template <auto... A>
inline constexpr entries listed_entries{A...};
template <str Name, marks (&Meaning)(const entries &), auto... A>
using declared = facts<Name, listed_entries<A...>.shape, Meaning(listed_entries<A...>), false,
                       input_form(listed_entries<A...>)>;

namespace rule {

// A returned expression against the declared result.
struct result {
  sv name;
  axes declared;
  dtype type;

  constexpr text check(const info &x) const {
    message m;
    if (!x.tensor()) return m.say("result ", name, ": ", x.label, " meets no input of the kernel");
    const axes missing = declared.without(x.s), extra = x.s.without(declared);
    if (!extra.empty()) {
      m.say("result ", name, ": ", extra, " is not declared");
      if (const text fix = split_fix(x, extra, missing); !fix.empty()) {
        m.say(fix);
      } else if (!missing.empty()) {
        m.say("declared instead: ", missing);
      } else {
        m.say("contract or reduce it, or declare it");
      }
    } else if (!missing.empty()) {
      m.say("result ", name, ": ", missing, " is declared but not returned");
    } else if (sizes_agree(m, x) && types_agree(m, x)) {
      return m;
    }
    return m.show_shape(name, declared).show_shape("returned", x.s);
  }

  // Query heads beside key heads: grouped heads that were not split.
  constexpr text split_fix(const info &x, const axes &extra, const axes &missing) const {
    text t;
    for (const axis_data *one : extra.batch())
      for (const axis_data *other : x.s.common(declared).batch()) {
        const bool more = one->size > other->size;
        const axis_data *many = more ? one : other, *few = more ? other : one;
        if (few->size < 1 || many->size == few->size || many->size % few->size) continue;
        const bool named = missing.n == 1 && missing[0]->size == many->size / few->size;
        return t << "grouped heads? split<" << many->name << ", " << few->name << ", "
                 << (named ? missing[0]->name : "group") << ">(Q)";
      }
    return t;
  }
  constexpr bool sizes_agree(message &m, const info &x) const {
    for (const axis_data *a : declared) {
      const axis_data *b = x.s.find(a);
      if (same_size(a, b) && a->batch == b->batch) continue;
      if (a->size == b->size) {
        m.say("result ", name, ": two different axes are named ", a->name);
      } else {
        m.say("result ", name, ": ", a->name, " is ", size_of_axis(a), " as declared but ",
              size_of_axis(b), " as returned");
      }
      return false;
    }
    return true;
  }
  constexpr bool types_agree(message &m, const info &x) const {
    const bool same_precision = (type == f64) == (x.m.type == f64) || !is_float(x.m.type);
    if ((is_float(type) && same_precision) || type == x.m.type || (type == i32 && x.m.type == b8))
      return true;
    m.say("result ", name, ": declared ", name_of(type), " but returned ", name_of(x.m.type))
        .say("if it is meant, cast<", name_of(type), ">(", x.label, ")");
    return false;
  }
};

}  // namespace rule

// As many results as declared.
template <std::size_t Declared, std::size_t Returned>
struct result_count {
  static constexpr text why() {
    message m;
    if (Declared != Returned) {
      m.say("results: ", long{Declared}, " declared, ", long{Returned}, " returned");
      if (Declared == 1) m.say("several results are declared as outs<out<...>, out<...>>");
    }
    return m;
  }
};

// Several results are returned in braces.
template <class Results>
struct results_in_one {
  static constexpr bool passes = true;
};
template <template <class...> class List, class X, class... More>
  requires(traced<X> && (traced<More> && ...))
struct results_in_one<List<X, More...>> {
  static constexpr bool passes = false;
  static constexpr text why() {
    message m;
    m.say("results: several in one object").say("did you mean return {", of<X>.label);
    ((m << ", " << of<More>.label), ...);
    m << "};?";
    return m;
  }
};

// A scan is returned as it is.
template <sv const &Name, class X>
struct whole_scan {
  static constexpr bool passes = !requires(X x) {
    x.result;
    x.last;
  };
  static constexpr text why() {
    message m;
    return m.say("result ", Name, ": a scan has two results").say("did you mean .result or .last?");
  }
};

template <str Name, axes Declared, dtype Type>
struct result_rule {
  static constexpr text check(const info &x) {
    return rule::result{Name.view(), Declared, Type}.check(x);
  }
};

constexpr void put_output(graph &g, int value, sv name, const axes &shape, dtype type) {
  if (g[value].type != type) {
    node n;
    n.kind = op::cast;
    n.type = type;
    n.a = value;
    n.shape = g[value].shape;
    value = g.put(n);
  }
  node n;
  n.kind = op::output;
  n.type = type;
  n.a = value;
  n.label = name;
  n.shape = shape;
  g.put(n);
}

}  // namespace detail

// An input that changes with every call: in<"Q", batch, seq, d_k>, in<"len", i32, batch>. Compilers
// print the name of the pack where it is given a type of C++: in<"Q", float, batch>.
template <str Name, auto... AxesOrF32F16I32B8>
  requires core::a_name_in_quotes<Name>
using in = detail::expr_of<detail::declared<Name, detail::input_marks, AxesOrF32F16I32B8...>::v>;

// A parameter of the model: the same in every call, shared by the batch.
template <str Name, auto... AxesOrF32F16I32B8>
  requires core::a_name_in_quotes<Name>
using param = detail::expr_of<detail::declared<Name, detail::param_marks, AxesOrF32F16I32B8...>::v>;

// A result, made of the expression that the kernel returns. Errors: axes, sizes or type other than
// declared.
template <str Name, auto... AxesOrF32F16I32B8>
  requires core::a_name_in_quotes<Name>
struct out {
  static constexpr core::sv name = Name.view();
  static constexpr core::entries declared{AxesOrF32F16I32B8...};
  static constexpr core::axes shape = declared.shape;
  static constexpr dtype type = declared.type;
  static constexpr detail::result_rule<Name, shape, type> rule{};

  template <traced X>
    requires detail::fits<rule, X>
  constexpr out(X x) {
    detail::put_output(*x.g, x.id, name, shape, type);
  }
  // A constructor cannot return an error. g++ reports an incomplete default argument on the user's
  // line; clang would report it here, so for clang the constructor is deleted and the text is in
  // the note.
#if defined(__clang__)
  template <operand X, class Err = detail::misfit<rule, X>>
  out(X) = delete;
#else
  template <operand X, detail::an_error Err = detail::misfit<rule, X>>
  out(X, Err = {});
#endif
  // A misdeclared input was reported at its use: no second error here.
  template <class X>
    requires(detail::of<X>.kind == core::form::misdeclared)
  constexpr out(X) {}
  template <operand X, operand... More,
            class Err = detail::refusal<detail::result_count<1, 1 + sizeof...(More)>>>
  out(X, More...) = delete;
  template <class X, class Err = detail::refusal<detail::whole_scan<name, X>>>
  out(X) = delete;
};

// Several results: -> outs<out<"O", ...>, out<"lse", ...>> and return {o, lse};
template <class... Out>
struct outs {
  constexpr outs(Out...) {}
  template <operand... X,
            class Err = detail::refusal<detail::result_count<sizeof...(Out), sizeof...(X)>>>
  outs(X...) = delete;
  template <class Results, class Err = detail::refusal<detail::results_in_one<Results>>>
  outs(Results) = delete;
#if !defined(__clang__)
  // Only an ellipsis takes what has no type since its own error is reported already: without it,
  // g++ would add that the braces do not convert.
  __attribute__((error("return {..}: one of these is not a step"))) outs(...);
#endif
};

}  // namespace qkv
