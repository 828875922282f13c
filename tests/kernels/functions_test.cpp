// SPDX-License-Identifier: BSL-1.0
// Checks the accuracy of functions on every target: the bounds of op_table, at points of every
// exponent and around those where a function changes its method.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <qkv/call.hpp>
#include <qkv/core/half.hpp>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/exact_functions.hpp"
#include "tests/kernels/function_specs.hpp"
#include "tests/support/places.hpp"

namespace {

using namespace qkv;
using namespace qkv::testing;

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Both signs of every exponent; points where polynomials, exponents and limits begin; NaN of all
// kinds.
template <class T>
std::vector<T> points() {
  std::mt19937_64 random(1);
  std::vector<T> all;
  using bits = bits_of<T>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1,
                exponents = 1 << (sizeof(T) * 8 - 1 - mantissa);
  const int each = sizeof(T) == 4 ? 400 : 60;
  for (bits sign : {0, 1})
    for (int e = 0; e < exponents; ++e)
      for (int k = 0; k < each; ++k)
        all.push_back(std::bit_cast<T>(
            static_cast<bits>((sign << (sizeof(T) * 8 - 1)) | (static_cast<bits>(e) << mantissa) |
                              (random() & ((bits{1} << mantissa) - 1)))));
  for (const double hard :
       {0.,         0x1p-149, 0x1p-126,    0x1p-24, 0.25,       0.34657359, 0.625,
        0.70710678, 0.8,      0.927734375, 1.,      1.41421356, 1.5707963,  2.,
        3.1415927,  4.,       6.,          8.,      9.01,       14.4,       16.,
        17.33,      25.,      87.336,      88.0297, 88.7228,    89.,        103.28,
        103.97,     104.,     112.,        127.,    128.,       200.,       708.4,
        709.78,     745.13,   800.,        1e4,     8388608.,   2147483648.})
    for (const T sign : {T(1), T(-1)}) {
      T up = sign * static_cast<T>(hard), down = up;
      for (int k = 0; k < 40; ++k) {
        all.push_back(up), all.push_back(down);
        up = std::nextafter(up, infinity<T>), down = std::nextafter(down, -infinity<T>);
      }
    }
  for (const T x : {infinity<T>, -infinity<T>, std::numeric_limits<T>::max(),
                    std::numeric_limits<T>::lowest(), not_a_number<T>, -not_a_number<T>,
                    std::bit_cast<T>(~bits{0}), std::bit_cast<T>(~bits{0} >> 1)})
    all.push_back(x);
  return all;
}

template <class T>
constexpr dtype type_of = sizeof(T) == 4 ? f32 : f64;

// All functions of these numbers, one tensor per function.
template <class T>
std::vector<tensor<type_of<T>, elementary::n>> computed(const options &how,
                                                        const std::vector<T> &x) {
  using row = tensor<type_of<T>, elementary::n>;
  const auto count = static_cast<std::int64_t>(x.size());
  row in({count});
  std::copy(x.begin(), x.end(), in.begin());
  std::vector<row> results;
  std::vector<qkv_tensor> all = {in.descriptor()};
  for (std::size_t k = 0; k < elementary::functions.size(); ++k) results.push_back(row({count}));
  for (row &r : results) all.push_back(r.descriptor());
  const auto linked = kernels(sizeof(T) == 4 ? "functions_of_f32" : "functions_of_f64");
  REQUIRE(linked.size() == 1);
  REQUIRE(run(*linked[0], all, how).ok());
  return results;
}

template <class T>
void check_functions(const options &how) {
  const std::vector<T> x = points<T>();
  const auto results = computed(how, x);
  for (std::size_t f = 0; f < elementary::functions.size(); ++f) {
    const core::op kind = elementary::functions[f];
    worst<T> w;
    for (std::size_t k = 0; k < x.size(); ++k)
      w.add(x[k], 0, results[f](static_cast<std::int64_t>(k)), exact_value(kind, x[k], x[k]));
    INFO(fmt::format("{} of {:a}, {:.9g}: {:.9g} is off by {} ulp", name_of(kind), w.x, w.x, w.got,
                     w.error));
    if (std::getenv("QKV_SHOW"))
      fmt::print("device {}: {} {:.3f} ulp at {:a}\n", static_cast<int>(how.on), name_of(kind),
                 w.error, w.x);
    CHECK(w.error <= bound_of<T>(kind));
  }
}

// ---- powers -------------------------------------------------------------------------------------
template <class T>
std::vector<std::pair<T, T>> pairs() {
  std::vector<std::pair<T, T>> all;
  const T inf = infinity<T>, nan = not_a_number<T>, big = std::numeric_limits<T>::max(),
          small = std::numeric_limits<T>::denorm_min();
  const std::vector<T> hard = {0,
                               1,
                               2,
                               3,
                               T(0.5),
                               T(1.5),
                               T(0.7),
                               10,
                               inf,
                               nan,
                               big,
                               small,
                               16777215,
                               16777216,
                               8388609,
                               T(8388607.5),
                               T(4294967296.),
                               T(1e20),
                               9007199254740991.,
                               std::nextafter(T(1), T(2)),
                               std::nextafter(T(1), T(0))};
  for (const T x : hard)
    for (const T y : hard)
      for (const T sign : {T(1), T(-1)})
        for (const T turn : {T(1), T(-1)}) all.emplace_back(x * sign, y * turn);
  std::mt19937_64 random(2);
  const auto uniform = [&](T low, T high) {
    return low + (high - low) * static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53);
  };
  const T range = sizeof(T) == 4 ? T(89) : T(712);
  for (int k = 0; k < 200000; ++k) {
    const T x = k % 2 ? std::exp(uniform(-range, range)) : uniform(T(0.6), T(1.5));
    all.emplace_back(x, uniform(-1, 1) * range / std::log(x));
    all.emplace_back(uniform(-4, 4), std::trunc(uniform(-60, 60)) / 2);
    all.emplace_back(std::bit_cast<T>(static_cast<bits_of<T>>(random())),
                     std::bit_cast<T>(static_cast<bits_of<T>>(random())));
  }
  return all;
}

template <class T, class Call>
void check_powers(Call call_with) {
  using row = tensor<type_of<T>, elementary::n>;
  const auto all = pairs<T>();
  const auto count = static_cast<std::int64_t>(all.size());
  row x({count}), y({count}), z({count});
  for (std::int64_t k = 0; k < count; ++k) std::tie(x(k), y(k)) = all[static_cast<std::size_t>(k)];
  REQUIRE(call_with(x, y, z).ok());
  worst<T> w;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto exact = exact_value(core::op::pow, x(k), y(k));
    w.add(x(k), y(k), z(k), exact);
    if (exact == 0 && z(k) == 0 && std::signbit(exact) != std::signbit(z(k)))
      FAIL_CHECK(fmt::format("pow({}, {}) has the wrong sign", x(k), y(k)));
  }
  INFO(fmt::format("pow({:a}, {:a}) = {:a} is off by {} ulp", w.x, w.y, w.got, w.error));
  CHECK(w.error <= bound_of<T>(core::op::pow));
}

std::int32_t saturated(double v) {
  return std::isnan(v) ? 0 : static_cast<std::int32_t>(std::clamp(v, -0x1p31, 0x1p31 - 1));
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("functions of f32 are as exact as documented") {
  for (const options &how : places()) check_functions<float>(how);
}

TEST_CASE("functions of f64 are as exact as documented") { check_functions<double>({}); }

TEST_CASE("powers are those of C") {
  for (const options &how : places())
    check_powers<float>([&](const auto &x, const auto &y, auto &z) {
      return call<elementary::powers_of_f32>(how, x, y, z);
    });
  check_powers<double>([](const auto &x, const auto &y, auto &z) {
    return call<elementary::powers_of_f64>(x, y, z);
  });
}

TEST_CASE("functions of an infinity that the call chooses") {
  const auto check = [](const auto &call_with, double usual, double other) {
    for (const options &how : places())
      for (const bool flag : {false, true}) {
        const double x = flag ? usual : other;
        INFO(fmt::format("of {} on device {}", x, static_cast<int>(how.on)));
        tensor<b8> chosen, less;
        *chosen.data() = flag;
        std::vector<tensor<>> y(20);
        REQUIRE(call_with(how, chosen, y, less).ok());
        const double gelu = std::isinf(x) ? std::max(x, 0.) : x / 2 * std::erfc(-x / std::sqrt(2.)),
                     silu = std::isinf(x) ? std::max(x, 0.) : x / (1 + std::exp(-x));
        const double want[] = {std::exp(x),
                               std::log(x),
                               std::sqrt(x),
                               1 / std::sqrt(x),
                               std::tanh(x),
                               1 / (1 + std::exp(-x)),
                               silu,
                               gelu,
                               std::max(x, 0.),
                               std::erf(x),
                               std::fabs(x),
                               x < 0 ? std::expm1(x) : x,
                               std::max(x, 0.) + std::log1p(std::exp(-std::fabs(x))),
                               -x,
                               x * x,
                               x + 1,
                               std::max(x, 2.),
                               std::min(x, -2.),
                               x * x,
                               1 / x};
        for (std::size_t f = 0; f < y.size(); ++f) {
          INFO("function " << f << ": " << y[f]() << ", expected " << want[f]);
          if (std::isfinite(want[f]))
            CHECK(std::fabs(y[f]() - want[f]) <= 1e-6 * std::fabs(want[f]));
          else
            CHECK(same(y[f](), want[f]));
        }
        CHECK(less() == (x < 1));
      }
  };
  const auto call_of = []<auto K>() {
    return
        [](const options &how, const tensor<b8> &flag, std::vector<tensor<>> &y, tensor<b8> &less) {
          return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return call<K>(how, flag, y[I]..., less);
          }(std::make_index_sequence<20>{});
        };
  };
  check(call_of.template operator()<elementary::half_or_high>(), 0.5, infinity<double>);
  check(call_of.template operator()<elementary::half_or_low>(), 0.5, -infinity<double>);
  check(call_of.template operator()<elementary::zero_or_high>(), 0, infinity<double>);
  check(call_of.template operator()<elementary::zero_or_low>(), 0, -infinity<double>);
}

TEST_CASE("conversions keep NaN and infinities, and stay inside the range") {
  using namespace elementary;
  const std::vector<float> some = points<float>();
  const auto count = static_cast<std::int64_t>(some.size());
  tensor<n> x({count}), rounded_b({count}), rounded_h({count}), of_b({count}), of_h({count});
  tensor<i32, n> whole({count});
  tensor<b8, n> truth({count}), truth_b({count}), truth_h({count});
  tensor<bf16, n> every_b({count}), b({count});
  tensor<f16, n> every_h({count}), h({count});
  for (std::int64_t k = 0; k < count; ++k) {
    const auto bits = static_cast<std::uint16_t>(k);
    x(k) = some[static_cast<std::size_t>(k)];
    every_b(k) = bits, every_h(k) = bits;
  }
  REQUIRE(count > 65536);  // all bits of 16 occur
  for (const options &how : places()) {
    REQUIRE(call<conversions>(how, x, every_h, every_b, whole, truth, b, h, rounded_b, rounded_h,
                              of_h, of_b, truth_b, truth_h)
                .ok());
    for (std::int64_t k = 0; k < count; ++k) {
      INFO(fmt::format("{:a} and bits {} on device {}", x(k), k % 65536, static_cast<int>(how.on)));
      const auto bits = static_cast<std::uint16_t>(k);
      REQUIRE(whole(k) == saturated(x(k)));
      REQUIRE(truth(k) == (x(k) != 0));
      REQUIRE(truth_b(k) == (stored(bf16, x(k)) != 0));
      REQUIRE(truth_h(k) == (stored(f16, x(k)) != 0));
      REQUIRE(same(rounded_b(k), stored(bf16, x(k))));
      REQUIRE(same(rounded_h(k), stored(f16, x(k))));
      REQUIRE(same(from_bf16(b(k)), stored(bf16, x(k))));
      REQUIRE(same(from_f16(h(k)), stored(f16, x(k))));
      REQUIRE(same(of_b(k), from_bf16(bits)));
      REQUIRE(same(of_h(k), from_f16(bits)));
    }
  }
}

TEST_CASE("conversions of f64") {
  using namespace elementary;
  const std::vector<float> some = points<float>();
  const std::vector<double> of_f64 = points<double>();
  const auto count = static_cast<std::int64_t>(some.size());
  tensor<n> x({count}), narrow({count});
  tensor<f64, n> d({count}), wide({count});
  tensor<i32, n> whole({count});
  for (std::int64_t k = 0; k < count; ++k) {
    x(k) = some[static_cast<std::size_t>(k)];
    d(k) = of_f64[static_cast<std::size_t>(k) % of_f64.size()];
  }
  REQUIRE(call<conversions_of_f64>(x, d, whole, wide, narrow).ok());
  for (std::int64_t k = 0; k < count; ++k) {
    INFO(fmt::format("{:a} and {:a}", x(k), d(k)));
    REQUIRE(whole(k) == saturated(d(k)));
    REQUIRE(same(wide(k), x(k)));
    REQUIRE(same(narrow(k), static_cast<float>(d(k))));
  }
}

TEST_CASE("long sums of equal numbers") {
  using namespace elementary;
  for (const options &how : places())
    for (const auto &[many, length] :
         {std::pair{1, 5'000'000}, std::pair{3, 40'000}, std::pair{7, 4097}, std::pair{2, 17},
          std::pair{0, 5}, std::pair{5, 0}}) {
      INFO(many << " rows of " << length << " on device " << static_cast<int>(how.on));
      tensor<rows, n> x({many, length}), w({many, length});
      tensor<> all;
      tensor<rows> of_rows({many}), mean({many}), lse({many});
      tensor<n> of_columns({length});
      x.fill(0.1f);
      REQUIRE(call<long_sums>(how, x, all, of_rows, mean, lse, of_columns, w).ok());
      const double each = 0.1f, count = length;
      const auto near = [](double got, double want) {
        return got == want || std::fabs(got / want - 1) < 2e-5;
      };
      CHECK(near(all(), each * many * count));
      for (int r = 0; r < many; ++r) {
        CHECK(near(of_rows(r), each * count));
        CHECK(near(mean(r), length > 1 ? each : 0));
        CHECK(near(lse(r), each + std::log(count)));
        if (length > 0) CHECK(near(w(r, length / 2), 1 / count));
      }
      if (length > 0) CHECK(near(of_columns(0), each * many));
    }
}

TEST_CASE("exp and log of every float", "[.long]") {
  const auto is_tried = [](core::op kind) {
    return kind == core::op::exp || kind == core::op::log;
  };
  constexpr std::uint64_t chunk = 1 << 20;
  std::array<worst<float>, elementary::functions.size()> worst_of;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += chunk) {
    std::vector<float> x;
    for (std::uint64_t k = 0; k < chunk; ++k)
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(first + k)));
    const auto results = computed<float>({}, x);
    for (std::size_t f = 0; f < elementary::functions.size(); ++f)
      if (const core::op kind = elementary::functions[f]; is_tried(kind))
        for (std::uint64_t k = 0; k < chunk; ++k)
          worst_of[f].add(x[k], 0, results[f](static_cast<std::int64_t>(k)),
                          exact_value(kind, x[k], x[k]));
  }
  for (std::size_t f = 0; f < elementary::functions.size(); ++f) {
    const core::op kind = elementary::functions[f];
    INFO(fmt::format("{}({:a}): {} ulp", name_of(kind), worst_of[f].x, worst_of[f].error));
    CHECK(worst_of[f].error <= bound_of<float>(kind));
  }
}
