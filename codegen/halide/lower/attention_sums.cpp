// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_sums.hpp"

#include <numeric>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/plan/block_copies.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;
using Halide::Var;

// Sums over the keys of a block for each row of a tile; or across, over the rows for each key.
class sum_lowering {
 public:
  sum_lowering(attention_form &a, const weighted_sum &sum, attention_sum &o, bool across)
      : a_(a),
        f_(a.f),
        sum_(sum),
        o_(o),
        across_(across),
        term_(across ? a.f.v.i : a.f.v.j),
        terms_(across ? a.f.v.T : a.f.v.b),
        name_(context::label(a.p, sum_.core)),
        gaps_(a.hidden.in(sum_)) {}

  void run() {
    if (sum_.column == no_axis) {
      across_ ? in_partials() : without_columns();
      return;
    }
    values();
    products();
  }

 private:
  // The terms of the sum: keys of a block, or rows of a tile.
  RDom range(const std::string &name, bool unrolled = false) const {
    if (!across_) return a_.block.range(name, unrolled);
    RDom rows(0, f_.tile.rows, name);
    rows.where(a_.is_row(rows.x));
    return rows;
  }
  Expr exists(const Expr &term) const { return across_ ? a_.is_row(term) : a_.inside(term); }
  void place(indices &at, const Expr &term) const {
    if (across_)
      at.insert_or_assign(a_.s.row, a_.tiles.row(term, f_.v.tile).at(a_.s.row));
    else
      at.insert_or_assign(a_.s.key, a_.tiles.key(term, f_.v.block));
  }
  Expr pair_counts(const Expr &term) const {
    if (!across_) return a_.hidden.pair_counts(sum_, term);
    const Expr count = a_.hidden.pair_counts(sum_, f_.v.j);
    return count.defined() ? Halide::Internal::substitute(f_.v.i.name(), term, count) : count;
  }
  std::vector<Expr> all() const { return a_.tiles.in_tile({f_.v.c, across_ ? f_.v.j : f_.v.i}); }

  // The pair of one term of the sum.
  Expr pair(const RDom &terms) const {
    return o_.pairs(across_ ? a_.tiles.pair(terms.x, f_.v.j)
                            : a_.tiles.pair(f_.v.i, a_.block.trimmed(terms)));
  }

  // One number per row. The values, where there are any, have one for each key.
  void without_columns() {
    const RDom keys = a_.block.range("key_of_sum");
    Expr count;
    const Expr term = weighted(pair(keys), keys.x, count);
    o_.keys_clean = keys;
    add(a_.tiles.in_tile({f_.v.i}), term, count);
  }

  // One number per key, whose rows lie in lanes.
  void in_partials() {
    o_.partials = rows_of_partials;
    o_.rows_of_partial = RDom(0, f_.tile.rows / o_.partials, "row_of_partial");
    const Expr row = o_.rows_of_partial.x * o_.partials + f_.v.c;
    Expr count;
    const Expr term = weighted(o_.pairs(a_.tiles.pair(row, f_.v.j)), row, count);
    add(all(), term, both(count, a_.is_row(row)));
  }

  // The pair times its value, where there is one; `count`: whether it belongs to the sum.
  Expr weighted(const Expr &pair, const Expr &term, Expr &count) {
    if (sum_.values == no_step) return pair;
    indices at = a_.outer;
    place(at, term);
    value v = expression(a_.c).at(sum_.values, at);
    v.number = strict::cast(a_.type, v.number);
    count = counts(v);
    if (gaps_)
      count =
          both(count, a_.hidden.have_marks(gaps_) ? !a_.hidden.is_mark(pair) : pair_counts(term));
    if (!across_ && a_.hidden.run_past_the_end(sum_)) count = both(count, a_.inside(term));
    return strict::times(pair, v.number);
  }

  void add(const std::vector<Expr> &at, Expr term, const Expr &count) {
    if (count.defined()) term = a_.kept(select(count, term, a_.number(0)));
    o_.block_out = Func("block_out_" + name_);
    o_.block_out(at) = a_.number(0);
    o_.block_out(at) += strict::hide_zero(term);
  }

  void values() {
    const axis &column = a_.p.axes[a_.p.axes[sum_.column].root];
    o_.is_padded = column.size < 0;
    o_.is_copied = is_copied_for_blocks(a_.c.made, sum_.values, sum_.column);
    o_.columns = a_.c.size(sum_.column);
    if (const int n = static_cast<int>(column.size); n > 0 && f_.tile.padded(n) > n) {
      o_.known_columns = n;
      o_.columns = f_.tile.padded(n);
    }
    vars_ = {f_.v.c, term_};
    if (!f_.in_loops) vars_.push_back(terms_);
    for (axis_id x : a_.p[sum_.values].shape) {
      if (x == (across_ ? a_.s.row : a_.s.key))
        place(at_, term_);
      else if (x == sum_.column)
        at_[x] = is_padded() || a_.on_threads() ? a_.c.within(sum_.column, f_.v.c) : Expr(f_.v.c);
      else
        at_[x] = a_.outer.at(x);
    }
    for (const Var &v : a_.tiles.outer_dimensions(sum_.values)) vars_.push_back(v);
    value v = expression(a_.c).at(sum_.values, at_);
    v.number = strict::cast(a_.type, v.number);
    values_have_gaps_ = counts(v).defined();
    delicate_ = strict::is_delicate(v.number);
    if (a_.hidden.run_past_the_end(sum_)) v.present = both(v.present, a_.inside(f_.v.j));
    o_.values = Func("values_" + name_);
    const Expr number = strict::hide_zero(or_else(v, a_.number(0)));
    o_.values(vars_) =
        o_.known_columns == 0 ? number : select(f_.v.c < o_.known_columns, number, a_.number(0));
  }

  bool is_padded() const { return o_.is_padded || o_.known_columns > 0; }

  Expr value_at(const RDom &terms) const {
    std::vector<Expr> args(vars_.begin(), vars_.end());
    args[1] = terms.x;
    return o_.values(args);
  }

  Expr value_counts(const Expr &term) {
    place(at_, term);
    return counts(expression(a_.c).at(sum_.values, at_));
  }

  void products() {
    o_.product = Func("product_v_" + name_);
    o_.product(all()) = a_.number(0);
    const bool every_product = gaps_ && a_.on_threads();
    const bool looks_first = gaps_ && !every_product;  // at all values of a block
    const std::string clean = f_.tile.reads_keys_from_cache() || looks_first
                                  ? "key_clean_" + no_prefetch_name
                                  : "key_clean";
    o_.keys_clean = f_.tile.in_matrix_tiles ? a_.block.chunks(clean, chunk_keys())
                    : f_.tile.bf16          ? a_.block.twos(clean, f_.tile.keys_in_lanes())
                                            : range(clean, f_.tile.keys_in_lanes());
    if (looks_first) {
      const Expr suspect = look_for_suspects();
      o_.suspect.keys = range("key_suspect_" + no_prefetch_name);
      o_.keys_clean.where(suspect == 0);
      o_.suspect.keys.where(suspect != 0);
    }
    f_.tile.bf16 ? add_products_of_bf16() : add_products(o_.keys_clean, every_product);
    if (o_.suspect.blocks.defined()) add_products(o_.suspect.keys, true);
    o_.block_out = Func("block_out_" + name_);
    o_.block_out(all()) = o_.product(all());
  }

  // Keys of a chunk. Chunks past the last visible key are skipped: they have no weights.
  int chunk_keys() const { return std::gcd(f_.tile.keys, 64); }

  // Two keys at a time, the last of which may be none.
  void add_products_of_bf16() {
    const Expr key = term_ * 2 + f_.v.half;
    std::vector<Var> of_value = vars_;
    of_value.insert(of_value.begin(), f_.v.half);
    o_.halves = Func("halves_" + name_);
    const Expr weight_at = o_.pairs(a_.tiles.pair(f_.v.i, key));
    const auto half = [&](const Expr &which, const Expr &twos) {
      return o_.halves(a_.tiles.in_tile({which, f_.v.i, twos}));
    };
    half(f_.v.half, f_.v.j) = f_.tile.in_matrix_tiles ? strict::bf16_in_hardware(weight_at)
                                                      : strict::weight_as_bf16(weight_at);
    o_.value_halves = Func("value_halves_" + name_);
    Expr exists = a_.inside(key);
    if (o_.known_columns > 0) exists = exists && f_.v.c < o_.known_columns;
    place(at_, key);
    const Expr number = a_.tiles.bf16_at(f_.tile.bf16->values, at_);
    o_.value_halves(of_value) = select(exists, number, Halide::cast(number.type(), 0));
    const RDom &r = o_.keys_clean;
    std::vector<Expr> value(of_value.begin(), of_value.end());
    const int twos = chunk_keys() / 2;
    Expr of_weight = a_.block.trimmed_part(r.y, 2);
    value[0] = r.x, value[2] = r.y;
    if (f_.tile.in_matrix_tiles)
      of_weight = value[2] = a_.block.trimmed_part(r.z, chunk_keys()) * twos + r.y;
    o_.product(all()) +=
        Halide::cast<float>(half(r.x, of_weight)) * Halide::cast<float>(o_.value_halves(value));
  }

  void add_products(const RDom &terms, bool with_gaps) {
    const Expr p = pair(terms), v = value_at(terms), before = o_.product(all());
    const Expr term = delicate_ ? strict::mul(p, v) : p * v;
    const Expr sum = delicate_ ? strict::add(before, term) : before + term;
    // Conditions may read images, of which a clamp to a block without keys would require -1.
    Expr count;
    if (with_gaps)
      count = a_.hidden.have_marks(gaps_) ? !a_.hidden.is_mark(p) : pair_counts(terms.x);
    if (values_have_gaps_) count = both(count, value_counts(terms.x));
    o_.product(all()) = count.defined() ? a_.kept(select(count, sum, before)) : sum;
  }

  // A key that is masked for one row may be visible to another, so 0 * NaN can occur; only a block
  // of V that holds NaN or infinity pays for the test at every product. Few rows do not pay for the
  // look, either, at blocks that they see whole. A GPU tests always: it predicates the product at
  // no cost.
  Expr look_for_suspects() {
    std::vector<Expr> per_block(vars_.begin() + 2, vars_.end()), per_column = per_block;
    per_column.insert(per_column.begin(), f_.v.c);
    RDom terms(0, across_ ? f_.tile.rows : f_.tile.keys, "looked_at_" + no_prefetch_name);
    terms.where(exists(terms.x));
    if (const Expr hides = hides_some(); hides.defined()) terms.where(hides);
    o_.suspect.columns = Func("suspect_columns_" + name_);
    o_.suspect.columns(per_column) = 0;
    o_.suspect.columns(per_column) =
        o_.suspect.columns(per_column) | select(strict::is_finite(value_at(terms)), 0, 1);
    o_.suspect.all_columns = RDom(0, o_.columns, "column");
    per_column[0] = o_.suspect.all_columns.x;
    o_.suspect.blocks = Func("suspect_" + name_);
    o_.suspect.blocks(per_block) = 0;
    o_.suspect.blocks(per_block) = o_.suspect.blocks(per_block) | o_.suspect.columns(per_column);
    return o_.suspect.blocks(per_block);
  }

  // Undefined where it is not worth a test.
  Expr hides_some() const {
    return across_ || !f_.tile.is_for_few_rows() ? Expr() : a_.block.hides_some(sum_);
  }

  attention_form &a_;
  attention_funcs &f_;
  const weighted_sum &sum_;
  attention_sum &o_;
  const bool across_;
  const Var term_, terms_;  // of a block, and the block
  const std::string name_;
  const bool gaps_;
  std::vector<Var> vars_;  // of the values
  indices at_;
  bool values_have_gaps_ = false, delicate_ = false;
};

}  // namespace

Expr width_with(attention_sum &sum, const Expr &width) {
  if (!sum.has_columns()) return width;
  const Expr padded = (sum.columns + 15) / 16 * 16;
  if (sum.is_padded) sum.columns = padded;
  return Halide::max(padded, width);
}

void lower_sums(attention_form &a) {
  for (std::size_t k = 0; k < a.s.sums.size(); ++k)
    sum_lowering(a, a.s.sums[k], a.f.sums[k], false).run();
  for (const attention_stage &x : a.s.across)
    for (std::size_t k = 0; k < x.sums.size(); ++k)
      sum_lowering(a, x.sums[k], a.f.across[k], true).run();
}

}  // namespace qkv::codegen
