// SPDX-License-Identifier: BSL-1.0
// Formulas of activations, gates and statistics that are slips.
#include <algorithm>
#include <cmath>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_rules.hpp"
#include "codegen/program/projections.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/signs.hpp"

namespace qkv::codegen {

namespace {

using namespace checks;

// One constant is that of gelu, or nearly, and another is not.
bool is_near_gelu(const place &x) {
  const bool has_a = std::abs(x.number("a") - 0.797885) < 0.001;
  const bool has_b = std::abs(x.number("b") - 0.044715) < 0.0001;
  const bool is_by_ten =
      nearly(x.number("b") / 0.044715, 10) || nearly(x.number("b") * 10, 0.044715);
  return has_a != has_b || (!has_b && is_by_ten);
}

// The scale of a quantisation to numbers with a sign.
bool is_scale_of_signed(const place &x) {
  const double n = x.number("n");
  const op kind = x.p[x["x"]].kind;
  if (has_word(x.p[x["x"]].name, {"amax", "abs"}) || signs_of(x.p)[x["x"]] == sign::not_negative)
    return false;
  return (n == 127 || n == 7 || n == 448) && kind != op::abs && kind != op::exp &&
         kind != op::softmax && kind != op::sigmoid && kind != op::relu && kind != op::mul;
}

// w is a matrix, and half of another such layer is added elsewhere.
bool is_half_elsewhere(const place &x) {
  const program &p = x.p;
  std::vector<std::int64_t> hidden;  // features: those of an adapter are fewer
  for (const node &n : p.nodes)
    if (n.kind == op::dot && n.over.size() == 1 && p[inner_of(p, n.in[1])].kind == op::param &&
        p[inner_of(p, n.in[0])].kind != op::input)
      hidden.push_back(p.axes[p.axes[n.over[0]].root].size);
  const node &own = p[inner_of(p, x["f"])];
  const std::int64_t size = own.over.size() == 1 ? p.axes[p.axes[own.over[0]].root].size : -1;
  if (std::any_of(hidden.begin(), hidden.end(), [&](std::int64_t n) { return n > 2 * size; }))
    return false;
  const auto is_layer = [&](node_id n) {
    const node &d = p[inner_of(p, n)];
    if (d.kind != op::dot || p[inner_of(p, d.in[1])].kind != op::param) return false;
    const op activation = p[inner_of(p, d.in[0])].kind;
    return activation == op::silu || activation == op::gelu || activation == op::relu;
  };
  const auto is_half = [&](const node &n) {
    return n.kind == op::mul && n.name.empty() && is_number(p, inner_of(p, n.in[0])) &&
           p[inner_of(p, n.in[0])].value == 0.5 && is_layer(n.in[1]);
  };
  return p[inner_of(p, x["w"])].kind == op::param && is_layer(x["f"]) &&
         std::any_of(p.nodes.begin(), p.nodes.end(), is_half);
}

// A bias that lacks the axes of the sum, of parts as heads and experts are. What a layer makes of
// each element of a set has its bias there.
bool is_bias_of_sum(const place &x) {
  const program &p = x.p;
  const std::vector<axis_id> &axes = x.axes("a");
  const node &bias = p[inner_of(p, x["b"])], &term = p[x["x"]];
  const auto is_of_parts = [&](axis_id a) { return static_size(p, a) > 1 || p.axes[a].batch; };
  const auto is_shared = [&](node_id m) {
    const node &w = p[inner_of(p, m)];
    return w.kind == op::param && !varies_along(w, axes);
  };
  if (term.kind == op::dot && std::any_of(term.in.begin(), term.in.end(), is_shared)) return false;
  return bias.kind == op::param && !bias.shape.empty() && !varies_along(bias, axes) &&
         contains(term.shape, axes) && term.kind != op::param &&
         std::all_of(axes.begin(), axes.end(), is_of_parts);
}

// y is made of (.. - m) / s, where m is a statistic.
bool is_undone(const place &x) {
  const program &p = x.p;
  const op statistic = p[x["m"]].kind;
  if (statistic != op::mean && statistic != op::min_over && statistic != op::max_over) return false;
  if (is_number(p, x["s"]) || x["m"] == x["s"]) return false;
  return depends_on(p, x["y"], [&](node_id m) {
    const node &n = p[m];
    if (n.kind != op::div || inner_of(p, n.in[1]) != x["s"]) return false;
    const node_id shifted = inner_of(p, n.in[0]);
    return is_unnamed(p, op::sub, shifted) && inner_of(p, p[shifted].in[1]) == x["m"];
  });
}

// One position along the axis is 1 at most, and the comparison is decided by that.
bool is_choice_along(const place &x) {
  const node &same = x.p[inner_of(x.p, x["e"])];
  const op kind = x.p[x.at].kind;
  const bool is_beyond_one =
      kind == op::less_equal || kind == op::greater ? x.number("n") >= 1 : x.number("n") > 1;
  if (x.axes("a") != x.axes("b") || !is_beyond_one) return false;
  return std::any_of(same.in.begin(), same.in.end(), [&](node_id m) {
    return !varies_along(x.p[unbroadcast(x.p, m)], x.axes("a"));
  });
}

// A product contracts the step.
bool is_contracted(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    found = found || x.p[user].kind == op::dot;
    return is_view(x.p[user].kind);
  });
  return found;
}

// A product with a param that is called a gate: Wg, G, w_gate.
bool is_gate(const place &x, const char *variable) {
  const node &product = x.p[without_bias(x.p, x[variable])];
  return std::any_of(product.in.begin(), product.in.end(), [&](node_id m) {
    const std::string &name = x.p[inner_of(x.p, m)].name;
    return x.p[inner_of(x.p, m)].kind == op::param &&
           (has_word(name, {"gate"}) || name.starts_with("G") || name.starts_with("g") ||
            name.starts_with("Wg") || name.starts_with("W_g"));
  });
}

// A result, of an input x, a layer of it and another input that is called a gate.
bool is_residual_gated(const place &x) {
  const node &gate = x.p[unbroadcast(x.p, inner_of(x.p, x["g"]))];
  return is_result(x) && x.p[x["x"]].kind == op::input && gate.kind == op::input &&
         is_floating(gate.type) && !gate.shape.empty() && has_word(gate.name, {"gate"}) &&
         x.reads(x["h"], x["x"]);
}

// An element at exchanged positions, as a matrix that is made symmetric has it.
bool is_renamed(const program &p, node_id n) {
  while (is_view(p[n].kind) && p[n].name.empty()) {
    if (p[n].kind == op::rename) return true;
    n = p[n].in[0];
  }
  return false;
}
bool are_branches_alike(const place &x) {
  const std::vector<node_id> &in = x.p[x.at].in;
  return !is_renamed(x.p, in[1]) && !is_renamed(x.p, in[2]);
}
bool is_half_of_itself(const place &x) {
  const auto adds_renamed = [&](node_id m) {
    const node &sum = x.p[inner_of(x.p, m)];
    return sum.kind == op::add && (is_renamed(x.p, sum.in[0]) || is_renamed(x.p, sum.in[1]));
  };
  const std::vector<node_id> &in = x.p[x.at].in;
  return !is_argument(x.p[x["x"]]) && x.p[x["x"]].kind != op::mul &&
         std::none_of(in.begin(), in.end(), adds_renamed);
}

// The gates of both terms are along the same axes: not of a node and of its neighbour.
bool is_gate_of_one_place(const place &x) {
  std::vector<std::vector<axis_id>> shapes;
  for (const node_id term : x.p[x.at].in) {
    const node &product = x.p[inner_of(x.p, term)];
    for (const node_id factor : product.in)
      if (of_all_positions(x.p, factor) == x["z"]) shapes.push_back(x.p[factor].shape);
  }
  return shapes.size() < 2 || contains(shapes[0], shapes[1]) || contains(shapes[1], shapes[0]);
}

// A param scales it afterwards, as that of a norm.
bool has_gain(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    if (x.p[user].kind != op::mul) return is_view(x.p[user].kind);
    for (const node_id m : x.p[user].in)
      found = found || x.p[unbroadcast(x.p, inner_of(x.p, m))].kind == op::param;
    return true;
  });
  return found;
}

// Not a divisor that is kept from 0: logarithms of counts.
bool is_floor_of_logarithm(const place &x) {
  const node &of = x.p[x["x"]];
  const bool is_count = !is_floating(of.type) || of.kind == op::size || of.kind == op::add;
  return is_small(x) && !is_count && !x.is_right_of(op::div);
}

const formula_rule layer_rules[] = {
    {{"sum<a>(x + b)"},
     is_bias_of_sum,
     "adds {b} once for each position of {<a>}; did you mean sum<{<a>}>({x}) + {b}?"},
    {{"(y + m) * s"},
     is_undone,
     "adds {m} before it multiplies by {s}, but {m} was subtracted before the division; did you "
     "mean {y} * {s} + {m}?"},
    {{"y / s + m"},
     is_undone,
     "divides by {s} again, where x - {m} was divided by it; did you mean {y} * {s} + {m}?"},
    {{"below(cumsum<a>(where(e:equal(index<b>(), t), 1, 0)), #n)",
      "below(cumsum<a>(cast(e:equal(index<b>(), t))), #n)",
      "above(cumsum<a>(where(e:equal(index<b>(), t), 1, 0)), #n)",
      "above(cumsum<a>(cast(e:equal(index<b>(), t))), #n)"},
     is_choice_along,
     "counts along {<a>}, of which one position at most is chosen; did you mean another axis of "
     "cumsum?"},
    // an operation and its inverse, or one done twice
    {{"log(e:exp(x))"}, is_slip, "is {x} itself; did you mean 1 + {e}?"},
    {{"log(sigmoid(g:sigmoid(x)))"}, is_slip, "has a sigmoid of {g}; leave one sigmoid out"},
    {{"(x + x) / 2", "0.5 * (x + x)"},
     is_half_of_itself,
     "is {x} itself; did you mean another step?"},
    {{"smooth(a:dot(x, y)) * smooth(b:dot(x, z))"},
     [](const place &x) {
       return x["a"] != x["b"] && x.p[x["y"]].kind == op::param && x.p[x["z"]].kind == op::param;
     },
     "activates both {a} and {b}; did you mean one of them as it is?"},
    {{"dot(x, smooth(w))"},
     [](const place &x) {
       return x.p[x["w"]].kind == op::param && x.p[x["x"]].kind != op::param &&
              x.p[x["w"]].shape.size() > 1;
     },
     "activates the matrix {w}; did you mean to activate dot({x}, {w})?"},
    {{"smooth(a:dot(x, y)) * a"},
     is_slip,
     "gates {a} by itself; did you mean another projection as the gate?"},
    {{"(0.5 * x) * tanh(u)", "0.5 * (x * tanh(u))", "(0.5 * x) * erf(u)", "0.5 * (x * erf(u))"},
     [](const place &x) { return x.reads(x["u"], x["x"]); },
     "lacks 1 + in its second factor, as gelu has it; did you mean gelu({x})?"},
    {{"tanh(x * #n) / #n", "tanh(x / #n) / #n", "tanh(x * #n) * #n"},
     is_cap_upside_down,
     "divides and multiplies in the wrong order; did you mean softcap({x}, {#n})?"},
    {{"l:dot<r>(dot<d>(x, u), w) * (size<q>() / #n)", "l:dot<r>(dot<d>(x, u), w) * size<q>()",
      "l:dot<r>(dot<d>(x, u), w) * (#n * size<q>())"},
     [](const place &x) {
       return x.root("q") == x.root("r") && x.p[x["u"]].kind == op::param &&
              x.p[x["w"]].kind == op::param;
     },
     "multiplies by the rank, of which {l} is a sum already; did you mean to divide by "
     "size({<r>})?"},
    {{"tanh(x * c) * c"},
     [](const place &x) { return x.p[x["c"]].kind == op::param; },
     "multiplies by {c} inside of tanh, too; did you mean {c} * tanh({x} / {c})?"},
    {{"tanh(#a * (h + (#b * h) * h))", "tanh(#a * (h + #b * (h * h)))"},
     [](const place &x) { return nearly(x.number("b"), 0.044715); },
     "has the square of {h}, where gelu has its cube; did you mean gelu({h})?"},
    {{"tanh(#a * (h + ((#b * h) * h) * h))", "tanh(#a * (h + #b * ((h * h) * h)))",
      "tanh(#a * (h + #b * pow(h, 3)))", "tanh((h + ((#b * h) * h) * h) * #a)"},
     is_near_gelu,
     "has the constants {#a} and {#b} where gelu has 0.797885 and 0.044715; did you mean "
     "gelu({h})?"},
    {{"h * sigmoid(#a * h)"},
     [](const place &x) { return nearly(x.number("a"), -1.702); },
     "falls where {h} grows; did you mean 1.702?"},
    {{"(h * #c) * (1 + erf(u))", "(h * (1 + erf(u))) * #c", "h * (#c * (1 + erf(u)))"},
     is_unlike_gelu,
     "takes erf of another part of {h} than {h} / sqrt(2); did you mean gelu({h})?"},
    {{"where(above(x, 0), x, exp(x))"}, is_slip, "jumps by 1 at 0; did you mean elu({x})?"},
    {{"where(above(x, 0), #a * x, x)", "where(below(x, 0), x, #a * x)"},
     [](const place &x) { return x.number("a") > 0 && x.number("a") < 1; },
     "scales {x} by {#a} where it is positive; did you exchange the branches?"},
    {{"h + f:dot(smooth(dot(x, u)), w)"},
     is_half_elsewhere,
     "adds the whole of a feed forward, where another one adds half; did you mean 0.5 * {f}?"},
    // gates
    {{"z:sigmoid(g) * x + z * y"},
     [](const place &x) {  // nor the derivative of x * sigmoid(x)
       const auto is_rest = [&](node_id m) {
         return x.p[m].kind == op::sub && inner_of(x.p, x.p[m].in[1]) == x["z"];
       };
       return !depends_on(x.p, x["x"], is_rest) && !depends_on(x.p, x["y"], is_rest) &&
              is_gate_of_one_place(x);
     },
     "has the gate {z} on both terms; did you mean 1 - {z}, or another gate, on one?"},
    {{"f * s + f * y"},
     [](const place &x) {
       const node &gate = x.p[of_all_positions(x.p, x["f"])];
       const auto is_state = [&](node_id m) { return m == x["s"]; };
       const auto is_within = [&](node_id m) { return x.p[m].kind != op::element; };
       return x.p[x["s"]].kind == op::carried && gate.kind != op::sigmoid &&
              gate.kind != op::number && !gate.shape.empty() &&
              !depends_on(x.p, x["y"], is_state, is_within);
     },
     "has the gate {f} on both terms; did you mean 1 less it on one?"},
    {{"z:sigmoid(g) * x + (z - 1) * y"},
     [](const place &x) {  // not the gradient of a cross entropy
       const node &other = x.p[x["x"]];
       return other.kind != op::sub || !x.reads(x["y"], inner_of(x.p, other.in[1]));
     },
     "has the rest of the gate with the other sign; did you mean 1 - {z}?"},
    {{"t:sigmoid(g) * h + (1 - h) * y"},
     [](const place &x) {
       return x.p[x["h"]].kind != op::sigmoid && x["h"] != x["t"] && !is_rest_of(x, "y", "t") &&
              !is_argument(x.p[x["h"]]);
     },
     "has the gate {t}, but 1 - {h} beside it; did you mean 1 - {t}?"},
    {{"g:tanh(b) * x + (1 - g) * y"},
     is_slip,
     "has a share that may be negative, {g}; did you mean sigmoid({b})?"},
    {{"(1 - z:sigmoid(g)) * s + r:sigmoid(f) * c"},
     is_inside_other,
     "has the gates 1 - {z} and {r}; did you mean {z} in place of {r}?"},
    {{"w:take<e>(softmax<a>(s), i) * x + w * y"},
     [](const place &x) {  // y is not the bias of an expert
       const auto is_of_param = [&](const char *v) {
         const node &of = x.p[x[v]];
         return of.kind == op::take && x.p[inner_of(x.p, of.in[0])].kind == op::param;
       };
       return !is_of_param("x") && !is_of_param("y");
     },
     "has the share {w} on both terms; did you mean another share on one?"},
    {{"m * x + m * take<a>(x, i)", "m * x + m * where(c, take<a>(x, i), o)"},
     [](const place &x) { return x.p[x["m"]].kind == op::param; },
     "has the factor {m} on both terms; did you mean 1 - {m} on one?"},
    {{"#a * x + #a * y"},
     is_most_of_one,
     "has the factor {#a} on both terms; did you mean one of them less 1?"},
    {{"tanh(f) * c + x"},
     [](const place &x) {  // beside the sigmoid of another gate
       return x.p[x["c"]].kind == op::carried &&
              depends_on(x.p, x["x"], [&](node_id m) { return x.p[m].kind == op::sigmoid; });
     },
     "has a gate that may be negative, tanh({f}); did you mean sigmoid({f})?"},
    {{"(x * rsqrt(y)) * g + 1"},
     [](const place &x) {  // not of a scale that is made so
       const auto scales = [&](node_id user) { return x.p[user].kind == op::mul; };
       return x.p[x["g"]].kind == op::param && x.reads(x["y"], x["x"]) && !x.is_used(x.at, scales);
     },
     "adds 1 to what the gain {g} scales; did you mean 1 + {g} as the gain?"},
    {{"softplus(x) + b"},
     [](const place &x) {
       const node_id of = inner_of(x.p, x["x"]);
       const node &b = x.p[x["b"]];
       const bool is_floor =
           b.shape.empty() || has_word(b.name, {"min", "floor", "mu", "base", "sigma"});
       return b.kind == op::param && !is_floor && is_unnamed(x.p, op::dot, of);
     },
     "adds the bias {b} after softplus, so that it may be negative; did you mean softplus({x} + "
     "{b})?"},
    {{"normalize<e>(mask(y:(sigmoid(x) + b), c))"},
     [](const place &x) { return x.p[x["b"]].kind == op::param && x.reads(x["c"], x["y"]); },
     "makes gates of {y}, whose bias is for the choice alone; did you mean sigmoid({x}) in its "
     "place?"},
    {{"sigmoid(a) * sigmoid(y)"},
     [](const place &x) {
       return are_projections_of_one(x) && is_gate(x, "a") != is_gate(x, "y") &&
              same_set(x.p[x["a"]].shape, x.p[x["y"]].shape) && is_contracted(x);
     },
     "is a product of two gates; did you mean {a} or {y} itself as one of them?"},
    {{"g * (x + h:dot(smooth(y), w))", "g * (x + h:dot(dot(softmax<a>(s), v), w))"},
     is_residual_gated,
     "multiplies {x} by a gate, too, which the layer goes past; did you mean {x} + {g} * {h}?"},
    {{"g:sigmoid(a) + y"},
     are_projections_of_one,
     "adds the gate {g} to what it should scale; did you mean *?"},
    // statistics
    {{"where(c, x, x)"},
     are_branches_alike,
     "is {x} in both branches; did you mean another step in one?"},
    {{"mean<a>(x * x) + m:mean<a>(x) * m", "mean<a>(x * x) + pow(m:mean<a>(x), 2)"},
     is_slip,
     "adds the square of the mean, which a variance lacks; did you mean a minus?"},
    {{"m:max<a>(x) / #n", "max(m:max<a>(x), #e) / #n"},
     is_scale_of_signed,
     "is of the largest of {x}, not of its largest magnitude; did you mean max<{<a>}>(abs({x}))?"},
    {{"root(m:mean<a>(x) * m)", "root(pow(m:mean<a>(x), 2))"},
     is_slip,
     "is made of the square of a mean; did you mean mean<{<a>}>({x} * {x})?"},
    {{"x * rsqrt(mean<a>((x - mean<a>(x)) * (x - mean<a>(x))))",
      "x / sqrt(mean<a>((x - mean<a>(x)) * (x - mean<a>(x))))"},
     [](const place &x) {  // as a norm of features, not a scale of data
       const axis &over = x.p.axes[x.root("a")];
       return has_gain(x) || (over.size > 0 && !over.batch && x.axes("a").size() == 1);
     },
     "divides {x} by the deviation without centring it; did you mean ({x} - "
     "mean<{<a>}>({x})) in place of {x}?"},
    {{"c:(x - mean<a>(x)) * root(mean<b>((x - mean<a>(x)) * (x - mean<a>(x))))"},
     [](const place &x) { return !same_set(x.axes("a"), x.axes("b")); },
     "centres {x} over {<a>}, but divides it by the deviation over {<b>}, too; did you mean "
     "{<a>} in both?"},
    {{"dot<d>(x * root(sum<a>(x * x)), y * root(sum<b>(y * y)))",
      "dot<d>(x / root(sum<a>(x * x)), y / root(sum<b>(y * y)))"},
     is_one_of_them,
     "has one side of unit length over {<a>}, the other over {<b>}; did you mean {<d>} in both?"},
    {{"x * sqrt(mean<a>(x * x))"},
     is_never_divided,
     "multiplies {x} by its root mean square; did you mean rsqrt(mean<{<a>}>({x} * {x}))?"},
    {{"x * sqrt(sum<a>(x * x))"},
     [](const place &x) { return is_never_divided(x) && is_contracted(x); },
     "multiplies {x} by its length; did you mean rsqrt(sum<{<a>}>({x} * {x}))?"},
    {{"x * (sum<a>(x * y) / sum<b>(y * y))", "x * sum<a>(x * y) / sum<b>(y * y)",
      "x * (dot<a>(x, y) / sum<b>(y * y))", "x * dot<a>(x, y) / sum<b>(y * y)"},
     is_slip,
     "projects {y} onto {x}, but divides by the square of {y}; did you mean sum<{<a>}>({x} * "
     "{x})?"},
    {{"root(m:mean<a>(y) + #e)"},
     [](const place &x) { return x.number("e") >= 100; },
     "adds {#e} to {m}; did you mean a small number, as 1e-5?"},
    {{"dot<d>(q, k) / (sqrt(sum<a>(q * q)) + sqrt(sum<b>(k * k)))"},
     is_slip,
     "divides by the sum of both lengths; did you mean their product?"},
    {{"(softmax<a>(x) + softmax<a>(y)) / #n", "#n * (softmax<a>(x) + softmax<a>(y))"},
     [](const place &x) {  // nor one of three, or of all pairs
       const auto adds = [&](node_id user) { return x.p[user].kind == op::add; };
       return !nearly(x.number("n"), 2) && !nearly(x.number("n"), 0.5) && x["x"] != x["y"] &&
              !x.is_used(x.at, adds);
     },
     "is an average of 2 weights that is scaled by {#n}; did you mean / 2?"},
    {{"((softmax<a>(x) + softmax<a>(y)) + softmax<a>(z)) / #n"},
     [](const place &x) { return !nearly(x.number("n"), 3); },
     "is an average of 3 weights that is divided by {#n}; did you mean / 3?"},
    {{"dot<d>(x / sum<a>(x * x), y / sum<b>(y * y))"},
     is_slip,
     "divides by sums of squares without their roots; did you mean unit_length<{<d>}>(..)?"},
    {{"x / min(y, #e)"},
     [](const place &x) {
       const op kind = x.p[x["y"]].kind;
       if (kind == op::max || kind == op::exp || kind == op::softplus) return false;
       return kind == op::abs || (x.number("e") > 0 && x.number("e") <= 0.1);
     },
     "divides by at most {#e}; did you mean max({y}, {#e})?"},
    {{"max(l:log(x), #e)"},
     is_floor_of_logarithm,
     "is at least {#e}, as if {x} were at least 1; did you mean log(max({x}, {#e}))?"},
    {{"x / s:sum<a>(y) + #e", "x / s:root(y) + #e"},
     is_small_and_kept,
     "adds {#e} to the quotient; did you mean / ({s} + {#e})?"},
    {{"rsqrt(m:mean<a>(y)) + #e"},
     is_small,
     "adds {#e} to the reciprocal; did you mean rsqrt({m} + {#e})?"},
    {{"s:sum<a>(x) / n"},
     is_length,
     "adds up all positions of {<a>}, but {n} counts some of them; did you mean "
     "sum<{<a>}>(mask({x}, index({<a>}) < {n}))?"},
    {{"exp(max(s, #n))"}, is_at_least_20, "is at least exp({#n}); did you mean min({s}, {#n})?"},
    {{"x * rsqrt(s:mean<a>(y * y))", "x / sqrt(s:mean<a>(y * y))"},
     is_of_another,
     "divides {x} by the root mean square of {y}; did you mean mean<{<a>}>({x} * {x})?"},
    {{"dot<a>((x * cast(above(uniform(), #p))) * #s, v) / #n",
      "((x * cast(above(uniform(), #p))) * #s) / #n"},
     is_share_kept,
     "divides by the share that dropout keeps, as dropout does; did you mean it without / {#n}?"},
    {{"(x + y) * cast(above(uniform(), #p))"},
     is_residual_dropped,
     "leaves out parts of {x}, too, which the layer goes past; did you mean {x} + dropout<{#p}>("
     "{y}, ..)?"},
    {{"sum<d>(a * b) / (sum<e>(a * a) * sum<f>(b * b))",
      "dot<d>(a, b) / (sum<e>(a * a) * sum<f>(b * b))"},
     is_slip,
     "divides by the squares of both lengths; did you mean the root of their product?"},
};

}  // namespace

std::span<const formula_rule> formulas_of_layers() { return layer_rules; }

}  // namespace qkv::codegen
