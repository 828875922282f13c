#include "codegen/cuda/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "codegen/cuda/expression_text.hpp"
#include "codegen/cuda/placeholder.hpp"
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

Expr variable(const std::string &name, Halide::Type t = Halide::Int(32)) {
  return hi::Variable::make(t, name);
}

class printer {
 public:
  printer(context &c, const attention_stage &s, const tensor_form &form, int number)
      : c_(c), p_(c.p), s_(s), form_(form), k_(std::make_shared<printed_kernel>()), place_(c, *k_) {
    k_->name = fmt::format("qkv_printed_{}", number);
    for (axis_id a : s.outer) outer_[a] = c.var(a);
    here_ = outer_;
    here_[s.row] = variable("i");
    here_[s.key] = variable("j");
  }

  printed_attention run() {
    printed_attention made{k_, {}, {}};
    const node_id root = s_.sums[0].root;
    require_neighbours(form_.queries, p_[form_.product].over[0]);
    require_neighbours(form_.keys, p_[form_.product].over[0]);
    require_neighbours(form_.values, s_.sums[0].column);
    const bool has_lse = s_.lse != no_step;
    if (has_lse) made.lse = second_result();
    std::string text = constants(has_lse) + place() + sizes();
    text += operand("queries", form_.queries, s_.row) + operand("keys", form_.keys, s_.key) +
            operand("values", form_.values, s_.key);
    text += formulas();
    if (has_lse) text += lse_address();
    text += result(root);
    k_->spec = text;
    k_->what = context::label(p_, root);
    k_->features = form_.features, k_->columns = form_.columns;
    k_->rows = c_.size(s_.row);
    k_->outer = 1;
    for (axis_id a : s_.outer) k_->outer = hi::simplify(k_->outer * c_.extent(a));
    made.out = func(root, place_.value(halide_type(p_[root].type)));
    return made;
  }

 private:
  // ---- constants, and the position of a block ---------------------------------------------------
  std::string constants(bool has_lse) const {
    const char *element = form_.element == bf16  ? "bf16_bits"
                          : form_.element == f16 ? "f16_bits"
                                                 : "f32_number";
    return fmt::format(
        "  static constexpr int D = {}, DV = {};\n  static constexpr bool has_lse = {};\n"
        "  using element = {};\n  using number = {};\n  using arguments = ::arguments;\n",
        form_.features, form_.columns, has_lse, element, number_type());
  }

  std::string outer_name(axis_id a) const {
    for (std::size_t d = 0; d < s_.outer.size(); ++d)
      if (s_.outer[d] == a) return fmt::format("at.o{}", d);
    throw std::logic_error("an axis that is none of the stage's");
  }

  // The blocks of one position along the outer axes are neighbours.
  std::string place() {
    std::string fields, body;
    for (std::size_t d = s_.outer.size(); d-- > 0;) {
      fields += fmt::format(" int o{};", d);
      const std::string n = place_.number(c_.extent(s_.outer[d]));
      body += fmt::format("    at.o{0} = block % {1};\n    block /= {1};\n", d, n);
    }
    return fmt::format(
        "  struct place {{{}}};\n"
        "  static __device__ place at(const arguments &a, unsigned block) {{\n"
        "    place at{{}};\n{}    return at;\n  }}\n",
        fields, body);
  }

  std::string sizes() {
    return fmt::format(
        "  static __device__ int n_rows(const arguments &a) {{ return {}; }}\n"
        "  static __device__ int n_keys(const arguments &a) {{ return {}; }}\n",
        place_.number(c_.size(s_.row)), place_.number(c_.size(s_.key)));
  }

  // ---- tensors ----------------------------------------------------------------------------------
  // The stride along each axis, as text.
  using strides = std::map<axis_id, std::string>;

  strides strides_of(int tensor, const std::vector<axis_id> &order) const {
    strides all;
    for (std::size_t d = 0; d < order.size(); ++d)
      all[order[d]] = place_.stride(tensor, order.size() - 1 - d);
    return all;
  }

  // The same for what a view shows.
  void look_through(const node &view, strides &all) {
    const std::string whole = all.at(view.over[0]);
    all.erase(view.over[0]);
    all[view.over[1]] = view.kind == op::split
                            ? fmt::format("({} * {})", whole, place_.number(c_.size(view.over[2])))
                            : whole;
    if (view.kind == op::split) all[view.over[2]] = whole;
  }

  // The address of the row at position 0, and the stride from row to row.
  std::string address(const char *name, const std::string &type, int tensor, const strides &all,
                      axis_id row) {
    std::string text = place_.first(tensor);
    for (axis_id a : s_.outer)
      if (all.count(a)) text += fmt::format(" + {} * {}", outer_name(a), all.at(a));
    return fmt::format(
        "  static __device__ {0} *{1}(const arguments &a, const place &at) {{ return {2}; }}\n"
        "  static __device__ int {1}_stride(const arguments &a) {{ return {3}; }}\n",
        type, name, text, all.at(row));
  }

  std::string number_type() const { return form_.element == f32 ? "float" : "unsigned short"; }

  std::string operand(const char *name, const tensor_operand &x, axis_id row) {
    const int tensor = place_.tensor(x.memory);
    strides all = strides_of(tensor, c_.order_in_memory(x.memory));
    for (std::size_t v = x.views.size(); v-- > 0;) look_through(p_[x.views[v]], all);
    return address(name, "const " + number_type(), tensor, all, row);
  }

  std::string result(node_id root) {
    const std::vector<axis_id> &order = c_.order(root);
    if (order.back() != s_.sums[0].column) throw std::runtime_error("columns are apart");
    const int tensor = place_.result(root);
    return address("result", number_type(), tensor, strides_of(tensor, order), s_.row);
  }

  // Throws where features or columns are not neighbours in memory.
  void require_neighbours(const tensor_operand &x, axis_id innermost) const {
    for (node_id v : x.views) {
      const std::vector<axis_id> &over = p_[v].over;
      if (over.back() == innermost) innermost = over[0];
    }
    if (c_.order_in_memory(x.memory).back() != innermost)
      throw std::runtime_error("features are apart");
  }

  Halide::Func second_result() {
    return func(s_.lse_root, placeholder::value_of_written(Halide::Float(32)));
  }

  std::string lse_address() {
    const int tensor = place_.written(s_.lse_root);
    return address("lse", "float", tensor, strides_of(tensor, c_.order(s_.lse_root)), s_.row);
  }

  Halide::Func func(node_id root, const Expr &value) {
    const std::vector<axis_id> &order = c_.order(root);
    std::vector<Var> args;
    for (std::size_t d = order.size(); d-- > 0;) args.push_back(c_.var(order[d]));
    Halide::Func f(context::label(p_, root));
    f(args) = value;
    c_.store(root, f, order);
    gpu::pointwise(f);
    return f;
  }

  // ---- formulas ---------------------------------------------------------------------------------
  std::string body(const Expr &e) {
    return function_body(
        e,
        [&](const hi::Variable &v) -> std::string {
          if (v.param.defined()) return place_.number(&v);
          for (axis_id a : s_.outer)
            if (v.name == c_.var(a).name()) return outer_name(a);
          return v.name;
        },
        [&](const hi::Call &call, const std::vector<std::string> &at) {
          reads_ = true;
          return place_.element(place_.tensor(read_by(call)), at);
        });
  }

  // The argument or the stored step that an expression reads.
  node_id read_by(const hi::Call &call) const {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const bool argument = p_[n].kind == op::input || p_[n].kind == op::param;
      if (!argument && !c_.has(n)) continue;
      indices at;
      for (axis_id a : c_.order_in_memory(n)) at[a] = 0;
      if (c_.read(n, at).as<hi::Call>()->name == call.name) return n;
    }
    throw std::logic_error("nothing is called " + call.name);
  }

  std::string function(const char *type, const char *name, const char *parameters, const Expr &e) {
    return fmt::format(
        "  static __device__ {} {}(const arguments &a, const place &at{}) {{\n{}  }}\n", type, name,
        parameters, body(e));
  }

  // The same for a whole tile, whose positions exist.
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
    const value v = scores();
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

  context &c_;
  const program &p_;
  const attention_stage &s_;
  const tensor_form &form_;
  std::shared_ptr<printed_kernel> k_;
  placeholder place_;
  indices outer_, here_;
  bool reads_ = false;  // a formula reads memory at the pair
};

// Those that a call may take; `rows`: of the query, negative if the call decides.
std::vector<tensor_tile> tiles_for(const machine &m, const tensor_form &form, std::int64_t rows) {
  std::vector<tensor_tile> all =
      m.tensor_tiles_for(form.features, form.columns, form.element != f32);
  if (rows < 0) return all;
  const auto for_few = [&](const tensor_tile &t) { return t.most_rows >= rows; };
  if (std::any_of(all.begin(), all.end(), for_few))
    std::erase_if(all, [&](const tensor_tile &t) { return !for_few(t); });
  else
    std::erase_if(all, [](const tensor_tile &t) { return t.most_rows > 0; });
  return all;
}

}  // namespace

std::optional<printed_attention> print_attention(context &c, const attention_stage &s,
                                                 const machine &m, int number) {
  const std::optional<tensor_form> form = tensor_form_of(c.p, c.made.cut, s);
  if (!form) return std::nullopt;
  const std::vector<tensor_tile> tiles = tiles_for(m, *form, c.p.axes[c.p.axes[s.row].root].size);
  if (tiles.empty()) return std::nullopt;
  try {
    printed_attention made = printer(c, s, *form, number).run();
    made.kernel->tiles = tiles;
    return made;
  } catch (const std::runtime_error &) {  // an operation without a text
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
