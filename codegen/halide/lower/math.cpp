// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/math.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "codegen/halide/lower/strict.hpp"

namespace qkv::codegen::math {
namespace {

using Halide::Expr;
using Halide::select;

constexpr float infinite = static_cast<float>(infinity);
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

bool is_f64(const Expr &x) { return x.type() == Halide::Float(64); }

// A function of the C library for which Halide has no name.
Expr libm(const char *name, std::vector<Expr> x) {
  const Halide::Type t = x[0].type();
  return Halide::Internal::Call::make(t, name, x, Halide::Internal::Call::PureExtern);
}

// ---- weights: few instructions, accurate to 2 ulp of the largest --------------------------------
// 2^f for f in [-0.5, 0.5]: minimax with p(0) = 1, relative error 1.7e-7.
Expr exp2_fraction(const Expr &f) {
  Expr p = 0.0013264728477224708f;
  for (float c : {0.009671512991189957f, 0.05550733581185341f, 0.24022242426872253f,
                  0.6931470036506653f, 1.0f})
    p = p * f + c;
  return p;
}

// The logarithm of the least weight that is not 0. Processors take a hundred times as long for a
// denormal number, and sums that begin with small weights would be denormal: scores that fall with
// the distance, as those of ALiBi do, took five times as long. Beside the largest weight of a
// block, which is 1, such a weight is far below the last bit.
constexpr float least_weight = -100;

// 2^y for y in [least_weight, 128): adding and taking away 1.5 * 2^23 rounds y to an integer, where
// the two do not cancel. The integer is converted, not read from the low bits of the sum: those of
// a NaN could make a number of it.
Expr exp2_of(const Expr &y) {
  const float magic = 12582912.f;
  Expr whole = strict::sub(strict::add(y, magic), magic);
  Expr f = y - whole;
  return Halide::reinterpret<float>(Halide::reinterpret<int>(exp2_fraction(f)) +
                                    (Halide::cast<int>(whole) << 23));
}

// ---- f32 as in IEEE 754: every operation rounds once, including NaN and infinities --------------
struct real {
  real(float x) : e(x) {}
  explicit real(Expr x) : e(std::move(x)) {}
  Expr e;
};
real operator+(const real &a, const real &b) { return real(strict::add(a.e, b.e)); }
real operator-(const real &a, const real &b) { return real(strict::sub(a.e, b.e)); }
real operator*(const real &a, const real &b) { return real(strict::mul(a.e, b.e)); }
real operator/(const real &a, const real &b) { return real(strict::div(a.e, b.e)); }
Expr operator<(const real &a, const real &b) { return strict::less(a.e, b.e); }
Expr operator==(const real &a, const real &b) { return strict::equal(a.e, b.e); }
real choose(const Expr &condition, const real &a, const real &b) {
  return real(select(condition, a.e, b.e));
}
// NaN stays NaN.
real clamped(const real &x, float low, float high) {
  return choose(x < low, low, choose(real(high) < x, high, x));
}

Expr bits(const real &x) { return Halide::reinterpret<int>(x.e); }
real from_bits(const Expr &b) { return real(Halide::reinterpret<float>(b)); }
real magnitude(const real &x) { return from_bits(bits(x) & 0x7fffffff); }
real with_sign_of(const real &x, const real &sign) {
  return from_bits(bits(x) | (bits(sign) & std::numeric_limits<int>::min()));
}

// Coefficients start with the highest power.
real polynomial(const real &x, std::initializer_list<float> coefficients) {
  auto c = coefficients.begin();
  real p(*c);
  while (++c != coefficients.end()) p = p * x + real(*c);
  return p;
}

// An unevaluated sum of two floats.
struct pair {
  real high, low;
};

// Requires |a| >= |b| or a == 0.
pair fast_sum(const real &a, const real &b) {
  const real s = a + b;
  return {s, b - (s - a)};
}

// The upper 12 bits of the number, and the rest: products of such halves are exact.
pair halves(const real &x) {
  const real high = from_bits(bits(x) & ~0xfff);
  return {high, x - high};
}

pair product(const real &a, const real &b) {
  const pair x = halves(a), y = halves(b);
  const real p = a * b;
  return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

constexpr float ln2_high = 0.693359375f;  // 9 bits: its product with an exponent is exact
constexpr float ln2_low = -2.12194440e-4f;

// x = n ln 2 + r with |r| <= ln 2 / 2, for |x| <= 2^15.
struct reduced {
  real n, r;
  Expr whole;  // n as an integer; unspecified for NaN
};
reduced reduce(const real &x, const real &low = 0.f) {
  const float magic = 12582912.f;  // 1.5 * 2^23: adding it rounds to an integer
  const real shifted = x * real(1.44269504088896341f) + real(magic), n = shifted - real(magic);
  return {n, (x - n * real(ln2_high)) - (n * real(ln2_low) - low),
          bits(shifted) - bits(real(magic))};
}

// x 2^n for n from -252 to 254, rounded once: multiplies by two powers of two that are normal
// numbers.
real scaled(const real &x, const Expr &n) {
  const Expr half = n >> 1;
  const auto power = [](const Expr &k) { return from_bits((k + 127) << 23); };
  return x * power(half) * power(n - half);
}

// e^r - 1 for |r| <= ln 2 / 2 (Cephes).
real expm1_reduced(const real &r) {
  return r + r * r *
                 polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
}

// Below the first, e^x and even 200 e^x round to 0; above the second, e^x rounds to infinity.
constexpr float exp_lowest = -112.f, exp_highest = 89.f;

struct power_of_e {
  real fraction;
  Expr exponent;
};
// e^(x + low) before scaling; |low| is far smaller than |x|.
power_of_e exp_parts(const real &x, const real &low = 0.f) {
  const reduced y = reduce(clamped(x, exp_lowest, exp_highest), low);
  return {real(1.f) + expm1_reduced(y.r), y.whole};
}

real exp_f32(const real &x) {
  const power_of_e p = exp_parts(x);
  return scaled(p.fraction, p.exponent);
}

// x = 2^n m with m from sqrt(1/2) to sqrt(2), for positive finite x.
struct split_float {
  real n, m;
};
split_float split(const real &x) {
  const Expr small = x < real(std::numeric_limits<float>::min());
  const real normal = choose(small, x * real(0x1p24f), x);
  const int half = 0x3f3504f3;  // the bits of sqrt(1/2)
  const Expr n = (bits(normal) - half) >> 23;
  return {real(Halide::cast<float>(n - select(small, 24, 0))), from_bits(bits(normal) - (n << 23))};
}

// fdlibm: log(1 + f) = f - f^2/2 + s (f^2/2 + R(s)), s = f / (2 + f).
real log_f32(const real &x) {
  const split_float p = split(x);
  const real f = p.m - real(1.f), s = f / (real(2.f) + f), z = s * s, h = real(0.5f) * f * f;
  const real R =
      z * polynomial(z, {0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f});
  return p.n * real(0.69313812256f) - ((h - (s * (h + R) + p.n * real(9.0580006145e-6f))) - f);
}

// log x with about 35 bits: n ln 2 + log c + 2 artanh(s), s = (m - c) / (m + c), where
// c is m rounded to eighths.
pair log_pair(const real &x) {
  const split_float p = split(x);
  const float magic = 1572864.f;  // 1.5 * 2^20: adding it rounds to eighths
  const real c = p.m + real(magic) - real(magic);
  pair log_c{0.f, 0.f};
  struct entry {
    float c, high, low;
  };
  for (const entry &e :
       {entry{0.75f, -0.287682086f, 1.37775436e-08f},
        entry{0.875f, -0.133531392f, -1.00388664e-09f},
        entry{1.125f, 0.117783032f, 3.29869065e-09f}, entry{1.25f, 0.223143548f, 3.5408485e-09f},
        entry{1.375f, 0.318453729f, 1.96585526e-09f}})
    log_c = {choose(c == real(e.c), e.high, log_c.high), choose(c == real(e.c), e.low, log_c.low)};
  const real f = p.m - c, d = p.m + c, d_low = p.m - (d - c);
  const real s = f / d;
  const pair back = product(s, d);
  const real s_low = ((f - back.high) - back.low - s * d_low) / d;
  const real z = s * s, tail = s * z * polynomial(z, {0.28571429f, 0.4f, 0.66666667f});
  const pair known = fast_sum(p.n * real(ln2_high), log_c.high);
  const pair total = fast_sum(known.high, real(2.f) * s);
  const real low = known.low + log_c.low + p.n * real(ln2_low);
  return fast_sum(total.high, total.low + (low + (real(2.f) * s_low + tail)));
}

}  // namespace

Expr constant(Halide::Type t, double x) { return Halide::Internal::make_const(t, x); }
Expr lowest(Halide::Type t) {
  return constant(t, t.bits() == 64 ? std::numeric_limits<double>::lowest()
                                    : std::numeric_limits<float>::lowest());
}

Expr is_zero(const Expr &x) { return strict::equal(x, constant(x.type(), 0)); }

Expr smaller(const Expr &a, const Expr &b) {
  if (!a.type().is_float()) return Halide::min(a, b);
  return select(strict::is_nan(a) || strict::less(a, b), a, b);
}
Expr larger(const Expr &a, const Expr &b) {
  if (!a.type().is_float()) return Halide::max(a, b);
  return select(strict::is_nan(a) || strict::less(b, a), a, b);
}

// The comparison is written so that NaN takes the branch that keeps it; max() would drop it.
Expr exp_nonpositive(Expr x) {
  if (is_f64(x)) return Halide::exp(x);
  Expr y = x * 1.44269504088896341f;
  return select(strict::less(y, least_weight), 0.f, exp2_of(y));
}

Expr exp(Expr x) {
  if (is_f64(x)) return Halide::exp(x);
  return exp_f32(real(x)).e;
}

Expr log(Expr x) {
  if (is_f64(x)) return Halide::log(x);
  const real y(x);
  const Expr inside = real(0.f) < y && y < real(infinite);
  return select(inside, log_f32(choose(inside, y, 1.f)).e, y == real(0.f), -infinite, y < real(0.f),
                nan, x);
}

Expr rough_log(const Expr &x) { return Halide::log(x); }

// CUDA's own takes denormals for 0; so near 0, x is its sine.
Expr sin(Expr x) {
  if (is_f64(x)) return Halide::sin(x);
  return choose(magnitude(real(x)) < real(0x1p-13f), real(x), real(Halide::sin(x))).e;
}

// Cephes: an odd polynomial near 0, where 1 - 2/(e^2x + 1) would cancel.
Expr tanh(Expr x) {
  if (is_f64(x)) return Halide::tanh(x);
  Expr z = x * x;
  Expr p = -5.70498872745e-3f;
  for (float c : {2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f})
    p = p * z + c;
  Expr near = x + x * z * p;
  Expr a = Halide::abs(x);
  Expr e = exp_nonpositive(-2.f * a);
  Expr far = (1.f - e) / (1.f + e);
  return select(strict::less(a, 0.625f), near, with_sign_of(real(far), real(x)).e);
}

namespace {

// by / (1 + e^-x), computed as by e^x / (1 + e^x) below 0; the power of two is multiplied last.
real logistic(const real &x, const real &by) {
  const real e = real(-1.f) * magnitude(x);
  const power_of_e p = exp_parts(e);
  const real divisor = real(1.f) + scaled(p.fraction, p.exponent);
  const Expr negative = x < real(0.f);
  return scaled(by * choose(negative, p.fraction, 1.f) / divisor, select(negative, p.exponent, 0));
}

}  // namespace

Expr sigmoid(Expr x) {
  if (!is_f64(x)) return logistic(real(x), 1.f).e;
  const Expr one = constant(x.type(), 1), e = Halide::exp(strict::neg(Halide::abs(x)));
  return strict::div(select(strict::less(x, constant(x.type(), 0)), e, one), strict::add(one, e));
}

Expr silu(Expr x) {
  // The lower bound gives 0, also for -inf.
  if (!is_f64(x)) return logistic(real(x), choose(real(x) < real(-200.f), -200.f, real(x))).e;
  const auto number = [](double c) { return constant(Halide::Float(64), c); };
  const Expr y = select(strict::less(x, number(-800)), number(-800), x);
  const Expr half = Halide::exp(strict::mul(number(0.5), y));
  return select(strict::less(y, number(-40)), strict::mul(strict::mul(y, half), half),
                strict::mul(y, sigmoid(y)));
}

// N. Juffa: an odd polynomial near 0, else 1 - e^(-p(|x|)).
Expr erf(Expr x) {
  if (is_f64(x)) return libm("erf", {x});
  const real y(x), z = y * y, a = choose(real(4.f) < magnitude(y), 4.f, magnitude(y));
  const real near = y + y * polynomial(z, {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f,
                                           1.12819925e-1f, -3.76125336e-1f, 1.28379166e-1f});
  const real p = polynomial(a, {-1.72853470e-5f, 3.83197126e-4f, -3.88396438e-3f, 2.42546219e-2f,
                                -1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f, 0.f});
  const real far = real(1.f) - real(exp_nonpositive((p - a).e));
  return choose(magnitude(y) < real(0.927734375f), near, with_sign_of(far, y)).e;
}

Expr relu(Expr x) {
  return select(strict::less(x, constant(x.type(), 0)), constant(x.type(), 0), x);
}

namespace {

// x/2 erfc(-x / sqrt 2). Rounding the argument would cost x^2 / 2 ulp; a first-order term corrects
// it.
Expr gelu_f64(const Expr &x) {
  using strict::add, strict::mul, strict::sub;
  const auto number = [](double c) { return constant(Halide::Float(64), c); };
  const double high = 0x1.6a09e60000000p-1, low = 0x1.9fcef34000000p-27,
               rest = -4.833646656726457e-17;  // sqrt(1/2) = high + low + rest
  const Expr y = select(strict::less(x, number(-40)), number(-40), x), a = strict::neg(y);
  const Expr z = mul(a, number(high + low));
  const Expr a_high = Halide::reinterpret<double>(Halide::reinterpret<std::int64_t>(a) &
                                                  Halide::cast<std::int64_t>(-(1 << 27)));
  const Expr a_low = sub(a, a_high);
  const Expr lost = add(add(add(add(sub(mul(a_high, number(high)), z), mul(a_high, number(low))),
                                mul(a_low, number(high))),
                            mul(a_low, number(low))),
                        mul(a, number(rest)));
  // -d log erfc(z) / dz
  const Expr slope = add(mul(number(2), z),
                         strict::div(number(1), select(strict::less(z, number(1)), number(1), z)));
  const Expr off = select(strict::less(number(0), z), mul(slope, lost), number(0));
  return mul(mul(mul(number(0.5), y), libm("erfc", {z})), sub(number(1), off));
}

}  // namespace

// x P(x), where P(-a) = e^(-a^2/2) R(a) is small, and P(x) = 1 - P(-x) for positive x. Splits a^2
// into two parts: rounding it would cost up to 40 ulp. R(a) / t is a polynomial in
// t = 1 / (1 + a/2); near 0, P(x) - 1/2 is a polynomial in x.
Expr gelu(Expr x) {
  if (is_f64(x)) return gelu_f64(x);
  const real y(x), c = clamped(y, -16.f, 16.f), a = magnitude(c);
  const pair h = halves(a);
  const power_of_e p = exp_parts(real(-0.5f) * h.high * h.high, real(-0.5f) * h.low * (a + h.high));
  const real t = real(1.f) / (real(1.f) + real(0.5f) * a);
  const real R = t * polynomial(t - real(0.6f), {0.071324907f, -0.0081649944f, -0.085140839f,
                                                 0.063445993f, 0.039867703f, -0.13893904f,
                                                 0.014280174f, 0.33855164f, 0.36977416f});
  const real below = scaled(c * (p.fraction * R), p.exponent);
  const real far = choose(y < real(0.f), below, y - below);
  const real half = y * polynomial(y * y, {-8.2531642e-6f, 1.1459466e-4f, -1.1870515e-3f,
                                           9.9735158e-3f, -6.6490375e-2f, 0.39894229f});
  return choose(a < real(0.8f), y * (real(0.5f) + half), far).e;
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1)
Expr elu(Expr x) {
  if (is_f64(x)) return select(strict::less(constant(x.type(), 0), x), x, libm("expm1", {x}));
  const reduced y = reduce(clamped(real(x), -25.f, 0.f));
  const real power = from_bits((y.whole + 127) << 23);
  const real below = power * expm1_reduced(y.r) + (power - real(1.f));
  return choose(real(x) < real(0.f), below, real(x)).e;
}

// As in C: 1 if the exponent is 0 or the base is 1, even if the other one is NaN; NaN for
// fractional powers of negative numbers; negative for odd powers of -0 and of negative numbers.
Expr pow(Expr base, Expr exponent) {
  if (is_f64(base)) return libm("pow", {base, exponent});
  const real x(base), y(exponent), a = magnitude(x), b = magnitude(y);
  const Expr some_nan = bits(a) > 0x7f800000 || bits(b) > 0x7f800000;
  const Expr all_whole = real(0x1p24f) < b || b == real(0x1p24f);
  const Expr whole_part = Halide::cast<int>(choose(some_nan || all_whole, 0.f, y).e);
  const Expr whole = all_whole || y == real(Halide::cast<float>(whole_part));
  const Expr odd = !all_whole && whole && (whole_part & 1) != 0;

  const pair l = log_pair(choose(real(0.f) < a && a < real(infinite), a, 1.f));
  // Beyond this, every base other than 1 gives 0 or infinity.
  const real n = clamped(choose(some_nan, 0.f, y), -4e9f, 4e9f);
  const pair p = product(n, l.high);
  const Expr near = magnitude(p.high) < real(128.f);
  const power_of_e e = exp_parts(p.high, choose(near, p.low + n * l.low, 0.f));
  const Expr down = y < real(0.f);
  const real size = choose(
      a == real(0.f), choose(down, infinite, 0.f),
      choose(a == real(infinite), choose(down, 0.f, infinite), scaled(e.fraction, e.exponent)));
  const Expr none = x < real(0.f) && a < real(infinite) && !whole;
  const real result = choose(odd && bits(x) < 0, real(-1.f) * size, size);
  return choose(y == real(0.f) || x == real(1.f), 1.f, choose(some_nan || none, nan, result)).e;
}

}  // namespace qkv::codegen::math
