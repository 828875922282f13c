// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_sums.hpp"

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;
using Halide::Var;

class sum_lowering {
 public:
  sum_lowering(attention_setting &a, std::size_t k)
      : a_(a),
        f_(a.f),
        sum_(a.s.sums[k]),
        o_(a.f.sums[k]),
        name_(context::label(a.p, sum_.core)),
        gaps_(a.has_gaps(sum_)) {}

  void run() {
    if (sum_.column == no_axis) {
      without_columns();
      return;
    }
    values();
    products();
  }

 private:
  // The pair of the row and a key of this range.
  Expr pair(const RDom &keys) const {
    return o_.pairs(a_.tiles.pair(f_.v.i, a_.trimmed(keys), f_.v.b));
  }

  // One number per row. The values, where there are any, have one for each key.
  void without_columns() {
    const RDom keys = a_.keys_of_block("key_of_sum");
    Expr term = pair(keys), count;
    if (sum_.values != no_step) {
      indices at = a_.outer;
      at[a_.s.key] = a_.tiles.key(keys.x, f_.v.b);
      value v = expression(a_.c).at(sum_.values, at);
      v.number = strict::cast(a_.type, v.number);
      count = counts(v);
      if (gaps_)
        count = both(count, a_.has_marks(gaps_) ? !a_.is_mark(term) : a_.pair_counts(sum_, keys.x));
      if (a_.runs_past_the_end(sum_)) count = both(count, a_.inside(keys.x));
      term = strict::times(term, v.number);
    }
    if (count.defined()) term = a_.kept(select(count, term, a_.number(0)));
    const auto row = a_.tiles.with_outer({f_.v.i, f_.v.b, f_.v.T});
    o_.keys_clean = keys;
    o_.block_out = Func("block_out_" + name_);
    o_.block_out(row) = a_.number(0);
    o_.block_out(row) += strict::hide_zero(term);
  }

  void values() {
    const axis &column = a_.p.axes[a_.p.axes[sum_.column].root];
    o_.is_padded = column.size < 0;
    o_.is_widened = is_widened(a_.p, sum_.values);
    o_.columns = a_.c.size(sum_.column);
    vars_ = {f_.v.c, f_.v.j, f_.v.b};
    for (axis_id x : a_.p[sum_.values].shape) {
      if (x == a_.s.key)
        at_[x] = a_.tiles.key(f_.v.j, f_.v.b);
      else if (x == sum_.column)
        at_[x] = o_.is_padded || a_.on_threads() ? a_.c.within(sum_.column, f_.v.c) : Expr(f_.v.c);
      else
        at_[x] = a_.outer.at(x);
    }
    const std::vector<axis_id> &outer = a_.tiles.outer();
    for (std::size_t d = outer.size(); d-- > 0;)
      if (has(a_.p[sum_.values].shape, outer[d])) vars_.push_back(f_.v.outer[outer.size() - 1 - d]);
    value v = expression(a_.c).at(sum_.values, at_);
    v.number = strict::cast(a_.type, v.number);
    values_have_gaps_ = counts(v).defined();
    delicate_ = strict::is_delicate(v.number);
    if (a_.runs_past_the_end(sum_)) v.present = both(v.present, a_.inside(f_.v.j));
    o_.values = Func("values_" + name_);
    o_.values(vars_) = strict::hide_zero(or_else(v, a_.number(0)));
  }

  Expr value_at(const RDom &keys) const {
    std::vector<Expr> args(vars_.begin(), vars_.end());
    args[1] = keys.x;
    return o_.values(args);
  }

  Expr value_counts(const Expr &key) {
    at_[a_.s.key] = a_.tiles.key(key, f_.v.b);
    return counts(expression(a_.c).at(sum_.values, at_));
  }

  void products() {
    const auto all = a_.tiles.with_outer({f_.v.c, f_.v.i, f_.v.b, f_.v.T});
    o_.product = Func("product_v_" + name_);
    o_.product(all) = a_.number(0);
    o_.keys_clean = a_.keys_of_block("key_clean", f_.tile.keys_in_lanes());
    const bool every_product = gaps_ && a_.on_threads();
    if (gaps_ && !every_product) {
      const Expr suspect = look_for_suspects();
      o_.keys_suspect = a_.keys_of_block("key_suspect");
      o_.keys_clean.where(suspect == 0);
      o_.keys_suspect.where(suspect != 0);
    }
    add_products(o_.keys_clean, every_product);
    if (o_.suspect.defined()) add_products(o_.keys_suspect, true);
    o_.block_out = Func("block_out_" + name_);
    o_.block_out(all) = o_.product(all);
  }

  void add_products(const RDom &keys, bool with_gaps) {
    const auto all = a_.tiles.with_outer({f_.v.c, f_.v.i, f_.v.b, f_.v.T});
    const Expr p = pair(keys), v = value_at(keys);
    const Expr term = delicate_ ? strict::mul(p, v) : p * v;
    const Expr sum = delicate_ ? strict::add(o_.product(all), term) : o_.product(all) + term;
    // Conditions may read images, of which a clamp to a block without keys would require -1.
    Expr count;
    if (with_gaps) count = a_.has_marks(gaps_) ? !a_.is_mark(p) : a_.pair_counts(sum_, keys.x);
    if (values_have_gaps_) count = both(count, value_counts(keys.x));
    o_.product(all) = count.defined() ? a_.kept(select(count, sum, o_.product(all))) : sum;
  }

  // A key that is masked for one row may be visible to another, so 0 * NaN can occur; only a block
  // of V that holds NaN or infinity pays for the test at every product. A GPU tests always: it
  // predicates the product at no cost.
  Expr look_for_suspects() {
    std::vector<Expr> per_column = {f_.v.c, f_.v.b}, per_block = {f_.v.b};
    for (std::size_t d = 3; d < vars_.size(); ++d) {
      per_column.push_back(vars_[d]);
      per_block.push_back(vars_[d]);
    }
    RDom keys(0, f_.tile.keys, "key_looked_at");
    keys.where(a_.inside(keys.x));
    o_.suspect_columns = Func("suspect_columns_" + name_);
    o_.suspect_columns(per_column) = 0;
    o_.suspect_columns(per_column) =
        o_.suspect_columns(per_column) | select(strict::is_finite(value_at(keys)), 0, 1);
    o_.all_columns = RDom(0, o_.columns, "column");
    per_column[0] = o_.all_columns.x;
    o_.suspect = Func("suspect_" + name_);
    o_.suspect(per_block) = 0;
    o_.suspect(per_block) = o_.suspect(per_block) | o_.suspect_columns(per_column);
    return o_.suspect(per_block);
  }

  attention_setting &a_;
  attention_funcs &f_;
  const weighted_sum &sum_;
  attention_sum &o_;
  const std::string name_;
  const bool gaps_;
  std::vector<Var> vars_;  // of the values
  indices at_;
  bool values_have_gaps_ = false, delicate_ = false;
};

}  // namespace

void lower_sums(attention_setting &a) {
  for (std::size_t k = 0; k < a.s.sums.size(); ++k) sum_lowering(a, k).run();
}

}  // namespace qkv::codegen
