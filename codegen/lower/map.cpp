#include "codegen/lower/map.hpp"

#include <functional>
#include <limits>
#include <stdexcept>

#include "codegen/lower/expression.hpp"
#include "codegen/lower/math.hpp"
#include "codegen/stages/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::select;
using Halide::Var;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float lowest = std::numeric_limits<float>::lowest();
using combine = std::function<Expr(Expr, Expr)>;

Expr plus(Expr a, Expr b) { return a + b; }
// NaN comes through
Expr larger(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::max(a, b);
  return select(Halide::is_nan(a) || math::above(a, b), a, b);
}
Expr smaller(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::min(a, b);
  return select(Halide::is_nan(a) || math::below(a, b), a, b);
}

class lowering {
 public:
  lowering(context &c, const stage &s) : c_(c), p_(c.p), s_(s), root_(s.roots[0]) {
    const std::vector<axis_id> order = storage_order(p_, c.cut, root_);
    for (std::size_t d = order.size(); d-- > 0;) {
      Var v = c_.var(order[d]);
      f_.position.push_back(v);
      here_[order[d]] = v;
    }
    order_ = order;
  }

  map_funcs run() {
    f_.out = Func(context::label(p_, root_));
    value v = s_.core < 0 ? plain() : reduced(p_[s_.core]);
    f_.out(f_.position) = stored_form(v, p_[root_].type);
    c_.store(root_, f_.out, order_);
    return f_;
  }

 private:
  value plain() { return expression(c_).definition(root_, here_); }

  // One number per position of the axes that remain: fold(over the present elements of what `of` gives).
  Expr reduce(const std::string &what, const node &n, Expr identity, const combine &fold,
              const std::function<value(const indices &)> &of) {
    std::vector<Var> position;
    indices at;
    for (std::size_t d = order_.size(); d-- > 0;)
      if (!has(n.over, order_[d])) {
        position.push_back(c_.var(order_[d]));
        at[order_[d]] = position.back();
      }
    const axis_id last = n.over.back();
    Halide::Region region = {
        Halide::Range(0, (c_.size(last) + reduction_lanes - 1) / reduction_lanes)};
    for (std::size_t d = n.over.size() - 1; d-- > 0;)
      region.push_back(Halide::Range(0, c_.size(n.over[d])));
    Halide::RDom r(region, "over");
    const Expr element = r[0] * reduction_lanes + f_.lane;
    at[last] = c_.within(last, element);
    for (std::size_t d = 0; d + 1 < n.over.size(); ++d)
      at[n.over[d]] = r[static_cast<int>(n.over.size() - 1 - d)];
    value v = of(at);
    v.present = both(v.present, element < c_.size(last));

    map_funcs::reduction red;
    red.position = position;
    for (std::size_t d = 0; d < n.over.size(); ++d) red.over.push_back(r[static_cast<int>(d)]);
    red.partial = Func("partial_" + what + "_" + context::label(p_, root_));
    std::vector<Expr> args = {f_.lane};
    args.insert(args.end(), position.begin(), position.end());
    red.partial(args) = identity;
    red.partial(args) = fold(red.partial(args), or_else(v, identity));
    std::vector<Expr> lanes;
    for (int k = 0; k < reduction_lanes; ++k) {
      args[0] = k;
      lanes.push_back(red.partial(args));
    }
    for (int half = reduction_lanes / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) lanes[k] = fold(lanes[k], lanes[k + half]);
    red.result = Func(what + "_" + context::label(p_, root_));
    red.result(position) = lanes[0];
    f_.reductions.push_back(red);
    std::vector<Expr> here(position.begin(), position.end());
    return red.result(here);
  }

  // In the type that the reduction computes in: f32, or i32 for sums and extremes of whole numbers.
  value operand(const node &n, const indices &at) {
    value v = expression(c_).at(n.in[0], at);
    v.number = Halide::cast(halide_type(n.type), v.number);
    return v;
  }

  Expr maximum(const node &n) {
    return reduce("max", n, lowest_of(n), larger,
                  [&](const indices &at) { return operand(n, at); });
  }

  // What an empty maximum, minimum and sum give.
  static Expr lowest_of(const node &n) {
    return n.type == i32 ? Halide::Int(32).min() : Expr(-infinity);
  }
  static Expr highest_of(const node &n) {
    return n.type == i32 ? Halide::Int(32).max() : Expr(infinity);
  }
  static Expr zero_of(const node &n) { return Halide::cast(halide_type(n.type), 0); }

  // exp(x - m) where a row of only -inf counts as empty
  static Expr shifted(const Expr &x, const Expr &m) {
    return math::exp_nonpositive(x - select(math::below(m, lowest), 0.f, m));
  }

  // sum exp(x - m)
  Expr total(const node &n, const Expr &m) {
    return reduce("total", n, 0.f, plus, [&](const indices &at) {
      const value v = operand(n, at);
      return value{shifted(v.number, m), v.present};
    });
  }

  // How many elements mean() divides by: all, unless mask() may have removed some.
  Expr count_of(const node &n) {
    if (masked_steps(p_)[n.in[0]])
      return reduce("count", n, 0.f, plus,
                    [&](const indices &at) { return value{1.f, operand(n, at).present}; });
    Expr count = 1.f;
    for (axis_id a : n.over) count = count * Halide::cast<float>(c_.size(a));
    return count;
  }

  Expr prefix(const node &n) {
    const axis_id axis = n.over[0];
    const Halide::RDom r(0, Halide::max(c_.size(axis) - 1, 0), "step");
    f_.along = c_.var(axis);
    f_.step = r.x;
    f_.prefix = Func("prefix_" + context::label(p_, root_));
    std::vector<Expr> here(f_.position.begin(), f_.position.end()), before = here, after = here;
    for (std::size_t d = 0; d < here.size(); ++d)
      if (order_[here.size() - 1 - d] == axis) before[d] = r.x, after[d] = r.x + 1;
    const value v = operand(n, here_);
    f_.prefix(f_.position) = or_else(v, zero_of(n));
    f_.prefix(after) += f_.prefix(before);
    return f_.prefix(here);
  }

  value reduced(const node &n) {
    const auto own = [&](const indices &at) { return operand(n, at); };
    switch (n.kind) {
      case op::sum:
        return {reduce("sum", n, zero_of(n), plus, own), {}};
      case op::max_over:
        return {maximum(n), {}};
      case op::min_over:
        return {reduce("min", n, highest_of(n), smaller, own), {}};
      case op::mean: {
        const Expr total = reduce("sum", n, 0.f, plus, own);
        const Expr count = count_of(n);
        return {select(math::is_zero(count), 0.f, total / count), {}};
      }
      case op::logsumexp: {
        const Expr m = maximum(n), l = total(n, m);
        return {select(math::is_zero(l), -infinity, m + math::log(l)), {}};
      }
      case op::softmax: {
        const Expr m = maximum(n), l = total(n, m);
        const value v = operand(n, here_);
        return {select(math::is_zero(l), 0.f, or_else({shifted(v.number, m) / l, v.present}, 0.f)),
                {}};
      }
      case op::normalize: {
        const Expr l = reduce("total", n, 0.f, plus, own);
        const value v = operand(n, here_);
        return {select(math::is_zero(l), 0.f, or_else({v.number / l, v.present}, 0.f)), {}};
      }
      case op::cumsum:
        return {prefix(n), {}};
      case op::dot: {
        const auto product = [&](const indices &at) {
          expression e(c_);
          const value a = e.at(n.in[0], at), b = e.at(n.in[1], at);
          const Halide::Type t = halide_type(n.type);
          return value{Halide::cast(t, a.number) * Halide::cast(t, b.number),
                       both(a.present, b.present)};
        };
        return {reduce("dot", n, zero_of(n), plus, product), {}};
      }
      default:
        throw std::logic_error("no map for " + std::string(name_of(n.kind)));
    }
  }

  context &c_;
  const program &p_;
  const stage &s_;
  node_id root_;
  map_funcs f_;
  indices here_;
  std::vector<axis_id> order_;
};

}  // namespace

map_funcs lower_map(context &c, const stage &s) { return lowering(c, s).run(); }

}  // namespace qkv::codegen
