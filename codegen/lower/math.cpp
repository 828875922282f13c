#include "codegen/lower/math.hpp"

#include <limits>

#include "codegen/lower/strict.hpp"

namespace qkv::codegen::math {
namespace {

using Halide::Expr;
using Halide::select;

constexpr float log2e = 1.44269504088896341f;
constexpr float infinite = static_cast<float>(infinity);

// 2^f for f in [-0.5, 0.5]: minimax with p(0) = 1, relative error 1.7e-7.
Expr exp2_fraction(const Expr &f) {
  Expr p = 0.0013264728477224708f;
  for (float c : {0.009671512991189957f, 0.05550733581185341f, 0.24022242426872253f,
                  0.6931470036506653f, 1.0f})
    p = p * f + c;
  return p;
}

// 2^y for y in [-127, 128): adding and taking away 1.5 * 2^23 rounds y to an integer, where the two
// do not cancel. At -127 the exponent field becomes 0 and so does the result. The integer is converted, not read from the
// low bits of the sum: those of a NaN could make a number of it.
Expr exp2_clamped(const Expr &y) {
  const float magic = 12582912.f;
  Expr whole = strict::sub(strict::add(y, magic), magic);
  Expr f = y - whole;
  return Halide::reinterpret<float>(Halide::reinterpret<int>(exp2_fraction(f)) +
                                    (Halide::cast<int>(whole) << 23));
}

// Polynomial in x^2 with the coefficients from the highest power down.
Expr horner(const Expr &x, std::initializer_list<float> coefficients) {
  Expr p = 0.f;
  for (float c : coefficients) p = p * x + c;
  return p;
}

bool is_f64(const Expr &x) { return x.type() == Halide::Float(64); }

// A function of the C library that Halide does not name.
Expr libm(const char *name, const Expr &x) {
  return Halide::Internal::Call::make(x.type(), name, {x}, Halide::Internal::Call::PureExtern);
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
  Expr y = x * log2e;
  return exp2_clamped(select(strict::less(y, -127.f), -127.f, y));
}

Expr exp(Expr x) {
  if (is_f64(x)) return Halide::exp(x);
  Expr y = x * log2e;
  Expr low = select(strict::less(y, -127.f), -127.f, y);
  Expr high = select(strict::less(127.f, low), 127.f, low);
  // above 127 the exponent would overflow: compute e^(x/2) squared
  Expr half = exp2_clamped(select(strict::less(260.f, y), 130.f, y * 0.5f));
  return select(strict::less(127.f, y), select(strict::less(128.f, y), infinite, half * half),
                exp2_clamped(high));
}

// The ends, and NaN, are put in place by hand: Halide's own gives finite numbers there.
Expr log(Expr x) {
  if (is_f64(x)) return Halide::log(x);
  const Expr inside = strict::less(0.f, x) && strict::less(x, infinite);
  return select(inside, Halide::log(select(inside, x, 1.f)), is_zero(x), -infinite,
                strict::less(x, 0.f), std::numeric_limits<float>::quiet_NaN(), x);
}

// Cephes: an odd polynomial near 0, where 1 - 2/(e^2x + 1) would cancel.
Expr tanh(Expr x) {
  if (is_f64(x)) return Halide::tanh(x);
  Expr z = x * x;
  Expr near = x + x * z *
                      horner(z, {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                                 1.33314422036e-1f, -3.33332819422e-1f});
  Expr a = Halide::abs(x);
  Expr e = exp_nonpositive(-2.f * a);
  Expr far = (1.f - e) / (1.f + e);
  return select(a < 0.625f, near, select(x < 0.f, -far, far));
}

Expr sigmoid(Expr x) {
  Expr e = exp_nonpositive(-Halide::abs(x));
  return select(x >= 0.f, 1.f / (1.f + e), e / (1.f + e));
}

Expr erf(Expr x) {
  if (is_f64(x)) return libm("erf", x);
  return Halide::erf(
      select(strict::less(6.f, x), 6.f, strict::less(x, -6.f), -6.f, x));  // +-1 from there on
}

Expr relu(Expr x) { return select(strict::less(x, 0.f), constant(x.type(), 0), x); }

Expr gelu(Expr x) {
  return 0.5f * x * (1.f + math::erf(x * constant(x.type(), 0.70710678118654752440)));
}

Expr elu(Expr x) {
  if (is_f64(x)) return select(strict::less(0.f, x), x, libm("expm1", x));
  Expr series = x * (1.f + x * horner(x, {1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, 0.5f}));
  const Expr positive = strict::less(0.f, x);
  return select(positive, x, strict::less(-0.25f, x), series,
                exp_nonpositive(select(positive, 0.f, x)) - 1.f);
}

}  // namespace qkv::codegen::math
