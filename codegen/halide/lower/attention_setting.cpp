// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_setting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/halide/lower/in_step.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::select;

namespace {

const std::string unknown = "product_of_pair";

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
      keys(all.size(stage.key)),
      less_maximum(stage.is_normalised() && all.p[stage.weights].kind == op::softmax &&
                   all.p[stage.weights].less_maximum) {
  f.is_taken = taken();
  f.running.has_maximum = s.is_normalised() && p[s.weights].kind == op::softmax;
  for (std::size_t d = tiles.outer().size(); d-- > 0;) f.v.outer.push_back(c.var(tiles.outer()[d]));
  f.result.has_row = s.row != no_axis;
  marked_by_scores = std::any_of(s.sums.begin(), s.sums.end(), [&](const weighted_sum &sum) {
    return has_gaps(sum) &&
           uses_product(s.is_normalised() ? weight_counts(f.v.j) : pair_counts(sum, f.v.j));
  });
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

// One comparison, or none where no number does.
Expr lies_between(const Expr &n, int least, int most) {
  if (least > most) return Halide::Internal::const_false();
  if (least == 0) return n <= most;
  return Halide::cast<std::uint32_t>(n) - Halide::cast<std::uint32_t>(least) <=
         Halide::cast<std::uint32_t>(most - least);
}

}  // namespace

// One comparison, of a product that stays within i32. No compound part stands in it twice: Halide
// makes such a part a variable, and specializations do not match the condition then.
Expr attention_setting::taken() const {
  if (!f.tile.is_for_few_rows()) return {};
  const int least = static_cast<int>(f.tile.least_rows), most = static_cast<int>(f.tile.most_rows);
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
    return lies_between(c.size(size), smallest, largest);
  }
  if (most == 1) {  // no axis has more than one position
    Expr one = Halide::Internal::const_true();
    for (const auto &[size, power] : open) one = one && c.size(size) <= 1;
    return Halide::Internal::simplify(one);
  }
  Expr n = known;
  int factors = 0;
  for (const auto &[size, power] : open) {
    if (++factors > 3) n = Halide::min(n, most + 1);  // 65^5 is beyond i32
    n = n * capped_power(c.size(size), power, most);
  }
  return lies_between(n, least, most);
}

Expr attention_setting::number(double x) const { return math::constant(type, x); }
Expr attention_setting::lowest() const { return math::lowest(type); }

Expr attention_setting::lowest_of_finite() const {
  return number(type.bits() == 64 ? std::nextafter(std::numeric_limits<double>::lowest(), 0.)
                                  : std::nextafter(std::numeric_limits<float>::lowest(), 0.f));
}

Expr attention_setting::level_of(const Expr &visible) const {
  const Expr low = select(strict::less(visible, lowest()), lowest(), lowest_of_finite());
  return select(strict::less(visible, lowest_of_finite()), low, visible);
}

Expr attention_setting::nothing_seen() const {
  return has_levels() ? number(-math::infinity) : lowest();
}

Expr attention_setting::shift_of(const Expr &maximum) const {
  return has_levels() ? Halide::max(maximum, lowest_of_finite()) : maximum;
}

Expr attention_setting::kept(const Expr &e) const { return unsolved(e, f.v.outer); }

Expr attention_setting::chosen(const Expr &e) const {
  return kept(on_threads() ? in_step(e, f.v.j) : e);
}

Expr attention_setting::inside(const Expr &key) const { return f.v.b * f.tile.keys + key < keys; }

Expr attention_setting::is_row(const Expr &row) const { return f.v.T * f.tile.rows + row < rows; }

key_range attention_setting::visible() const {
  row_range seen;
  if (tiles.rows().size() == 1) {
    const Expr first = f.v.T * f.tile.rows;
    seen[tiles.rows()[0]] = {first, Halide::min(first + f.tile.rows, rows) - 1};
  } else {
    for (axis_id a : tiles.rows()) seen[a] = {0, c.extent(a) - 1};
  }
  return visible_keys(c, s, seen, outer);
}

Expr attention_setting::hides_some(const weighted_sum &sum) const {
  row_range all;
  for (axis_id a : tiles.rows()) all[a] = {0, c.extent(a) - 1};
  const Expr first = f.v.b * f.tile.keys;
  Expr some = Halide::Internal::const_false();
  for (const key_range &hidden : hidden_keys(c, s, sum, all, outer)) {
    Expr here = Halide::Internal::const_true();
    if (hidden.from.defined()) here = here && first + f.tile.keys > hidden.from;
    if (hidden.to.defined()) here = here && first < hidden.to;
    some = some || here;
  }
  return Halide::Internal::simplify(some);
}

void attention_setting::limit_keys() {
  const key_range seen = visible();
  limit_ = keys - f.v.b * f.tile.keys;
  if (seen.to.defined()) limit_ = Halide::min(limit_, seen.to - f.v.b * f.tile.keys);
  limit_ = Halide::min(limit_, f.tile.keys);
  limit_is_chosen_ = seen.is_chosen;
}

Halide::RDom attention_setting::keys_of_block(const std::string &label, bool unrolled) const {
  Halide::RDom range(0, f.tile.keys, label);
  if (on_threads()) return range;  // threads run in step: nothing to gain there
  limit(range, range.x, unrolled);
  return range;
}

void attention_setting::limit(Halide::RDom &range, const Expr &key, bool unrolled) const {
  const Expr exists = key < limit_;
  range.where(unrolled ? Halide::likely(exists) : exists);
  if (limit_is_chosen_) range.where(f.v.b * f.tile.keys + key < keys);
}

Halide::RDom attention_setting::vectors_of_block(const std::string &label) const {
  Halide::RDom range(0, f.tile.keys / f.tile.key_lanes, label);
  range.where(range.x * f.tile.key_lanes < limit_);
  if (limit_is_chosen_) range.where(f.v.b * f.tile.keys + range.x * f.tile.key_lanes < keys);
  return range;
}

Expr attention_setting::trimmed_vector(const Halide::RDom &range) const {
  const Expr last = (limit_ - 1) / f.tile.key_lanes;
  return Halide::max(Halide::min(range.x, last), 0) * f.tile.key_lanes;
}

Expr attention_setting::trimmed(const Halide::RDom &range) const {
  return on_threads() ? Expr(range.x) : trimmed(Expr(range.x));
}

Expr attention_setting::trimmed(const Expr &key) const {
  return Halide::max(Halide::min(key, limit_ - 1), 0);
}

bool attention_setting::has_gaps(const weighted_sum &sum) const {
  if (!s.is_normalised()) return c.has_gaps[sum.pairs];
  return has_gaps() || (sum.gate != no_step && c.has_gaps[sum.gate]);
}

value attention_setting::without_products(node_id n, const Expr &key) const {
  indices at = outer;
  at.merge(tiles.row(f.v.i, f.v.T));
  at[s.key] = tiles.key(key, f.v.b);
  expression e(c, [&](node_id x, const indices &) -> std::optional<value> {
    if (std::find(s.products.begin(), s.products.end(), x) == s.products.end()) return std::nullopt;
    return value{Halide::Internal::Variable::make(halide_type(p[x].type), unknown), {}};
  });
  return e.at(n, at);
}

// An empty weight counts as a score: softmax turns it into a number.
Expr attention_setting::weight_counts(const Expr &key) const {
  return without_products(s.scores, key).present;
}

Expr attention_setting::pair_counts(const weighted_sum &sum, const Expr &key) const {
  if (!s.is_normalised()) return counts(without_products(sum.pairs, key));
  const Expr count = weight_counts(key);
  return sum.gate == no_step ? count : both(count, counts(without_products(sum.gate, key)));
}

bool attention_setting::uses_product(const Expr &count) {
  return count.defined() && Halide::Internal::expr_uses_var(count, unknown);
}

Expr attention_setting::bits_of(const Expr &x) const {
  return Halide::reinterpret(Halide::Int(type.bits()), x);
}
Expr attention_setting::minus_zero() const { return bits_of(number(0)).type().min(); }
Expr attention_setting::is_mark(const Expr &pair) const { return bits_of(pair) == minus_zero(); }

Expr attention_setting::marked(const Expr &pair, const Expr &count) const {
  if (!count.defined()) return pair;
  const Expr zero = Halide::Internal::make_zero(minus_zero().type());
  return Halide::reinterpret(
      type, select(count, select(is_mark(pair), zero, bits_of(pair)), minus_zero()));
}

}  // namespace qkv::codegen
