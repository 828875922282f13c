// SPDX-License-Identifier: BSL-1.0
#pragma once
// The meaning of each pointwise operation, once, for any kind of numbers: the interpreter computes
// it in long double, double or float, a writer as an expression of its compiler. The derivative of
// those of one number, for which a gradient writes steps.
//
// M is a kind of numbers: their type T, the primitive operations (exp, less, choose, ..), and
// possibly realised<Kind>(x, y), its own implementation of an operation.
//
// NaN and infinities are as in IEEE 754: a comparison with NaN is false, min and max of NaN are
// NaN. silu and gelu are 0 at -inf, their limit.
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// cast needs a type, where has three operands: they have no meaning here.
constexpr bool has_meaning(op o) { return is_pointwise(o) && o != op::cast && o != op::where; }
constexpr bool has_derivative(op o) { return is_unary(o) && has_meaning(o) && o != op::not_; }

template <op Kind, class M>
typename M::T unary_meaning(const typename M::T &x) {
  const auto number = [&](auto value) { return M::number(x, value); };
  const auto sigmoid = [&](const typename M::T &numerator) {
    return M::div(numerator, M::add(number(1), M::exp(M::neg(x))));
  };
  // log(1 + z) from sum = 1 + z: what rounding takes off the sum is a factor of its logarithm
  const auto log_of_sum = [&](const typename M::T &sum, const typename M::T &z) {
    return M::choose(M::equal(sum, number(1)), z,
                     M::div(M::mul(M::log(sum), z), M::sub(sum, number(1))));
  };
  if constexpr (Kind == op::neg) {
    return M::neg(x);
  } else if constexpr (Kind == op::not_) {
    return M::truth(!M::is_true(x));
  } else if constexpr (Kind == op::exp) {
    return M::exp(x);
  } else if constexpr (Kind == op::log) {
    return M::log(x);
  } else if constexpr (Kind == op::log1p) {
    const auto sum = M::add(number(1), x);
    return M::choose(M::equal(sum, x), M::log(x), log_of_sum(sum, x));  // equal: inf, too
  } else if constexpr (Kind == op::tanh) {
    return M::tanh(x);
  } else if constexpr (Kind == op::sigmoid) {
    return sigmoid(number(1));
  } else if constexpr (Kind == op::relu) {
    return M::choose(M::less(x, number(0)), number(0), x);
  } else if constexpr (Kind == op::gelu) {  // x (1 + erf(x / sqrt 2)) / 2
    const auto tail = M::erfc(M::mul(x, number(-0.70710678118654752440L)));
    return M::choose(M::is_minus_infinity(x), number(0), M::mul(M::mul(number(0.5), x), tail));
  } else if constexpr (Kind == op::silu) {
    return M::choose(M::is_minus_infinity(x), number(0), sigmoid(x));
  } else if constexpr (Kind == op::elu) {
    return M::choose(M::less(x, number(0)), M::expm1(x), x);
  } else if constexpr (Kind == op::softplus) {  // max(x, 0) + log(1 + exp(-|x|))
    const auto e = M::exp(M::neg(M::abs(x)));
    const auto log_of_1_plus_e = log_of_sum(M::add(number(1), e), e);
    return M::add(M::choose(M::less(x, number(0)), number(0), x), log_of_1_plus_e);
  } else if constexpr (Kind == op::sqrt) {
    return M::sqrt(x);
  } else if constexpr (Kind == op::rsqrt) {
    return M::div(number(1), M::sqrt(x));
  } else if constexpr (Kind == op::abs) {
    return M::abs(x);
  } else if constexpr (Kind == op::erf) {
    return M::erf(x);
  } else if constexpr (Kind == op::cos) {
    return M::cos(x);
  } else if constexpr (Kind == op::sin) {
    return M::sin(x);
  } else {
    static_assert(!has_meaning(Kind), "the meaning of a pointwise operation is missing");
  }
}

template <op Kind, class M>
typename M::T binary_meaning(const typename M::T &x, const typename M::T &y) {
  if constexpr (Kind == op::add) {
    return M::add(x, y);
  } else if constexpr (Kind == op::sub) {
    return M::sub(x, y);
  } else if constexpr (Kind == op::mul) {
    return M::mul(x, y);
  } else if constexpr (Kind == op::div) {
    return M::div(x, y);
  } else if constexpr (Kind == op::min) {
    return M::choose(M::is_nan(x) || M::less(x, y), x, y);
  } else if constexpr (Kind == op::max) {
    return M::choose(M::is_nan(x) || M::less(y, x), x, y);
  } else if constexpr (Kind == op::pow) {
    return M::pow(x, y);
  } else if constexpr (Kind == op::less) {
    return M::truth(M::less(x, y));
  } else if constexpr (Kind == op::less_equal) {
    return M::truth(M::less_equal(x, y));
  } else if constexpr (Kind == op::greater) {
    return M::truth(M::less(y, x));
  } else if constexpr (Kind == op::greater_equal) {
    return M::truth(M::less_equal(y, x));
  } else if constexpr (Kind == op::equal) {
    return M::truth(M::equal(x, y));
  } else if constexpr (Kind == op::not_equal) {
    return M::truth(!M::equal(x, y));
  } else if constexpr (Kind == op::and_) {
    return M::truth(M::is_true(x) && M::is_true(y));
  } else if constexpr (Kind == op::or_) {
    return M::truth(M::is_true(x) || M::is_true(y));
  } else {
    static_assert(!has_meaning(Kind), "the meaning of a pointwise operation is missing");
  }
}

// Of one operand: x.
template <op Kind, class M>
typename M::T meaning(const typename M::T &x, const typename M::T &y) {
  if constexpr (requires { M::template realised<Kind>(x, y); })
    return M::template realised<Kind>(x, y);
  else if constexpr (is_unary(Kind))
    return unary_meaning<Kind, M>(x);
  else
    return binary_meaning<Kind, M>(x, y);
}

// Of one operand.
template <op Kind, class M>
typename M::T meaning(const typename M::T &x) {
  return meaning<Kind, M>(x, x);
}

// f'(x), from x and y = f(x); at a kink, that on the left.
template <op Kind, class M>
typename M::T derivative(const typename M::T &x, const typename M::T &y) {
  const auto number = [&](auto value) { return M::number(x, value); };
  const auto rest = [&](const typename M::T &part) { return M::sub(number(1), part); };
  if constexpr (Kind == op::neg) {
    return number(-1);
  } else if constexpr (Kind == op::exp) {
    return y;
  } else if constexpr (Kind == op::log) {
    return M::div(number(1), x);
  } else if constexpr (Kind == op::log1p) {
    return M::div(number(1), M::add(number(1), x));
  } else if constexpr (Kind == op::tanh) {
    return rest(M::mul(y, y));
  } else if constexpr (Kind == op::sigmoid) {
    return M::mul(y, rest(y));
  } else if constexpr (Kind == op::relu) {
    return M::choose(M::less(number(0), x), number(1), number(0));
  } else if constexpr (Kind == op::gelu) {  // Phi(x) + x phi(x), those of the normal distribution
    const auto scaled = M::mul(x, number(0.70710678118654752440L));
    const auto sum = M::add(meaning<op::erf, M>(scaled), number(1));
    const auto density =
        M::mul(derivative<op::erf, M>(scaled, scaled), number(0.35355339059327376220L));
    return M::add(M::mul(sum, number(0.5)), M::mul(x, density));
  } else if constexpr (Kind == op::silu) {
    const auto s = meaning<op::sigmoid, M>(x);
    return M::mul(s, M::add(number(1), M::mul(x, rest(s))));
  } else if constexpr (Kind == op::elu) {
    return M::choose(M::less(number(0), x), number(1), meaning<op::exp, M>(x));
  } else if constexpr (Kind == op::softplus) {
    return meaning<op::sigmoid, M>(x);
  } else if constexpr (Kind == op::sqrt) {
    return M::div(number(0.5), y);
  } else if constexpr (Kind == op::rsqrt) {
    return M::mul(M::mul(y, M::mul(y, y)), number(-0.5));
  } else if constexpr (Kind == op::abs) {
    return M::choose(M::less(number(0), x), number(1), number(-1));
  } else if constexpr (Kind == op::erf) {  // 2 / sqrt(pi) exp(-x^2)
    const auto bell = meaning<op::exp, M>(M::neg(M::mul(x, x)));
    return M::mul(bell, number(1.12837916709551257390L));
  } else if constexpr (Kind == op::cos) {
    return M::neg(meaning<op::sin, M>(x));
  } else if constexpr (Kind == op::sin) {
    return meaning<op::cos, M>(x);
  } else {
    static_assert(!has_derivative(Kind),
                  "the derivative of an operation of one operand is missing");
  }
}

template <class M>
using pointwise_function = typename M::T (*)(const typename M::T &, const typename M::T &);

// A table of what `of` gives for each operation.
template <class Of>
constexpr auto by_operation(Of of) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array { of.template operator()<static_cast<op>(I)>()... };
  }(std::make_index_sequence<core::op_count>());
}

// nullptr for operations without one.
template <class M>
inline constexpr auto meanings = by_operation([]<op Kind>() -> pointwise_function<M> {
  if constexpr (has_meaning(Kind))
    return meaning<Kind, M>;
  else
    return nullptr;
});
template <class M>
inline constexpr auto derivatives = by_operation([]<op Kind>() -> pointwise_function<M> {
  if constexpr (has_derivative(Kind))
    return derivative<Kind, M>;
  else
    return nullptr;
});

// Throws std::logic_error for an operation without a meaning.
template <class M>
typename M::T meaning_of(op o, const typename M::T &x, const typename M::T &y) {
  if (!has_meaning(o)) throw std::logic_error(std::string(name_of(o)) + " is not pointwise");
  return meanings<M>[static_cast<std::size_t>(o)](x, y);
}

// Throws std::logic_error for an operation without a derivative.
template <class M>
typename M::T derivative_of(op o, const typename M::T &x, const typename M::T &y) {
  if (!has_derivative(o)) throw std::logic_error(std::string(name_of(o)) + " has no derivative");
  return derivatives<M>[static_cast<std::size_t>(o)](x, y);
}

}  // namespace qkv::codegen
