// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/contraction.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "codegen/cuda/stage_text.hpp"
#include "codegen/plan/contraction_form.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

class contraction_printer : stage_text {
 public:
  contraction_printer(context &c, const contraction_stage &s, const contraction_form &form,
                      int number)
      : stage_text(c, s.outer, number), s_(s), form_(form), here_(outer_) {
    here_[s.row] = variable("i");
    here_[s.column] = variable("j");
  }

  // Nothing where the machine has no tiles for it.
  std::optional<printed_contraction> run(const machine &m) {
    choose_depth();
    folded_ = foldable();
    const std::int64_t folded = folded_ == no_axis ? 1 : size(folded_),
                       rows = size(s_.row) < 0 || folded < 0 ? -1 : size(s_.row) * folded;
    const std::vector<contraction_tile> tiles =
        m.contraction_tiles_for(rows, size(s_.column), form_.element != f32, is_precise());
    if (tiles.empty()) return std::nullopt;
    k_->spec = constants() + place(folded_) + folding(folded_) + sizes() +
               operand("left", form_.left, s_.row) + operand("right", form_.right, s_.column) +
               finish("finish", ", int i, int j, float dot", s_.root, s_.core, "dot", here_) +
               result();
    k_->what = context::label(p_, s_.root);
    for (const contraction_tile &t : tiles) {
      const printed_code x = code(t);
      if (!hi::is_const_zero(x.fits)) k_->codes.push_back(x);
    }
    return printed_contraction{k_, func(s_.root)};
  }

 private:
  // Negative where the call decides.
  std::int64_t size(axis_id a) const { return p_.axes[p_.axes[a].root].size; }

  // Sums proceed along an axis whose positions are neighbours in memory, if there is one.
  void choose_depth() {
    const std::vector<axis_id> &over = p_[s_.core].over;
    depth_ = over.back();
    left_by_depth_ = lies_by_depth(form_.left, s_.row);
    right_by_depth_ = lies_by_depth(form_.right, s_.column);
    if (left_by_depth_) depth_ = innermost(form_.left);
    if (right_by_depth_) depth_ = innermost(form_.right);
    if (left_by_depth_ && right_by_depth_ && innermost(form_.left) != depth_)
      throw std::runtime_error("operands lie along two axes");
    for (axis_id a : over)
      if (a != depth_) chunks_.push_back(a);
  }

  // An axis that the right operand lacks: its positions have more rows of one product.
  axis_id foldable() {
    int tensor = 0;
    const strides left = strides_of(form_.left, tensor), right = strides_of(form_.right, tensor);
    for (std::size_t d = axes_.size(); left_by_depth_ && d-- > 0;)
      if (left.count(axes_[d]) && !right.count(axes_[d])) return axes_[d];
    return no_axis;
  }

  bool lies_by_depth(const tensor_operand &x, axis_id own) const {
    const axis_id inner = innermost(x);
    if (inner == own) return false;
    if (!has(p_[s_.core].over, inner)) throw std::runtime_error("rows and depth are apart");
    return true;
  }

  // Sums must be more exact than those of tensor cores, which round towards zero.
  bool is_precise() const { return form_.element == f32 || p_[s_.root].type == f32; }

  std::string constants() const {
    const dtype result = p_[s_.root].type;
    return fmt::format(
        "  static constexpr bool left_by_depth = {}, right_by_depth = {}, is_precise = {}, "
        "may_fold = {};\n"
        "  using element = {};\n  using number = {};\n  using result_number = {};\n"
        "  using arguments = ::arguments;\n",
        left_by_depth_, right_by_depth_, is_precise(), folded_ != no_axis,
        element_name(form_.element), number_type(form_.element), number_type(result));
  }

  std::string sizes() {
    Expr chunks = 1;
    for (axis_id a : chunks_) chunks = chunks * c_.size(a);
    std::string text;
    for (const auto &[name, n] : {std::pair<const char *, Expr>{"n_rows", c_.size(s_.row)},
                                  {"n_columns", c_.size(s_.column)},
                                  {"depth", c_.size(depth_)},
                                  {"n_chunks", chunks},
                                  {"n_places", positions()},
                                  {"n_folded_places", positions(folded_)}})
      text += fmt::format("  static __device__ int {}(const arguments &a) {{ return {}; }}\n", name,
                          place_.number(n));
    return text;
  }

  // The address of the first row or column at a chunk of the depth.
  std::string operand(const std::string &name, const tensor_operand &x, axis_id own) {
    int tensor = 0;
    const strides all = strides_of(x, tensor);
    std::map<axis_id, std::string> at;
    std::string rest = "chunk";
    for (std::size_t d = chunks_.size(); d-- > 0;) {
      const std::string n = place_.number(c_.extent(chunks_[d]));
      at[chunks_[d]] = d == 0 ? rest : fmt::format("({} % {})", rest, n);
      rest = fmt::format("({} / {})", rest, n);
    }
    const bool by_depth = own == s_.row ? left_by_depth_ : right_by_depth_;
    return address(name, std::string("const ") + number_type(form_.element), tensor, all,
                   ", int chunk", at) +
           stride_function(name, all.at(by_depth ? own : depth_)) + fold_stride(name, all);
  }

  // From one position of the folded axis to the next.
  std::string fold_stride(const std::string &name, const strides &all) const {
    return folded_ != no_axis && all.count(folded_)
               ? stride_function(name + "_fold", all.at(folded_))
               : "";
  }

  std::string result() {
    const std::vector<axis_id> &order = c_.order(s_.root);
    const int tensor = place_.result(s_.root);
    const strides all = strides_of(tensor, order);
    return address("result", number_type(p_[s_.root].type), tensor, all) +
           stride_function("result", all.at(s_.row)) + fold_stride("result", all) +
           stride_function("result_column",
                           order.back() == s_.column ? std::string("1") : all.at(s_.column));
  }

  printed_code code(const contraction_tile &t) const {
    printed_code x = code_of(t);
    x.skeleton = t.kind == "wgmma" ? "wgmma_contraction" : "mma_contraction";
    x.constants = fmt::format(
        "  static constexpr int BM = {}, BN = {}, DEPTH = {}, ROW_WARPS = {}, COLUMN_WARPS = {}, "
        "STAGES = {};\n",
        t.rows, t.columns, t.depth, t.row_warps, t.column_warps, t.stages);
    x.what = fmt::format("{} {} x {}", t.kind, t.rows, t.columns);
    x.shared_bytes = t.shared_bytes(left_by_depth_, right_by_depth_);
    const auto tiles = [&](axis_id a, int n) {
      return Halide::cast<std::int64_t>((Halide::max(c_.size(a), 1) + (n - 1)) / n);
    };
    x.blocks = hi::simplify(tiles(s_.row, t.rows) * tiles(s_.column, t.columns) *
                            Halide::cast<std::int64_t>(positions()));
    x.fills = t.fills;
    if (t.fills > 0) x.fits = hi::simplify(c_.size(s_.column) > t.columns / 2);
    if (t.most_rows > 0) {
      x.what += fmt::format(" for {} rows", t.most_rows);
      const Expr rows = folded_ == no_axis ? c_.size(s_.row) : c_.size(s_.row) * c_.extent(folded_);
      const Expr few = rows <= t.most_rows;
      x.fits = hi::simplify(t.fills > 0 ? x.fits && few : few);
    }
    return x;
  }

  const contraction_stage &s_;
  const contraction_form &form_;
  indices here_;
  axis_id depth_ = no_axis, folded_ = no_axis;
  std::vector<axis_id> chunks_;  // the other axes that are summed up, outermost first
  bool left_by_depth_ = false, right_by_depth_ = false;
};

}  // namespace

std::optional<printed_contraction> print_contraction(context &c, const contraction_stage &s,
                                                     const machine &m, int number) {
  const std::optional<contraction_form> form = contraction_form_of(c.p, c.made.cut, s);
  if (!form) return std::nullopt;
  try {
    return contraction_printer(c, s, *form, number).run(m);
  } catch (const std::runtime_error &) {  // an operation without a text, or another layout
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
