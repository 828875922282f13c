// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "codegen/cuda/stage_text.hpp"
#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/key_range.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/plan/tensor_form.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Var;

constexpr int merge_warps = 4;  // of a block, each of which merges a row

class attention_printer : stage_text {
 public:
  attention_printer(context &c, const attention_stage &s, const tensor_form &form, int number)
      : stage_text(c, s.outer, number), s_(s), form_(form), here_(outer_) {
    here_[s.row] = variable("i");
    here_[s.key] = variable("j");
  }

  // Nothing where the machine has no tiles for it.
  std::optional<printed_attention> run(const machine &m) {
    const node_id root = s_.sums[0].root;
    require_neighbours(form_.queries, p_[form_.product].over[0]);
    require_neighbours(form_.keys, p_[form_.product].over[0]);
    require_neighbours(form_.values, s_.sums[0].column);
    scores_ = scores();
    folded_ = foldable();
    const std::vector<tensor_tile> tiles = tiles_of(m);
    if (tiles.empty()) return std::nullopt;
    const bool has_lse = s_.lse != no_step;
    printed_attention made{k_, {}, {}};
    if (has_lse) made.lse = func(s_.lse_root, placeholder::value_of_written(Halide::Float(32)));
    std::string text = constants(has_lse) + place(folded_) + sizes() + folding(folded_);
    text += operand("queries", form_.queries, s_.row) + operand("keys", form_.keys, s_.key) +
            operand("values", form_.values, s_.key);
    text += formulas();
    if (has_lse) text += second_result("lse", s_.lse_root);
    text += result(root);
    if (tiles[0].most_rows > 0) text += splitting(tiles, m.gpu.split_keys);
    k_->spec = text;
    k_->what = context::label(p_, root);
    for (const tensor_tile &t : tiles) k_->codes.push_back(code(t));
    made.out = func(root, place_.value(halide_type(p_[root].type)));
    return made;
  }

 private:
  std::string constants(bool has_lse) const {
    return fmt::format(
        "  static constexpr int D = {}, DV = {};\n  static constexpr bool has_lse = {};\n"
        "  using element = {};\n  using number = {};\n  using arguments = ::arguments;\n",
        form_.features, form_.columns, has_lse, element_name(form_.element),
        number_type(form_.element));
  }

  std::string sizes() {
    return fmt::format(
        "  static __device__ int n_rows(const arguments &a) {{ return {}; }}\n"
        "  static __device__ int n_keys(const arguments &a) {{ return {}; }}\n",
        place_.number(c_.size(s_.row)), place_.number(c_.size(s_.key)));
  }

  // ---- few rows ---------------------------------------------------------------------------------
  // An axis of the queries alone, whose positions see the same keys: a tile of few rows has rows of
  // all of them.
  axis_id foldable() {
    int tensor = 0;
    const strides keys = strides_of(form_.keys, tensor), values = strides_of(form_.values, tensor);
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
  std::vector<tensor_tile> tiles_of(const machine &m) {
    std::vector<tensor_tile> all =
        m.tensor_tiles_for(form_.features, form_.columns, form_.element != f32);
    for (const tensor_tile &t : all) most_few_rows_ = std::max(most_few_rows_, t.most_rows);
    std::vector<tensor_tile> kept;
    for (const tensor_tile &t : all) {
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
    printed_code x;
    x.skeleton = t.skeleton;
    x.constants = fmt::format(
        "  static constexpr int BM = {}, BN = {}, WARPS = {};\n"
        "  static constexpr bool FOLDS = {}, SPLITS = {};\n"
        "  static constexpr int RECORD = {}, MERGE_WARPS = {};\n",
        t.rows, t.keys, t.warps, folds, few, record(), merge_warps);
    x.what = fmt::format("{} {} x {}", t.skeleton, t.rows, t.keys);
    if (few) x.what += fmt::format(" for {} rows", t.most_rows);
    x.target = t.target();
    x.capability = t.capability;
    x.exact = t.exact;
    x.threads = t.threads();
    x.shared_bytes = t.shared_bytes(form_.features, form_.columns);
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

  // ---- tensors ----------------------------------------------------------------------------------
  std::string operand(const char *name, const tensor_operand &x, axis_id row) {
    int tensor = 0;
    const strides all = strides_of(x, tensor);
    return address(name, std::string("const ") + number_type(form_.element), tensor, all) +
           stride_function(name, all.at(row));
  }

  std::string result(node_id root) {
    const std::vector<axis_id> &order = c_.order(root);
    if (order.back() != s_.sums[0].column) throw std::runtime_error("columns are apart");
    const int tensor = place_.result(root);
    const strides all = strides_of(tensor, order);
    return address("result", number_type(form_.element), tensor, all) +
           stride_function("result", all.at(s_.row));
  }

  std::string second_result(const char *name, node_id root) {
    const int tensor = place_.written(root);
    const strides all = strides_of(tensor, c_.order(root));
    return address(name, "float", tensor, all) + stride_function(name, all.at(s_.row));
  }

  // Throws where features or columns are not neighbours in memory.
  void require_neighbours(const tensor_operand &x, axis_id inner) const {
    if (innermost(x) != inner) throw std::runtime_error("features are apart");
  }

  // ---- formulas ---------------------------------------------------------------------------------
  // A function of a whole tile, whose positions exist.
  std::string function_of_tile(const char *type, const char *name, const char *parameters,
                               const Expr &e) {
    const bool reads = reads_;
    const std::string text = function(type, name, parameters, e);
    reads_ = reads;
    return text;
  }

  // The scores, with `dot` in the place of the product.
  value scores() {
    expression *own = nullptr;
    expression e(c_, [&](node_id n, const indices &at) -> std::optional<value> {
      if (n != form_.product) return std::nullopt;
      Expr product = variable("dot", Halide::Float(32));
      for (node_id factor : form_.factors)
        product = product * strict::cast(product.type(), own->at(factor, at).number);
      return value{product, {}};
    });
    own = &e;
    return e.at(s_.scores, here_);
  }

  // The factor of the product, where the scores are nothing but that, masked or not; else 0.
  double scale() const {
    node_id scores = s_.scores;
    while (p_[scores].kind == op::mask) scores = p_[scores].in[0];
    if (scores != form_.product) return 0;
    double all = 1;
    for (node_id factor : form_.factors) {
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
    const bool masked = v.present.defined() && !hi::is_const_one(v.present);
    text += fmt::format("  static constexpr bool is_masked = {};\n", masked);
    if (masked) {
      if (hi::expr_uses_var(v.present, "dot"))
        throw std::runtime_error("a mask depends on products");
      text += function("bool", "keep", ", int i, int j", v.present);
      text += range() + whole(v.present);
    }
    return text + fmt::format("  static constexpr bool reads = {};\n", reads_);
  }

  // The keys that rows i0 to i1 - 1 may see.
  std::string range() {
    const key_range seen =
        visible_keys(c_, s_, {{s_.row, {variable("i0"), variable("i1") - 1}}}, outer_);
    return function_of_tile("int", "first_key", ", int i0, int i1",
                            seen.from.defined() ? seen.from : Expr(0)) +
           function_of_tile("int", "end_of_keys", ", int i0, int i1",
                            seen.to.defined() ? seen.to : c_.size(s_.key));
  }

  // True where nothing of the tile is masked.
  std::string whole(const Expr &present) {
    hi::Scope<hi::Interval> tile;
    tile.push("i", hi::Interval(variable("i0"), variable("i1") - 1));
    tile.push("j", hi::Interval(variable("j0"), variable("j1") - 1));
    const hi::Interval all = hi::bounds_of_expr_in_scope(present, tile);
    const bool known = all.has_lower_bound() && all.min.type().is_bool();
    return function_of_tile("bool", "all_kept", ", int i0, int i1, int j0, int j1",
                            known ? hi::simplify(all.min) : hi::const_false());
  }

  const attention_stage &s_;
  const tensor_form &form_;
  indices here_;
  value scores_;
  axis_id folded_ = no_axis;
  int most_few_rows_ = 0;
  Expr splits_ = 1;
};

}  // namespace

std::optional<printed_attention> print_attention(context &c, const attention_stage &s,
                                                 const machine &m, int number) {
  const std::optional<tensor_form> form = tensor_form_of(c.p, c.made.cut, s);
  if (!form) return std::nullopt;
  try {
    return attention_printer(c, s, *form, number).run(m);
  } catch (const std::runtime_error &) {  // an operation without a text
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
