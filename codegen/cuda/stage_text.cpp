// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/stage_text.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/expression_text.hpp"
#include "codegen/halide/schedules/gpu.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Var;

const char *number_type(dtype t) { return t == f32 ? "float" : "unsigned short"; }

const char *element_name(dtype t) {
  return t == bf16 ? "bf16_bits" : t == f16 ? "f16_bits" : "f32_number";
}

stage_text::stage_text(context &c, const std::vector<axis_id> &outer, int number)
    : c_(c), p_(c.p), k_(std::make_shared<printed_kernel>()), place_(c, *k_), axes_(outer) {
  k_->name = fmt::format("qkv_printed_{}", number);
  for (axis_id a : outer) outer_[a] = c.var(a);
}

Expr stage_text::variable(const std::string &name, Halide::Type t) {
  return hi::Variable::make(t, name);
}

// ---- the position of a block --------------------------------------------------------------------

std::string stage_text::outer_name(axis_id a) const {
  for (std::size_t d = 0; d < axes_.size(); ++d)
    if (axes_[d] == a) return fmt::format("at.o{}", d);
  throw std::logic_error("an axis that is none of the stage's");
}

std::string stage_text::place(axis_id folded) {
  std::string fields, body;
  for (std::size_t d = axes_.size(); d-- > 0;) {
    fields += fmt::format(" int o{};", d);
    const std::string n = place_.number(c_.extent(axes_[d]));
    const std::string step = fmt::format("    at.o{0} = block % {1};\n    block /= {1};\n", d, n);
    body += axes_[d] == folded ? "    if (!folds) {\n" + step + "    }\n" : step;
  }
  return fmt::format(
      "  struct place {{{}}};\n"
      "  static __device__ place at(const arguments &a, unsigned block, bool folds) {{\n"
      "    place at{{}};\n{}    return at;\n  }}\n",
      fields, body);
}

std::string stage_text::folding(axis_id folded) {
  if (folded == no_axis)
    return "  static __device__ int folded(const arguments &) { return 1; }\n"
           "  static __device__ place of_fold(place at, int) { return at; }\n";
  return fmt::format(
      "  static __device__ int folded(const arguments &a) {{ return {}; }}\n"
      "  static __device__ place of_fold(place at, int n) {{\n    {} = n;\n    return at;\n  }}\n",
      place_.number(c_.extent(folded)), outer_name(folded));
}

Expr stage_text::positions(axis_id folded) const {
  Expr all = 1;
  for (axis_id a : axes_)
    if (a != folded) all = all * c_.extent(a);
  return hi::simplify(all);
}

// ---- tensors ------------------------------------------------------------------------------------

stage_text::strides stage_text::strides_of(int tensor, const std::vector<axis_id> &order) const {
  strides all;
  for (std::size_t d = 0; d < order.size(); ++d)
    all[order[d]] = place_.stride(tensor, order.size() - 1 - d);
  return all;
}

stage_text::strides stage_text::strides_of(const tensor_operand &x, int &tensor) {
  tensor = place_.tensor(x.memory);
  strides all = strides_of(tensor, c_.order_in_memory(x.memory));
  for (std::size_t v = x.views.size(); v-- > 0;) look_through(p_[x.views[v]], all);
  return all;
}

// The same for what a view shows.
void stage_text::look_through(const node &view, strides &all) {
  const std::string whole = all.at(view.over[0]);
  all.erase(view.over[0]);
  all[view.over[1]] = view.kind == op::split
                          ? fmt::format("({} * {})", whole, place_.number(c_.size(view.over[2])))
                          : whole;
  if (view.kind == op::split) all[view.over[2]] = whole;
}

std::string stage_text::address(const std::string &name, const std::string &type, int tensor,
                                const strides &all, const std::string &parameters,
                                const std::map<axis_id, std::string> &at) {
  std::string text = place_.first(tensor);
  for (axis_id a : axes_)
    if (all.count(a)) text += fmt::format(" + {} * {}", outer_name(a), all.at(a));
  for (const auto &[axis, position] : at) text += fmt::format(" + {} * {}", position, all.at(axis));
  return fmt::format(
      "  static __device__ {} *{}(const arguments &a, const place &at{}) {{ return {}; }}\n", type,
      name, parameters, text);
}

std::string stage_text::stride_function(const std::string &name, const std::string &stride) {
  return fmt::format("  static __device__ int {}_stride(const arguments &a) {{ return {}; }}\n",
                     name, stride);
}

Halide::Func stage_text::func(node_id root) {
  return stored(root, place_.value(halide_type(p_[root].type)));
}

Halide::Func stage_text::func_of_written(node_id root, node_id by) {
  c_.written_by(root, by);
  return stored(root, placeholder::value_of_written(halide_type(p_[root].type)));
}

Halide::Func stage_text::stored(node_id root, const Expr &value) {
  const std::vector<axis_id> &order = c_.order(root);
  std::vector<Var> args;
  for (std::size_t d = order.size(); d-- > 0;) args.push_back(c_.var(order[d]));
  Halide::Func f(context::label(p_, root));
  f(args) = value;
  c_.store(root, f, order);
  gpu::pointwise(f);
  return f;
}

// ---- formulas -----------------------------------------------------------------------------------

std::string stage_text::finish(const std::string &name, const char *parameters, node_id root,
                               node_id core, const char *sum, const indices &at) {
  expression e(c_, [&](node_id n, const indices &) -> std::optional<value> {
    if (n == core) return value{variable(sum, Halide::Float(32)), {}};
    return std::nullopt;
  });
  const dtype t = p_[root].type;
  return function(number_type(t), name.c_str(), parameters, stored_form(e.definition(root, at), t));
}

std::string stage_text::body(const Expr &e) {
  return function_body(
      e,
      [&](const hi::Variable &v) -> std::string {
        if (v.param.defined()) return place_.number(&v);
        for (axis_id a : axes_)
          if (v.name == c_.var(a).name()) return outer_name(a);
        return v.name;
      },
      [&](const hi::Call &call, const std::vector<std::string> &at) {
        reads_ = true;
        return place_.element(place_.tensor(c_.read_by(call)), at);
      });
}

std::string stage_text::function(const char *type, const char *name, const char *parameters,
                                 const Expr &e) {
  return fmt::format(
      "  static __device__ {} {}(const arguments &a, const place &at{}) {{\n{}  }}\n", type, name,
      parameters, body(e));
}

}  // namespace qkv::codegen
