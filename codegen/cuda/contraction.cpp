// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/contraction.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "codegen/cuda/stage_text.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

class contraction_printer : stage_text {
 public:
  contraction_printer(context &c, const contraction_stage &s, const contraction_code &code,
                      int number)
      : stage_text(c, s.outer, number), s_(s), form_(code.form), tiles_(code.tiles), here_(outer_) {
    here_[s.row] = variable("i");
    here_[s.column] = variable("j");
  }

  printed_stage run() {
    std::string text = constants() + place(form_.folded) + folding(form_.folded) + sizes();
    text += operand("left", form_.left, s_.row);  // tensors are numbered in this order
    text += operand("right", form_.right, s_.column);
    text += finish("finish", ", int i, int j, float dot", s_.root, s_.core, "dot", here_);
    k_->spec = text + result();
    k_->what = context::label(p_, s_.root);
    for (const contraction_tile &t : tiles_) {
      const printed_code x = code(t);
      if (!hi::is_const_zero(x.fits)) k_->codes.push_back(x);
    }
    return {k_, {{s_.root, func(s_.root)}}};
  }

 private:
  std::string constants() const {
    const dtype result = p_[s_.root].type;
    return fmt::format(
        "  static constexpr bool left_by_depth = {}, right_by_depth = {}, is_precise = {}, "
        "may_fold = {};\n"
        "  using element = {};\n  using number = {};\n  using result_number = {};\n"
        "  using arguments = ::arguments;\n",
        form_.left_by_depth, form_.right_by_depth, form_.is_precise, form_.folded != no_axis,
        element_name(form_.element), number_type(form_.element), number_type(result));
  }

  std::string sizes() {
    Expr chunks = 1;
    for (axis_id a : form_.chunks) chunks = chunks * c_.size(a);
    std::string text;
    for (const auto &[name, n] : {std::pair<const char *, Expr>{"n_rows", c_.size(s_.row)},
                                  {"n_columns", c_.size(s_.column)},
                                  {"depth", c_.size(form_.depth)},
                                  {"n_chunks", chunks},
                                  {"n_places", positions()},
                                  {"n_folded_places", positions(form_.folded)}})
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
    for (std::size_t d = form_.chunks.size(); d-- > 0;) {
      const std::string n = place_.number(c_.extent(form_.chunks[d]));
      at[form_.chunks[d]] = d == 0 ? rest : fmt::format("({} % {})", rest, n);
      rest = fmt::format("({} / {})", rest, n);
    }
    const bool by_depth = own == s_.row ? form_.left_by_depth : form_.right_by_depth;
    return address(name, std::string("const ") + number_type(form_.element), tensor, all,
                   ", int chunk", at) +
           stride_function(name, all.at(by_depth ? own : form_.depth)) + fold_stride(name, all);
  }

  // From one position of the folded axis to the next.
  std::string fold_stride(const std::string &name, const strides &all) const {
    return form_.folded != no_axis && all.count(form_.folded)
               ? stride_function(name + "_fold", all.at(form_.folded))
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
    x.what = t.name();
    x.shared_bytes = t.shared_bytes(form_.left_by_depth, form_.right_by_depth);
    const auto tiles = [&](axis_id a, int n) {
      return Halide::cast<std::int64_t>((Halide::max(c_.size(a), 1) + (n - 1)) / n);
    };
    x.blocks = hi::simplify(tiles(s_.row, t.rows) * tiles(s_.column, t.columns) *
                            Halide::cast<std::int64_t>(positions()));
    x.fills = t.fills;
    if (t.fills > 0) x.fits = hi::simplify(c_.size(s_.column) > t.columns / 2);
    if (t.most_rows > 0) {
      x.what += fmt::format(" for {} rows", t.most_rows);
      const Expr rows =
          form_.folded == no_axis ? c_.size(s_.row) : c_.size(s_.row) * c_.extent(form_.folded);
      const Expr few = rows <= t.most_rows;
      x.fits = hi::simplify(t.fills > 0 ? x.fits && few : few);
    }
    return x;
  }

  const contraction_stage &s_;
  const contraction_form &form_;
  const std::vector<contraction_tile> &tiles_;
  indices here_;
};

}  // namespace

std::optional<printed_stage> print_stage(context &c, const stage &s, const contraction_code &code,
                                         int number) {
  try {
    return contraction_printer(c, std::get<contraction_stage>(s), code, number).run();
  } catch (const std::runtime_error &) {  // an operation without a text
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
