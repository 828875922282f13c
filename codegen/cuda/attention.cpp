// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "codegen/cuda/pair_text.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Var;

constexpr int merge_warps = 4;  // of a block, each of which merges a row

class attention_printer : pair_text {
 public:
  attention_printer(context &c, const attention_stage &s, const attention_code &code, int number)
      : pair_text(c, s, code.form.element, number), form_(code.form), code_(code) {}

  printed_stage run() {
    const weighted_sum &sum = s_.sums[0];
    scores_ = scores();
    folded_ = foldable();
    const std::vector<tensor_tile> tiles = tiles_that_calls_take();
    const bool has_lse = s_.lse != no_step;
    const std::string own = (form_.finishes ? finish("finish", sum) : "") + formulas();
    printed_stage made{k_, {}};
    if (has_lse) made.roots.emplace_back(s_.lse_root, func_of_written(s_.lse_root, sum.root));
    std::string text = constants(has_lse) + place(folded_) + sizes() + folding(folded_);
    text += operand("queries", form_.product.rows, s_.row) +
            operand("keys", form_.product.keys, s_.key) + operand("values", form_.values, s_.key);
    text += own;
    if (has_lse) text += written("lse", s_.lse_root);
    text += result("result", sum.root, place_.result(sum.root));
    if (tiles[0].most_rows > 0) text += splitting(tiles, code_.split_keys);
    k_->spec = text;
    k_->what = context::label(p_, sum.root);
    for (const tensor_tile &t : tiles) k_->codes.push_back(code(t));
    made.roots.emplace_back(sum.root, func(sum.root));
    return made;
  }

 private:
  std::string constants(bool has_lse) const {
    const dtype result = p_[s_.sums[0].root].type;
    return fmt::format(
        "  static constexpr int D = {}, DV = {};\n"
        "  static constexpr bool has_lse = {}, finishes = {};\n"
        "  static constexpr int weight_parts = {};\n"
        "  using element = {};\n  using number = {};\n"
        "  using result_element = {};\n  using result_number = {};\n"
        "  using arguments = ::arguments;\n",
        form_.product.features, form_.columns, has_lse, form_.finishes, form_.weight_parts,
        element_name(form_.element), number_type(form_.element), element_name(result),
        number_type(result));
  }

  // ---- few rows ---------------------------------------------------------------------------------
  // An axis of the queries alone, whose positions see the same keys: a tile of few rows has rows of
  // all of them.
  axis_id foldable() {
    int tensor = 0;
    const strides keys = strides_of(form_.product.keys, tensor),
                  values = strides_of(form_.values, tensor);
    for (std::size_t d = axes_.size(); d-- > 0;) {
      const axis_id a = axes_[d];
      const bool masks =
          scores_.present.defined() && hi::expr_uses_var(scores_.present, c_.var(a).name());
      if (!keys.count(a) && !values.count(a) && !masks) return a;
    }
    return no_axis;
  }

  Expr rows_of_tile() const {
    return folded_ == no_axis ? c_.size(s_.row) : c_.size(s_.row) * c_.extent(folded_);
  }

  // True where the call has few rows for this tile. So it has where heads of few rows each fold,
  // however many: they fill several of the largest tile.
  Expr fits(const tensor_tile &t) const {
    const Expr few = rows_of_tile() <= t.most_rows;
    if (folded_ == no_axis || t.most_rows < most_few_rows_) return hi::simplify(few);
    return hi::simplify(few || c_.size(s_.row) <= t.rows / 4);
  }

  // Where sizes are static, only the tiles of which a call may take one.
  std::vector<tensor_tile> tiles_that_calls_take() {
    for (const tensor_tile &t : code_.tiles) most_few_rows_ = std::max(most_few_rows_, t.most_rows);
    std::vector<tensor_tile> kept;
    for (const tensor_tile &t : code_.tiles) {
      const Expr takes = t.most_rows > 0 ? fits(t) : hi::const_true();
      if (!hi::is_const_zero(takes)) kept.push_back(t);
      if (t.most_rows > 0 && hi::is_const_one(takes)) break;  // every GPU has the memory for it
    }
    return kept;
  }

  // Several blocks share the keys of few rows, and another kernel merges their results, which are
  // kept in memory meanwhile.
  std::string splitting(const std::vector<tensor_tile> &tiles, int least_keys) {
    const auto wide = [](const Expr &e) { return Halide::cast<std::int64_t>(e); };
    const Expr rows = rows_of_tile(), places = positions(folded_),
               most = Halide::max((c_.size(s_.key) + (least_keys - 1)) / least_keys, 1);
    splits_ = 1;
    for (std::size_t k = tiles.size(); k-- > 0;) {
      const tensor_tile &t = tiles[k];
      if (t.most_rows == 0) continue;
      const Expr blocks = wide(places) * wide((Halide::max(rows, 1) + (t.rows - 1)) / t.rows),
                 n = Halide::cast<int>(Halide::min(t.blocks / blocks, wide(most)));
      splits_ = Halide::select(fits(t), Halide::max(n, 1), splits_);
    }
    splits_ = hi::simplify(splits_);
    const Expr size =
        hi::simplify(Halide::select(splits_ > 1, places * rows * splits_ * record(), 1));
    Halide::Func partial("partial_" + k_->name);
    Var x("x");
    partial(x) = placeholder::value_of_written(Halide::Float(32));
    partial.bound(x, 0, size);
    gpu::pointwise(partial);
    const int tensor = place_.scratch(partial, size);
    return fmt::format(
        "  static __device__ int n_splits(const arguments &a) {{ return {}; }}\n"
        "  static __device__ int n_places(const arguments &a) {{ return {}; }}\n"
        "  static __device__ float *partial(const arguments &a) {{ return {}; }}\n",
        place_.number(splits_), place_.number(places), place_.first(tensor));
  }

  // Numbers of a row's partial result.
  int record() const { return form_.columns + form_.columns % 2 + 2; }

  printed_code code(const tensor_tile &t) const {
    const bool few = t.most_rows > 0, folds = few && folded_ != no_axis;
    printed_code x = code_of(t);
    x.skeleton = t.skeleton;
    x.constants = fmt::format(
        "  static constexpr int BM = {}, BN = {}, WARPS = {};\n"
        "  static constexpr bool FOLDS = {}, SPLITS = {};\n"
        "  static constexpr int RECORD = {}, MERGE_WARPS = {};\n",
        t.rows, t.keys, t.warps, folds, few, record(), merge_warps);
    x.what = t.name();
    if (few) x.what += fmt::format(" for {} rows", t.most_rows);
    x.shared_bytes = t.shared_bytes(form_.product.features, form_.columns);
    const auto count = [](const Expr &e) { return Halide::cast<std::int64_t>(e); };
    const Expr rows = folds ? rows_of_tile() : c_.size(s_.row),
               places = count(positions(folds ? folded_ : no_axis)),
               tiles = count((Halide::max(rows, 1) + (t.rows - 1)) / t.rows);
    x.blocks = places * tiles;
    if (!few) return x;
    x.fits = fits(t);
    x.blocks = x.blocks * count(splits_);
    x.merge_threads = 32 * merge_warps;
    x.merge_blocks = Halide::select(
        splits_ > 1, (places * count(rows) + (merge_warps - 1)) / merge_warps, count(0));
    return x;
  }

  // ---- formulas ---------------------------------------------------------------------------------
  // The scores, with `dot` in the place of the product.
  value scores() {
    expression *own = nullptr;
    expression e(c_, [&](node_id n, const indices &at) -> std::optional<value> {
      if (n != form_.product.core) return std::nullopt;
      return value{scaled("dot", form_.product.factors, *own, at), {}};
    });
    own = &e;
    return e.at(s_.scores, here_);
  }

  // The factor of the product, where the scores are nothing but that, masked or not; else 0.
  double scale() const {
    node_id scores = s_.scores;
    while (p_[scores].kind == op::mask) scores = p_[scores].in[0];
    if (scores != form_.product.core) return 0;
    double all = 1;
    for (node_id factor : form_.product.factors) {
      if (p_[factor].kind != op::number) return 0;
      all *= static_cast<float>(p_[factor].value);
    }
    return all > 0 && std::isfinite(all) ? all : 0;
  }

  std::string formulas() {
    const value &v = scores_;
    const double factor = scale();
    std::string text = fmt::format("  static constexpr float scale = {:a}f;\n", factor);
    if (factor == 0)
      text += function("float", "score", ", int i, int j, float dot",
                       strict::cast(Halide::Float(32), v.number));
    if (v.present.defined() && hi::expr_uses_var(v.present, "dot"))
      throw std::runtime_error("a mask depends on products");
    text += masks(v.present);
    return text + fmt::format("  static constexpr bool reads = {};\n", reads_);
  }

  const tensor_form &form_;
  const attention_code &code_;
  value scores_;
  axis_id folded_ = no_axis;
  int most_few_rows_ = 0;
  Expr splits_ = 1;
};

}  // namespace

std::optional<printed_stage> print_stage(context &c, const stage &s, const attention_code &code,
                                         int number) {
  try {
    return attention_printer(c, std::get<attention_stage>(s), code, number).run();
  } catch (const std::runtime_error &) {  // an operation without a text
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
