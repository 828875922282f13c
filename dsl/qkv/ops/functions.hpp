// SPDX-License-Identifier: BSL-1.0
#pragma once
// Functions of one number.
#include <concepts>

#include <qkv/core/after_softmax.hpp>
#include <qkv/core/call.hpp>
#include <qkv/core/slips.hpp>
#include <qkv/core/treatment.hpp>

namespace qkv {
namespace detail {
namespace rule {

template <op Kind>
struct function {
  static constexpr op kind = Kind;
  static constexpr label_text form = label_text() << name_of(kind) << "(x)";
  static constexpr sv call = form.view();
  static constexpr axes over{};
  static constexpr bool is_0_at_0 = kind == op::log1p || kind == op::tanh || kind == op::relu ||
                                    kind == op::gelu || kind == op::silu || kind == op::elu ||
                                    kind == op::sqrt || kind == op::abs || kind == op::erf ||
                                    kind == op::sin;
  constexpr text check(const info &x) const {
    message m;
    if (x.m.type == b8) {
      m.say(name_of(kind), ": ", x.label, " is b8, not a number");
      if (kind == op::abs) m.say("did you mean abs(a - b) <= c?");
      return m.say("if it is meant, where(", x.label, ", 1, 0) is a number").show(x);
    }
    if (bends_weights(m, kind, x) || (kind == op::log && lacks_exp_in_log(m, x))) return m;
    if (!x.number()) return m;
    return m.say(name_of(kind), ": takes a step of the kernel, not a number")
        .say("write the number itself");
  }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const {
    marks m = bent(x.m, result_type(kind, x.m.type));
    const auto stays = [&](treatment by) { return is_done(x, by); };
    if ((kind == op::exp && stays(treatment::shifted)) ||
        ((kind == op::cos || kind == op::sin) && is_counted(x)))
      m.done = x.m.done;
    m.hidden.gated = x.m.hidden.gated && is_0_at_0;
    m.given = x.m.given && kind == op::log;  // of sizes or of a mask: a bias of keys
    return m;
  }
};

}  // namespace rule

template <op Kind, class X>
concept function_fits = traced<X> && fits<rule::function<Kind>{}, X>;
template <op Kind, class X>
constexpr auto function(const X &x) {
  return make_step<rule::function<Kind>{}>(x);
}

template <op Kind, class Brackets, class... T>
using wrong_function = wrong_call<rule::function<Kind>, Brackets, T...>;

// Axes and whole numbers have overloads of their own (ops/sqrt_size.hpp).
template <class... T>
struct sqrt_call : call_check<rule::function<op::sqrt>, brackets<>, T...> {};
template <class T>
  requires(an_axis<T> || std::integral<T>)
struct sqrt_call<T> {
  static constexpr bool passes = true;
};

// A number of C++. Its function is that of C++, which needs no header when written so.
template <class T>
concept a_number = std::integral<T> || std::floating_point<T>;
template <class T>
using as_real = std::conditional_t<std::floating_point<T>, T, double>;

}  // namespace detail

// Computes: the function of its name at each position; gelu is x * (1 + erf(x / sqrt(2))) / 2, silu
//           x * sigmoid(x), elu exp(x) - 1 below 0, softplus log(1 + exp(x)), rsqrt 1 / sqrt(x);
//           log1p log(1 + x), which keeps its precision near 0.
// Shapes:   as x.
// Numerics: f32 or f64; abs and relu of integers stay i32. A masked position stays masked. The
//           largest errors are those of op_table (core/op.hpp) on CPUs, through CUDA and through
//           PoCL; sin and cos are the target library's. On other OpenCL devices, division and sqrt
//           are off by up to 3 ulp more, and denormal numbers may become 0. Inside softmax and
//           logsumexp, exp is within 2 ulp of the largest weight; weights below 2^-126 may be 0.
//           NaN gives NaN, infinities give the limit: silu and gelu are 0 at -inf.
//           Of a number, exp, log, tanh, sqrt, abs, erf, cos and sin are those of C++.
// Errors:   x is a b8; exp, tanh, sigmoid, gelu, silu, elu or softplus of weights; log of a sum of
//           scores.
template <class X>
  requires detail::function_fits<core::op::exp, X>
constexpr auto exp(X x) {
  return detail::function<core::op::exp>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::exp, detail::brackets<Ax...>, T...>>
Err exp(T...);
template <detail::a_number T>
constexpr auto exp(T number) {
  return static_cast<detail::as_real<T>>(__builtin_exp(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::log, X>
constexpr auto log(X x) {
  return detail::function<core::op::log>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::log, detail::brackets<Ax...>, T...>>
Err log(T...);
template <detail::a_number T>
constexpr auto log(T number) {
  return static_cast<detail::as_real<T>>(__builtin_log(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::log1p, X>
constexpr auto log1p(X x) {
  return detail::function<core::op::log1p>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::log1p, detail::brackets<Ax...>, T...>>
Err log1p(T...);
template <detail::a_number T>
constexpr auto log1p(T number) {
  return static_cast<detail::as_real<T>>(__builtin_log1p(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::tanh, X>
constexpr auto tanh(X x) {
  return detail::function<core::op::tanh>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::tanh, detail::brackets<Ax...>, T...>>
Err tanh(T...);
template <detail::a_number T>
constexpr auto tanh(T number) {
  return static_cast<detail::as_real<T>>(__builtin_tanh(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::sigmoid, X>
constexpr auto sigmoid(X x) {
  return detail::function<core::op::sigmoid>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::sigmoid, detail::brackets<Ax...>, T...>>
Err sigmoid(T...);
template <class X>
  requires detail::function_fits<core::op::relu, X>
constexpr auto relu(X x) {
  return detail::function<core::op::relu>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::relu, detail::brackets<Ax...>, T...>>
Err relu(T...);
template <class X>
  requires detail::function_fits<core::op::gelu, X>
constexpr auto gelu(X x) {
  return detail::function<core::op::gelu>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::gelu, detail::brackets<Ax...>, T...>>
Err gelu(T...);
template <class X>
  requires detail::function_fits<core::op::silu, X>
constexpr auto silu(X x) {
  return detail::function<core::op::silu>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::silu, detail::brackets<Ax...>, T...>>
Err silu(T...);
template <class X>
  requires detail::function_fits<core::op::elu, X>
constexpr auto elu(X x) {
  return detail::function<core::op::elu>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::elu, detail::brackets<Ax...>, T...>>
Err elu(T...);
template <class X>
  requires detail::function_fits<core::op::softplus, X>
constexpr auto softplus(X x) {
  return detail::function<core::op::softplus>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::softplus, detail::brackets<Ax...>, T...>>
Err softplus(T...);
template <class X>
  requires detail::function_fits<core::op::sqrt, X>
constexpr auto sqrt(X x) {
  return detail::function<core::op::sqrt>(x);
}
template <class... T, class Err = detail::refusal<detail::sqrt_call<T...>>>
Err sqrt(T...);
template <std::floating_point T>
constexpr T sqrt(T number) {
  return static_cast<T>(__builtin_sqrt(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::rsqrt, X>
constexpr auto rsqrt(X x) {
  return detail::function<core::op::rsqrt>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::rsqrt, detail::brackets<Ax...>, T...>>
Err rsqrt(T...);
template <class X>
  requires detail::function_fits<core::op::abs, X>
constexpr auto abs(X x) {
  return detail::function<core::op::abs>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::abs, detail::brackets<Ax...>, T...>>
Err abs(T...);
template <detail::a_number T>
constexpr T abs(T number) {
  return number < 0 ? -number : number == 0 ? 0 : number;  // 0 of -0.0, too
}
template <class X>
  requires detail::function_fits<core::op::erf, X>
constexpr auto erf(X x) {
  return detail::function<core::op::erf>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::erf, detail::brackets<Ax...>, T...>>
Err erf(T...);
template <detail::a_number T>
constexpr auto erf(T number) {
  return static_cast<detail::as_real<T>>(__builtin_erf(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::cos, X>
constexpr auto cos(X x) {
  return detail::function<core::op::cos>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::cos, detail::brackets<Ax...>, T...>>
Err cos(T...);
template <detail::a_number T>
constexpr auto cos(T number) {
  return static_cast<detail::as_real<T>>(__builtin_cos(static_cast<double>(number)));
}
template <class X>
  requires detail::function_fits<core::op::sin, X>
constexpr auto sin(X x) {
  return detail::function<core::op::sin>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_function<core::op::sin, detail::brackets<Ax...>, T...>>
Err sin(T...);
template <detail::a_number T>
constexpr auto sin(T number) {
  return static_cast<detail::as_real<T>>(__builtin_sin(static_cast<double>(number)));
}

}  // namespace qkv
