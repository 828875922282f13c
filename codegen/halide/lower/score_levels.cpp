// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/score_levels.hpp"

#include <cmath>
#include <limits>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::select;

score_levels::score_levels(const attention_setting &a, const hidden_pairs &hidden)
    : a_(a),
      less_maximum_(a.f.running.has_maximum && a.p[a.s.weights].less_maximum),
      exist_(a.f.running.has_maximum && (hidden.depend_on_products() || less_maximum_)) {}

Expr score_levels::lowest() const { return math::lowest(a_.type); }

Expr score_levels::lowest_of_finite() const {
  return a_.number(a_.type.bits() == 64
                       ? std::nextafter(std::numeric_limits<double>::lowest(), 0.)
                       : std::nextafter(std::numeric_limits<float>::lowest(), 0.f));
}

Expr score_levels::of(const Expr &visible) const {
  const Expr low = select(strict::less(visible, lowest()), lowest(), lowest_of_finite());
  return select(strict::less(visible, lowest_of_finite()), low, visible);
}

Expr score_levels::nothing_seen() const { return exist() ? a_.number(-math::infinity) : lowest(); }

Expr score_levels::shift_of(const Expr &maximum) const {
  return exist() ? Halide::max(maximum, lowest_of_finite()) : maximum;
}

}  // namespace qkv::codegen
