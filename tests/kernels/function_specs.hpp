// SPDX-License-Identifier: BSL-1.0
#pragma once
// Functions of one and two numbers, each as a separate result.
#include <qkv/dsl.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace elementary {
using namespace qkv;

inline constexpr axis<"n"> n;

// Functions of one number, in the order of the results of functions_of_f32 and functions_of_f64.
inline constexpr auto functions = [] {
  constexpr auto n_functions =
      std::count_if(core::op_table.begin(), core::op_table.end(),
                    [](const auto &o) { return core::is_function_of_one_number(o.kind); });
  std::array<core::op, n_functions> all{};
  std::size_t k = 0;
  for (const core::op_facts &o : core::op_table)
    if (core::is_function_of_one_number(o.kind)) all[k++] = o.kind;
  return all;
}();

template <core::op Kind>
inline constexpr auto name_of_result = [] {
  str<core::name_of(Kind).size() + 1> name;
  std::copy_n(core::name_of(Kind).begin(), core::name_of(Kind).size(), name.s);
  return name;
}();

template <dtype T, std::size_t... K>
auto results_of(std::index_sequence<K...>) -> outs<out<name_of_result<functions[K]>, T, n>...>;
using each_function = std::make_index_sequence<functions.size()>;

template <str Name, dtype T>
inline constexpr auto all_functions =
    kernel<Name>([](in<"x", T, n> x) -> decltype(results_of<T>(each_function())) {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return decltype(results_of<T>(each_function())){detail::function<functions[K]>(x)...};
      }(each_function());
    });
inline constexpr auto functions_of_f32 = all_functions<"functions_of_f32", f32>;
inline constexpr auto functions_of_f64 = all_functions<"functions_of_f64", f64>;

// Other pointwise operations, in the order of the results below. Conditions are 1 or 0.
inline constexpr core::op other_operations[] = {
    core::op::neg,           core::op::not_,       core::op::add,
    core::op::sub,           core::op::mul,        core::op::div,
    core::op::min,           core::op::max,        core::op::pow,
    core::op::less,          core::op::less_equal, core::op::greater,
    core::op::greater_equal, core::op::equal,      core::op::not_equal,
    core::op::and_,          core::op::or_};
template <str Name, dtype T>
inline constexpr auto operations = kernel<Name>(
    [](in<"x", T, n> x, in<"y", T, n> y)
        -> outs<out<"neg", T, n>, out<"not_x", T, n>, out<"add", T, n>, out<"sub", T, n>,
                out<"mul", T, n>, out<"div", T, n>, out<"min", T, n>, out<"max", T, n>,
                out<"pow", T, n>, out<"less", T, n>, out<"less_equal", T, n>, out<"greater", T, n>,
                out<"greater_equal", T, n>, out<"equal", T, n>, out<"not_equal", T, n>,
                out<"both", T, n>, out<"either", T, n>> {
      auto p = cast<b8>(x);
      auto q = cast<b8>(y);
      return {-x,
              cast<T>(not p),
              x + y,
              x - y,
              x * y,
              x / y,
              min(x, y),
              max(x, y),
              pow(x, y),
              cast<T>(x < y),
              cast<T>(x <= y),
              cast<T>(x > y),
              cast<T>(x >= y),
              cast<T>(x == y),
              cast<T>(x != y),
              cast<T>(p and q),
              cast<T>(p or q)};
    });
inline constexpr auto operations_of_f32 = operations<"operations_of_f32", f32>;
inline constexpr auto operations_of_f64 = operations<"operations_of_f64", f64>;

inline constexpr auto powers_of_f32 =
    kernel<"powers_of_f32">([](in<"x", n> x, in<"y", n> y) -> out<"z", n> { return pow(x, y); });

inline constexpr auto powers_of_f64 = kernel<"powers_of_f64">(
    [](in<"x", f64, n> x, in<"y", f64, n> y) -> out<"z", f64, n> { return pow(x, y); });

// Conversions, by cast and by the types of results.
inline constexpr auto conversions = kernel<"conversions">(
    [](in<"x", n> x, in<"h", f16, n> h, in<"b", bf16, n> b)
        -> outs<out<"whole", i32, n>, out<"true", b8, n>, out<"bf16", bf16, n>, out<"f16", f16, n>,
                out<"bf16_cast", n>, out<"f16_cast", n>, out<"of_f16", n>, out<"of_bf16", n>,
                out<"true_bf16", b8, n>, out<"true_f16", b8, n>> {
      return {cast<i32>(x),
              cast<b8>(x),
              x,
              x,
              cast<f32>(cast<bf16>(x)),
              cast<f32>(cast<f16>(x)),
              h,
              b,
              cast<b8>(cast<bf16>(x)),
              cast<b8>(cast<f16>(x))};
    });
inline constexpr auto conversions_of_f64 = kernel<"conversions_of_f64">(
    [](in<"x", n> x,
       in<"d", f64, n> d) -> outs<out<"whole", i32, n>, out<"wide", f64, n>, out<"short", n>> {
      return {cast<i32>(d), cast<f64>(x), cast<f32>(d)};
    });

// Functions of a choice between two constants, which compilers compute in each branch. Elsewhere
// infinities are assumed absent.
template <str Name, double Usual, double Other>
inline constexpr auto chosen = kernel<Name>(
    [](in<"flag", b8> flag)
        -> outs<out<"exp">, out<"log">, out<"sqrt">, out<"rsqrt">, out<"tanh">, out<"sigmoid">,
                out<"silu">, out<"gelu">, out<"relu">, out<"erf">, out<"abs">, out<"elu">,
                out<"softplus">, out<"negative">, out<"squared">, out<"sum">, out<"larger">,
                out<"smaller">, out<"power">, out<"divided">, out<"is_less", b8>> {
      auto x = where(flag, Usual, Other);
      return {exp(x),  log(x),  sqrt(x),   rsqrt(x),   tanh(x),   sigmoid(x),  silu(x),
              gelu(x), relu(x), erf(x),    abs(x),     elu(x),    softplus(x), -x,
              x * x,   x + 1,   max(x, 2), min(x, -2), pow(x, 2), 1 / x,       x < 1};
    });
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr auto half_or_high = chosen<"half_or_high", 0.5, infinity>;
inline constexpr auto half_or_low = chosen<"half_or_low", 0.5, -infinity>;
inline constexpr auto zero_or_high = chosen<"zero_or_high", 0., infinity>;
inline constexpr auto zero_or_low = chosen<"zero_or_low", 0., -infinity>;

// Sums over more numbers than one partial sum should take.
inline constexpr axis<"rows"> rows;
inline constexpr auto long_sums = kernel<"long_sums">(
    [](in<"x", rows, n> x) -> outs<out<"all">, out<"of_rows", rows>, out<"mean", rows>,
                                   out<"lse", rows>, out<"of_columns", n>, out<"w", rows, n>> {
      return {sum<rows, n>(x), sum<n>(x),    mean<n>(mask(x, index(n) > 0)),
              logsumexp<n>(x), sum<rows>(x), normalize<n>(x)};
    });

}  // namespace elementary
