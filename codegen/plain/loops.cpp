// SPDX-License-Identifier: BSL-1.0
#include "codegen/plain/loops.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/expression_text.hpp"
#include "codegen/halide/lower/reductions.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

// Tasks per call; fewer where there are fewer positions.
constexpr int most_tasks = 64;

struct map_or_contraction {
  node_id root = no_step, core = no_step;
};

// True if one condition chooses between steps in this stage. Halide skips the stage that the call
// does not choose, but only if its own loops read it: an extern stage reads both.
bool has_alternative(const context &c, node_id root) {
  const auto is_inside = [&](node_id n) { return n == root || !c.is_stored(n); };
  return depends_on(
      c.p, root, [&](node_id n) { return is_inside(n) && is_alternative(c.p, c.p[n]); }, is_inside);
}

map_or_contraction parts_of(const program &p, const stage &s) {
  if (const auto *c = std::get_if<contraction_stage>(&s)) return {c->root, c->core};
  const auto *m = std::get_if<map_stage>(&s);
  if (!m)
    throw no_text(fmt::format("loops compute maps and contractions, not {} stages", name_of(s)));
  const op core = m->core == no_step ? op::number : p[m->core].kind;
  if (core == op::cumsum || core == op::put)
    throw no_text(fmt::format("loops do not compute {}", name_of(core)));
  return {m->root, m->core};
}

class printer {
 public:
  printer(context &c, const map_or_contraction &s, const std::string &symbol)
      : c_(c), p_(c.p), root_(s.root), core_(s.core), symbol_(symbol) {
    const std::vector<axis_id> &order = c.order(root_);
    const std::vector<axis_id> over = core_ == no_step ? std::vector<axis_id>() : p_[core_].over;
    for (axis_id a : order) {
      const bool is_inside =
          core_ == no_step ? order.size() > 1 && a == order.back() : has(over, a);
      (is_inside ? inside_ : tasks_).push_back(a);
      here_[a] = variable(fmt::format("i{}", here_.size()));
    }
  }

  plain_loops run() {
    expression e(c_, [&](node_id n, const indices &at) -> std::optional<value> {
      if (n == core_) return reductions_.at(p_[n], at);
      return std::nullopt;
    });
    const std::string result = body(stored_form(e.definition(root_, here_), p_[root_].type));
    // Printing the task and the entry may add numbers: the closure comes last.
    const std::string loops = task(result), function = entry(), fields = closure();
    return {func(), fields + loops + function};
  }

 private:
  static Expr variable(const std::string &name, Halide::Type t = Halide::Int(32)) {
    return hi::Variable::make(t, name);
  }
  static std::string name_of_position(const Expr &e) { return e.as<hi::Variable>()->name; }

  // ---- expressions ------------------------------------------------------------------------------
  std::string number(const hi::Variable *v) {
    for (std::size_t k = 0; k < numbers_.size(); ++k)
      if (numbers_[k].as<hi::Variable>()->name == v->name) return fmt::format("c.n{}", k);
    numbers_.emplace_back(v);
    return fmt::format("c.n{}", numbers_.size() - 1);
  }

  std::size_t tensor(node_id n) {
    const auto known = std::find(tensors_.begin(), tensors_.end(), n);
    if (known == tensors_.end()) return tensors_.push_back(n), tensors_.size() - 1;
    return static_cast<std::size_t>(known - tensors_.begin());
  }
  std::string type_of(node_id n) const { return c_type(halide_type(p_[n].type)); }

  std::string body(const Expr &e) {
    return function_body(
        e, [&](const hi::Variable &v) { return v.param.defined() ? number(&v) : v.name; },
        [&](const hi::Call &call, const std::vector<std::string> &at) {
          return fmt::format("c.b{}({})", tensor(c_.read_by(call)), fmt::join(at, ", "));
        });
  }
  std::string text(const Expr &e) {
    const Expr simple = hi::simplify(e);
    if (const auto whole = hi::as_const_int(simple)) return std::to_string(*whole);
    return fmt::format("[&] {{\n{}    }}()", body(simple));
  }

  // ---- loops ------------------------------------------------------------------------------------
  static std::string loop(const std::string &position, const std::string &extent) {
    return fmt::format("    for (int {0} = 0; {0} < {1}; ++{0})\n", position, extent);
  }

  // Sums of floating numbers are kept in double.
  Expr reduce(const node &n, const fold &f) {
    if (n.over.empty()) return f.with(f.identity, or_else(f.of(here_), f.identity));
    const std::string name = fmt::format("r{}", reductions_made_++);
    indices at = here_;
    std::string loops;
    for (axis_id a : n.over) {
      at[a] = variable(fmt::format("{}_{}", name, a));
      loops += loop(name_of_position(at[a]), text(c_.size(a)));
    }
    const Expr next = or_else(f.of(at), f.identity), so_far = variable(name, next.type());
    folds_ +=
        fmt::format("    {} {} = {};\n{}      {} {} [&] {{\n{}    }}();\n",
                    f.rounds ? "double" : c_type(next.type()), name, text(f.identity), loops, name,
                    f.rounds ? "+=" : "=", body(f.rounds ? next : f.with(so_far, next)));
    if (!f.rounds) return so_far;
    folds_ += fmt::format("    const {0} {1}_rounded = static_cast<{0}>({1});\n",
                          c_type(next.type()), name);
    return variable(name + "_rounded", next.type());
  }

  std::string task(const std::string &result) {
    std::string positions = "1", position, loops, at;
    for (std::size_t d = tasks_.size(); d-- > 0;) {
      const std::string extent = text(c_.extent(tasks_[d]));
      position +=
          fmt::format("    const int {0} = static_cast<int>(rest % ({1}));\n    rest /= {1};\n",
                      name_of_position(here_.at(tasks_[d])), extent);
    }
    for (axis_id a : inside_) loops += loop(name_of_position(here_.at(a)), text(c_.extent(a)));
    const std::vector<axis_id> &order = c_.order(root_);
    for (std::size_t d = order.size(); d-- > 0;)
      at += (at.empty() ? "" : ", ") + name_of_position(here_.at(order[d]));
    return fmt::format(
        "int task(void *, int which, uint8_t *all) {{\n"
        "  const closure &c = *reinterpret_cast<const closure *>(all);\n"
        "  const int64_t first = c.positions * which / c.tasks,\n"
        "                end = c.positions * (which + 1) / c.tasks;\n"
        "  for (int64_t at = first; at < end; ++at) {{\n"
        "    [[maybe_unused]] int64_t rest = at;\n"
        "{}{}{}      c.out({}) = [&] {{\n{}    }}();\n"
        "  }}\n  return 0;\n}}\n",
        position, folds_, loops, at, result);
  }

  // ---- the function -----------------------------------------------------------------------------
  std::string closure() {
    std::string fields;
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      fields += fmt::format("  elements<const {}> b{};\n", type_of(tensors_[k]), k);
    for (std::size_t k = 0; k < numbers_.size(); ++k)
      fields += fmt::format("  {} n{};\n", c_type(numbers_[k].type()), k);
    return fmt::format(
        "namespace {{\nstruct closure {{\n{}  elements<{}> out;\n  int64_t positions;\n  int "
        "tasks;\n}};\n",
        fields, type_of(root_));
  }

  std::string entry() {
    std::string parameters, required, any_query, fields, positions = "1";
    for (axis_id a : tasks_) positions += fmt::format(" * int64_t({})", text(c_.extent(a)));
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const node_id n = tensors_[k];
      parameters += fmt::format("halide_buffer_t *b{}, ", k);
      fields += fmt::format("elements<const {}>(b{}), ", type_of(tensors_[k]), k);
      if (!c_.is_stored(n)) continue;
      any_query += fmt::format(" || is_bounds_query(b{})", k);
      const std::vector<axis_id> &order = c_.order(n);
      for (std::size_t d = 0; d < order.size(); ++d)
        required += fmt::format("  require_whole(b{}, {}, {});\n", k, d,
                                text(c_.extent(order[order.size() - 1 - d])));
    }
    std::string locals;
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      parameters += fmt::format("{} n{}, ", c_type(numbers_[k].type()), k);
      locals += fmt::format("{} n{}; ", c_type(numbers_[k].type()), k);
      fields += fmt::format("n{}, ", k);
    }
    std::string values;
    for (std::size_t k = 0; k < numbers_.size(); ++k) values += fmt::format("n{}, ", k);
    return fmt::format(
        "}}  // namespace\n"
        "extern \"C\" int {}({}void *context, halide_buffer_t *out) {{\n"
        "  [[maybe_unused]] const struct {{ {}}} c = {{{}}};\n{}"
        "  if (is_bounds_query(out){}) return 0;\n"
        "  const int64_t positions = {};\n"
        "  if (positions <= 0) return 0;\n"
        "  closure all = {{{}elements<{}>(out), positions,\n"
        "                 static_cast<int>(positions < {} ? positions : {})}};\n"
        "  return halide_do_par_for(context, task, 0, all.tasks, reinterpret_cast<uint8_t "
        "*>(&all));\n"
        "}}\n",
        symbol_, parameters, locals, values, required, any_query, positions, fields, type_of(root_),
        most_tasks, most_tasks);
  }

  Halide::Func func() {
    std::vector<Halide::ExternFuncArgument> arguments;
    for (node_id n : tensors_) arguments.push_back(c_.whole_of(n));
    for (const Expr &e : numbers_) arguments.emplace_back(e);
    arguments.emplace_back(c_.user_context);
    const std::vector<axis_id> &order = c_.order(root_);
    std::vector<Halide::Var> position;
    for (std::size_t d = order.size(); d-- > 0;) position.push_back(c_.var(order[d]));
    Halide::Func f(context::label(p_, root_));
    f.define_extern(symbol_, arguments, halide_type(p_[root_].type), position,
                    Halide::NameMangling::C);
    f.compute_root();
    c_.store(root_, f, order);
    return f;
  }

  context &c_;
  const program &p_;
  const node_id root_, core_;
  const std::string symbol_;
  std::vector<axis_id> tasks_, inside_;  // split over tasks; looped over inside a position
  indices here_;
  std::vector<node_id> tensors_;  // that the loops read
  std::vector<Expr> numbers_;     // parameters
  std::string folds_;
  int reductions_made_ = 0;
  const reductions reductions_{
      c_, [this](node_id operand, const indices &at) { return expression(c_).at(operand, at); },
      [this](const node &n, const fold &f) { return reduce(n, f); }};
};

}  // namespace

plain_loops print_loops(context &c, const stage &s, const std::string &symbol) {
  const map_or_contraction parts = parts_of(c.p, s);
  if (has_alternative(c, parts.root))
    throw no_text("loops would compute both steps between which sizes of the call choose");
  return printer(c, parts, symbol).run();
}

}  // namespace qkv::codegen
