// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/pair_text.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "codegen/halide/lower/key_range.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

pair_text::pair_text(context &c, const attention_stage &s, dtype element, int number)
    : stage_text(c, s.outer, number), s_(s), element_(element), here_(outer_) {
  here_[s.row] = variable("i");
  here_[s.key] = variable("j");
}

std::string pair_text::sizes() {
  return fmt::format(
      "  static __device__ int n_rows(const arguments &a) {{ return {}; }}\n"
      "  static __device__ int n_keys(const arguments &a) {{ return {}; }}\n",
      place_.number(c_.size(s_.row)), place_.number(c_.size(s_.key)));
}

// ---- tensors ------------------------------------------------------------------------------------

std::string pair_text::operand(const std::string &name, const tensor_operand &x, axis_id row) {
  int tensor = 0;
  const strides all = strides_of(x, tensor);
  return address(name, std::string("const ") + number_type(element_), tensor, all) +
         stride_function(name, all.at(row));
}

std::string pair_text::result(const std::string &name, node_id root, int tensor) {
  const strides all = strides_of(tensor, c_.order(root));
  return address(name, number_type(p_[root].type), tensor, all) +
         stride_function(name, all.at(s_.row));
}

std::string pair_text::written(const std::string &name, node_id root) {
  return result(name, root, place_.written(root));
}

std::string pair_text::finish(const std::string &name, const weighted_sum &sum) {
  indices at = outer_;
  at[s_.row] = variable("i");
  at[sum.column] = variable("c");
  return stage_text::finish(name, ", int i, int c, float sum", sum.root, sum.core, "sum", at);
}

// ---- pairs --------------------------------------------------------------------------------------

Expr pair_text::scaled(const std::string &dot, const std::vector<node_id> &factors, expression &e,
                       const indices &at) const {
  Expr product = variable(dot, Halide::Float(32));
  for (node_id factor : factors)
    product = product * strict::cast(product.type(), e.at(factor, at).number);
  return product;
}

std::string pair_text::masks(const Expr &present) {
  const bool masked = present.defined() && !hi::is_const_one(present);
  std::string text = fmt::format("  static constexpr bool is_masked = {};\n", masked);
  if (!masked) return text;
  text += function("bool", "keep", ", int i, int j", present);
  return text + range() + whole(present);
}

std::string pair_text::function_of_tile(const char *type, const char *name, const char *parameters,
                                        const Expr &e) {
  const bool reads = reads_;
  const std::string text = function(type, name, parameters, e);
  reads_ = reads;
  return text;
}

// The keys that rows i0 to i1 - 1 may see. The last rows see most where only the end depends on
// them, as under a causal mask.
std::string pair_text::range() {
  const key_range seen =
      visible_keys(c_, s_, {{s_.row, {variable("i0"), variable("i1") - 1}}}, outer_);
  const bool first_are_longest = seen.from.defined() && hi::expr_uses_var(seen.from, "i0") &&
                                 !(seen.to.defined() && hi::expr_uses_var(seen.to, "i1"));
  return fmt::format("  static constexpr bool first_rows_are_longest = {};\n", first_are_longest) +
         function_of_tile("int", "first_key", ", int i0, int i1",
                          seen.from.defined() ? seen.from : Expr(0)) +
         function_of_tile("int", "end_of_keys", ", int i0, int i1",
                          seen.to.defined() ? seen.to : c_.size(s_.key));
}

// True where nothing of the tile is masked.
std::string pair_text::whole(const Expr &present) {
  hi::Scope<hi::Interval> tile;
  tile.push("i", hi::Interval(variable("i0"), variable("i1") - 1));
  tile.push("j", hi::Interval(variable("j0"), variable("j1") - 1));
  const hi::Interval all = hi::bounds_of_expr_in_scope(present, tile);
  const bool known = all.has_lower_bound() && all.min.type().is_bool();
  return function_of_tile("bool", "all_kept", ", int i0, int i1, int j0, int j1",
                          known ? hi::simplify(all.min) : hi::const_false());
}

}  // namespace qkv::codegen
