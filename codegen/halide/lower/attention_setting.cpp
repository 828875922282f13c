// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_setting.hpp"

#include <algorithm>

#include "codegen/halide/lower/in_step.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {

using Halide::Expr;

namespace {

Expr count_of(const context &c, const std::vector<axis_id> &axes) {
  if (axes.empty()) return 1;
  Expr n = c.size(axes[0]);
  for (std::size_t d = 1; d < axes.size(); ++d) n = n * c.size(axes[d]);
  return n;
}

}  // namespace

attention_setting::attention_setting(context &all, const attention_stage &stage,
                                     const attention_tile &tile, attention_funcs &funcs)
    : c(all),
      p(all.p),
      s(stage),
      f(funcs),
      type(halide_type(all.p[stage.sums[0].core].type)),
      tiles((funcs.tile = tile, all), stage, funcs),
      outer(tiles.position()),
      name(context::label(all.p, stage.sums[0].core)),
      rows(count_of(all, tiles.rows())),
      keys(all.size(stage.key)) {
  f.is_taken = taken();
  f.running.has_maximum = s.is_normalised() && p[s.weights].kind == op::softmax;
  for (std::size_t d = tiles.outer().size(); d-- > 0;)
    f.v.around.push_back(c.var(tiles.outer()[d]));
  if (!f.in_loops) f.v.outer = f.v.around;
  f.result.has_row = s.row != no_axis;
}

// Counts rows up to one more than the form is for. Loops have at least one along each axis.
Expr attention_setting::taken() const {
  const called_rows &called = f.tile.called;
  if (!f.tile.is_for_few_rows()) return {};
  const auto number = [](std::int64_t n) { return Expr(n); };
  Expr n = number(1);
  for (axis_id a : tiles.rows())
    n = Halide::min(n * Halide::cast<std::int64_t>(c.extent(a)), number(called.most + 1));
  Expr takes = n >= number(called.least) && n <= number(called.most);
  if (called.skips_some())
    takes = takes && (n < number(called.skipped_least) || n > number(called.skipped_most));
  if (called.most_keys != called_rows::any)
    takes = takes && keys <= static_cast<int>(called.most_keys);
  return c.late.of_call("takes_form_of_" + name, Halide::Internal::simplify(takes));
}

Expr attention_setting::number(double x) const { return math::constant(type, x); }

Expr attention_setting::kept(const Expr &e) const { return unsolved(e, outer); }

Expr attention_setting::chosen(const Expr &e) const {
  return kept(on_threads() ? in_step(e, f.v.j) : e);
}

Expr attention_setting::inside(const Expr &key) const {
  return f.v.block * f.tile.keys + key < keys;
}

Expr attention_setting::is_row(const Expr &row) const {
  return f.v.tile * f.tile.rows + row < rows;
}

}  // namespace qkv::codegen
