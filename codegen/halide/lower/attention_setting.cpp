// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_setting.hpp"

#include <algorithm>
#include <cmath>

#include "codegen/halide/lower/in_step.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::select;

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
  for (std::size_t d = tiles.outer().size(); d-- > 0;) f.v.outer.push_back(c.var(tiles.outer()[d]));
  f.result.has_row = s.row != no_axis;
}

namespace {

// size^power, or `most` + 1 where that is less. Nothing but `size`, a parameter of the call, stands
// in it twice.
Expr capped_power(const Expr &size, int power, int most) {
  if (power == 1) return Halide::min(size, most + 1);
  Expr result = most + 1;
  for (int base = most; base >= 0; --base) {
    const double raised = std::pow(base, power);
    if (raised <= most) result = select(size <= base, static_cast<int>(raised), result);
  }
  return result;
}

// One comparison, or none where no number does. `apart`: 0, or more than any distance to `least`.
Expr lies_between(const Expr &n, int least, int most, const Expr &apart = {}) {
  if (least > most) return Halide::Internal::const_false();
  if (least == 0 && !apart.defined()) return n <= most;
  Expr distance = Halide::cast<std::uint32_t>(n) - Halide::cast<std::uint32_t>(least);
  if (apart.defined()) distance += apart;
  return distance <= Halide::cast<std::uint32_t>(most - least);
}

// The same where some numbers between are skipped: a bit of a number for each.
Expr is_listed(const Expr &n, const called_rows &rows) {
  std::uint64_t bits = 0;
  for (std::int64_t k = rows.least; k <= rows.most; ++k)
    if (k < rows.skipped_least || k > rows.skipped_most)
      bits |= std::uint64_t{1} << (k - rows.least);
  const Expr place = Halide::min(
      Halide::cast<std::uint32_t>(n) - Halide::cast<std::uint32_t>(static_cast<int>(rows.least)),
      Halide::cast<std::uint32_t>(called_rows::most_looked_up));
  return (Expr(bits) >> Halide::cast<std::uint64_t>(place)) % 2 > 0;
}

}  // namespace

// Of a form for few keys: 0 for a call that has no more, else a large number.
Expr attention_setting::more_keys() const {
  const auto most = static_cast<int>(f.tile.called.most_keys);
  if (most == called_rows::any) return {};
  return Halide::cast<std::uint32_t>(Halide::clamp(keys, most, most + 1) - most) << 16;
}

// One comparison, of a product that stays within i32. No compound part stands in it twice: Halide
// makes such a part a variable, and specializations do not match the condition then.
Expr attention_setting::taken() const {
  if (!f.tile.is_for_few_rows()) return {};
  const int least = static_cast<int>(f.tile.called.least),
            most = static_cast<int>(f.tile.called.most);
  int known = 1;
  std::map<axis_id, int> open;  // sizes that the call decides, and how often each is a factor
  for (axis_id a : tiles.rows()) {
    const axis_id root = p.axes[a].root;
    const std::int64_t size = p.axes[root].size;
    if (size < 0)
      ++open[root];
    else
      known *= static_cast<int>(std::clamp<std::int64_t>(size, 1, most + 1));
    known = std::min(known, most + 1);
  }
  if (open.size() == 1) {
    const auto [size, power] = *open.begin();
    int smallest = 0, largest = 0;
    while (known * std::pow(smallest, power) < least) ++smallest;
    while (known * std::pow(largest + 1, power) <= most) ++largest;
    return f.tile.called.skips_some() ? is_listed(c.size(size), f.tile.called)
                                      : lies_between(c.size(size), smallest, largest, more_keys());
  }
  const bool takes_all = f.tile.called.most_keys == called_rows::any;
  if (most == 1 && takes_all) {  // no axis has more than one position
    Expr one = Halide::Internal::const_true();
    for (const auto &[size, power] : open) one = one && c.size(size) <= 1;
    return Halide::Internal::simplify(one);
  }
  // The next form is for as many rows, and caps their sizes at another number.
  const int cap = takes_all ? most : most + 1;
  Expr n = known;
  int factors = 0;
  for (const auto &[size, power] : open) {
    if (++factors > 3) n = Halide::min(n, cap + 1);  // 65^5 is beyond i32
    n = n * capped_power(c.size(size), power, cap);
  }
  return lies_between(n, least, most, more_keys());
}

Expr attention_setting::number(double x) const { return math::constant(type, x); }

Expr attention_setting::kept(const Expr &e) const { return unsolved(e, f.v.outer); }

Expr attention_setting::chosen(const Expr &e) const {
  return kept(on_threads() ? in_step(e, f.v.j) : e);
}

Expr attention_setting::inside(const Expr &key) const { return f.v.b * f.tile.keys + key < keys; }

Expr attention_setting::is_row(const Expr &row) const { return f.v.T * f.tile.rows + row < rows; }

}  // namespace qkv::codegen
