#pragma once
// Scalar meaning of the pointwise operations.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <qkv/core/op.hpp>

namespace qkv::codegen {

inline double apply(op kind, double x) {
  switch (kind) {
    case op::neg: return -x;
    case op::not_: return x == 0;
    case op::exp: return std::exp(x);
    case op::log: return std::log(x);
    case op::tanh: return std::tanh(x);
    case op::sigmoid: return 1 / (1 + std::exp(-x));
    case op::relu: return x < 0 ? 0 : x;
    case op::gelu: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case op::silu: return x / (1 + std::exp(-x));
    case op::elu: return x > 0 ? x : std::expm1(x);
    case op::sqrt: return std::sqrt(x);
    case op::rsqrt: return 1 / std::sqrt(x);
    case op::abs: return std::fabs(x);
    case op::erf: return std::erf(x);
    case op::cos: return std::cos(x);
    case op::sin: return std::sin(x);
    default: throw std::logic_error("not an operation of one operand");
  }
}

// min and max let NaN through, from either side.
inline double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
inline double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

inline double apply(op kind, double a, double b) {
  switch (kind) {
    case op::add: return a + b;
    case op::sub: return a - b;
    case op::mul: return a * b;
    case op::div: return a / b;
    case op::min: return smaller(a, b);
    case op::max: return larger(a, b);
    case op::pow: return std::pow(a, b);
    case op::less: return a < b;
    case op::less_equal: return a <= b;
    case op::greater: return a > b;
    case op::greater_equal: return a >= b;
    case op::equal: return a == b;
    case op::not_equal: return a != b;
    case op::and_: return a != 0 && b != 0;
    case op::or_: return a != 0 || b != 0;
    default: throw std::logic_error("not an operation of two operands");
  }
}

}  // namespace qkv::codegen
