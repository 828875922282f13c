// SPDX-License-Identifier: BSL-1.0
// Formulas of positions and recurrences that are slips.
#include <algorithm>
#include <cmath>
#include <string>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_rules.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"

namespace qkv::codegen {

namespace {

using namespace checks;

// b is one number for each value, and nothing else scales what the key writes.
bool is_strength_of_value_alone(const place &x) {
  const auto &values = x.p[x["d"]].shape;
  if (values.empty() || has(x.p[unbroadcast(x.p, x["b"])].shape, values.back())) return false;
  if (x.p[x["b"]].kind != op::sigmoid || !is_carried_and_added(x)) return false;
  bool is_scaled = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    for (const node_id other : x.p[user].in)
      is_scaled = is_scaled || (x.p[user].kind == op::mul && other != step &&
                                of_all_positions(x.p, unbroadcast(x.p, other)) != x["k"]);
    return x.p[user].kind == op::mul || x.p[user].kind == op::broadcast || is_view(x.p[user].kind);
  });
  return !is_scaled;
}

// The state is read so, and another step carries it on.
bool is_read_alone(const place &x) {
  if (x.p[x["s"]].kind != op::carried || x.p[inner_of(x.p, x["u"])].kind != op::param) return false;
  return !x.users[x.at].empty() && !x.is_used(x.at, [&](node_id user) {
    return x.p[user].kind != op::dot && x.p[user].kind != op::sum;
  });
}

// h is the state of a scan.
bool is_of_state(const place &x) { return x.p[x["h"]].kind == op::carried; }

// A recurrence of falling powers exp(d * a) of a step d, whose input has no step: a selective state
// space, where a = -exp(..) is a param with an axis of the state that d lacks.
bool is_input_without_step(const place &x) {
  const node_id step = x["d"];
  const node &a = x.p[x["a"]];
  if (x.p[x["s"]].kind != op::carried || x.p[step].kind != op::softplus) return false;
  const auto is_input = [&](node_id m) { return x.p[m].kind == op::input; };
  if (!depends_on(x.p, step, is_input) || depends_on(x.p, x["a"], is_input)) return false;
  if (a.kind != op::neg || contains(x.p[step].shape, a.shape)) return false;
  const auto is_scaled_before = [&](node_id m) {
    return is_input(m) && has_word(x.p[m].name, {"dt"});
  };
  if (depends_on(x.p, x["y"], is_scaled_before)) return false;
  return !x.reads(x["y"], step);
}

// a and b are parts of the state, to which v is added; w is not a part of the divisor.
bool is_of_one_state(const place &x) {
  const auto is_of_state = [&](const char *variable) {
    return depends_on(
        x.p, x[variable], [&](node_id m) { return x.p[m].kind == op::carried; },
        [&](node_id m) { return x.p[m].kind != op::element; });
  };
  return x["a"] != x["b"] && is_of_state("a") && is_of_state("b") && !is_of_state("v") &&
         !is_of_state("x") && !is_of_state("y") && !x.reads(x.p[x.at].in[1], x["w"]);
}

// A result of a step of an LSTM, which reads the state before it, and nothing of the next one.
bool is_result_of_old_state(const place &x) {
  if (x.p[x["s"]].kind != op::carried) return false;
  return std::any_of(x.p.nodes.begin(), x.p.nodes.end(), [&](const node &n) {
    if (n.kind != op::scan || inner_of(x.p, n.in[0]) != x["s"]) return false;
    const auto is_it = [&](node_id m) { return m == x.at; };
    const auto is_next = [&](node_id m) { return m == n.in[1]; };
    const auto next_reads = [&](op kind) {
      return depends_on(x.p, n.in[1], [&](node_id m) { return x.p[m].kind == kind; });
    };
    return depends_on(x.p, n.in.back(), is_it) && !depends_on(x.p, n.in[1], is_it) &&
           !depends_on(x.p, n.in.back(), is_next) && next_reads(op::tanh) &&
           next_reads(op::sigmoid);
  });
}

// s / #n, as a whole number, is where the table is read.
bool is_at_place_of(const place &x) {
  const double n = x.number("n");
  return n > 1 && x.p[x["g"]].kind != op::number && depends_on(x.p, x["g"], [&](node_id m) {
           if (x.p[m].kind != op::div) return false;
           const auto by = known_number(x.p, x.p[m].in[1]);
           return by && *by == n && x.reads(x.p[m].in[0], x["s"]);
         });
}

// A sine is joined with itself, and a cosine of it is nowhere.
bool is_joined_alone(const place &x) {
  return x["s"] == x["r"] && std::none_of(x.p.nodes.begin(), x.p.nodes.end(), [&](const node &n) {
           return n.kind == op::cos && inner_of(x.p, n.in[0]) == inner_of(x.p, x["t"]);
         });
}

// The table is read at negative positions alone, or for some keys that no mask hides.
bool is_before_table(const place &x) {
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  if (x.number("n") > 0 || keys.empty() || static_size(x.p, x.axes("p")[0]) == 1) return false;
  bool is_masked = false, hides_later = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const node &u = x.p[user];
    if (u.kind == op::softmax)
      for (const node_id condition : masks_of_weights(x.p, user)) {
        is_masked = true;
        hides_later = hides_later || is_causal(x.p, condition, u.over);
      }
    return is_pointwise(u.kind) || is_view(u.kind) || u.kind == op::mask;
  });
  return !is_masked || (hides_later && has(keys, x.axes("a")[0]));
}

// A bonus of what the next state has got already.
bool is_added_to_next(const place &x) {
  const auto is_state = [&](node_id m) { return x.p[m].kind == op::carried; };
  const auto is_within = [&](node_id m) { return x.p[m].kind != op::element; };
  const auto is_next = [&](node_id user) { return x.p[user].kind == op::scan; };
  const node_id bonus = of_all_positions(x.p, unbroadcast(x.p, x["u"]));
  return x.p[bonus].kind == op::param && depends_on(x.p, x["s"], is_state, is_within) &&
         !depends_on(x.p, x["a"], is_state, is_within) && x.is_used(x["n"], is_next);
}

// g is the number of a page: s / n.
bool is_page_added(const place &x) {
  const node_id whole = inner_of(x.p, x["g"]);
  const node &page =
      x.p[is_unnamed(x.p, op::cast, whole) ? inner_of(x.p, x.p[whole].in[0]) : whole];
  if (page.kind != op::div || x.number("n") <= 1) return false;
  const auto by = known_number(x.p, page.in[1]);
  return by && *by == x.number("n") && x.reads(page.in[0], x["s"]);
}

const formula_rule position_rules[] = {
    {{"take<p>(t, (index<a>() - index<b>()) + #n)"},
     is_before_table,
     "positions {<a>} - {<b>} are negative where the query is later; did you leave out an offset, "
     "as + size({<p>}) - 1?"},
    {{"t:take<p>(y, g) + (s - #n * g)"},
     is_page_added,
     "adds the place in a page to the number of the page; did you mean {t} * {#n}?"},
    {{"n:(s + a) + u * a"},
     is_added_to_next,
     "has {a} in {n} already, which is the next state; did you mean the state before it?"},
    {{"take<p>(t, g) * #n + s"},
     is_at_place_of,
     "adds {s} to the first slot of its page; did you mean the remainder of {s} / {#n}?"},
    {{"concat<d>(s:sin(t), r:sin(t))"},
     is_joined_alone,
     "joins {s} with itself; did you mean cos in one of them?"},
    {{"s * exp(d * a) + y"},
     is_input_without_step,
     "decays by the step {d}, which its input lacks; did you mean {d} * {y}?"},
    {{"sigmoid(g) * tanh(s)"},
     is_result_of_old_state,
     "reads the state before this position; did you mean tanh of the next one?"},
    {{"(a + w:exp(x) * v) / (b + u:exp(y))", "r * (a + w:exp(x) * v) / (b + u:exp(y))"},
     [](const place &x) { return x["x"] != x["y"] && is_of_one_state(x); },
     "weighs {v} by {w}, but counts {u} in the divisor; did you mean {w} in both?"},
    {{"a * h + r:sqrt(1 - a) * x", "a * h + (r:sqrt(1 - a) * x) * y"},
     is_of_state,
     "multiplies the state's variance by the square of {a}, but adds 1 - {a} of another; did you "
     "mean 1 less the square in the root {r}?"},
    // positions
    {{"exp(index<h>() * #n / size<d>())", "exp(#n * index<h>() / size<d>())",
      "exp(-(index<h>() * #n / size<d>()))"},
     [](const place &x) { return std::abs(x.number("n")) >= 100; },
     "is next to 0 from the second of {<h>} on; did you leave out the logarithm of the base?"},
    {{"1 - pow(#b, y)"},
     is_power_beyond_one,
     "is negative, since the power is at least 1; did you mean a minus in its exponent?"},
    {{"x - #n * cast(x / #m)"},
     [](const place &x) { return x.number("n") != x.number("m"); },
     "is not a remainder, since it divides by {#m} and multiplies by {#n}; did you mean {#n} "
     "twice?"},
    {{"cos(index<a>() / pow(#b, y))", "sin(index<a>() / pow(#b, y))"},
     is_of_falling_power,
     "divides by a falling power, so that frequencies grow; did you mean a product?"},
    {{"pow(#b, index<h>() * #n / size<d>())", "pow(#b, #n * index<h>() / size<d>())"},
     [](const place &x) { return x.number("n") == -2 && x.root("h") == x.root("d"); },
     "ends at the square of {#b}, since size({<d>}) counts pairs; did you mean -1 * index({<h>})?"},
    {{"pow(#b, #n * (index<h>() + 1))", "pow(#b, #n * index<h>())",
      "pow(#b, -(#n * (index<h>() + 1)))"},
     is_steep_slope,
     "is next to 0 for the last of {<h>}; did you mean to divide the exponent by size({<h>})?"},
    {{"pow(#b, (index<h>() + 1) * #n / size<g>())", "pow(#b, #n * (index<h>() + 1) / size<g>())",
      "pow(#b, (index<h>() + 1) / size<g>() * #n)"},
     is_growing_slope,
     "grows up to {#b} to the power of {#n}; did you mean -{#n}, as ALiBi has it?"},
    {{"dot(q * pow(g, x), k * pow(g, y))", "dot(q * exp(x), k * exp(y))"},
     decay_alike,
     "falls with the sum of both positions, not with their distance; did you mean a minus in one "
     "exponent?"},
    {{"page * #n + index<a>()"},
     is_not_stride,
     "pages have as many slots as {<a>}, not {#n}; did you mean {page} * size({<a>})?"},
    {{"pow(#b, index<h>() * -1 / size<d>())", "pow(#b, -index<h>() / size<d>())",
      "pow(#b, -(index<h>() / size<d>()))"},
     is_half_missing,
     "ends at the root of {#b}, since {<h>} has half of the features; did you mean / size({<h>})?"},
    {{"x * c + concat<d>(take<e>(x, index<i>() + #n), take<e>(x, index<j>() + 0)) * s"},
     are_halves_exchanged,
     "adds both products, which is not a rotation; did you mean -{x} in the first half?"},
    {{"where(below(f, #m), f, min(cast(y), #l))"},
     [](const place &x) {
       const node_id far = unconverted(x.p, x["y"]);
       const std::vector<node_id> &in = x.p[far].in;
       const bool has_number =
           is_unnamed(x.p, op::add, far) && std::any_of(in.begin(), in.end(), [&](node_id n) {
             return is_number(x.p, n) && x.p[n].value == x.number("m");
           });
       return x.number("m") > 1 && x.number("l") > x.number("m") && !has_number &&
              depends_on(x.p, x["y"], [&](node_id n) { return x.p[n].kind == op::log; });
     },
     "numbers distances from {#m} on from 0 again; did you mean min({#m} + .., {#l})?"},
    {{"s * pow(g, size<a>()) + dot<a>(k * pow(g, index<a>()), v)",
      "s * exp(size<a>() * g) + dot<a>(k * exp(index<a>() * g), v)"},
     is_slip,
     "weighs the newest of {<a>} least; did you mean the power size({<a>}) - 1 - index({<a>})?"},
    // recurrences
    {{"u * s + k * v"},
     is_read_alone,
     "multiplies what the state holds by {u}, a bonus of the present token; did you mean {s} + {u} "
     "* ..?"},
    {{"d:dot<a>(k, s) - v"},
     is_carried_and_added,
     "adds the error with the other sign; did you mean {v} - {d}?"},
    {{"b * v - d:dot<a>(k, s)"},
     is_strength_of_value_alone,
     "takes off all that the state holds at {k}, but adds only a part, {b} of {v}; did you mean "
     "{b} * ({v} - {d})?"},
    {{"y / sum<d>(q * s:sum<a>(k))", "y / dot<d>(q, s:sum<a>(k))"},
     is_of_earlier_alone,
     "divides by a sum of all positions what is made of earlier ones; did you mean "
     "sum<{<d>}>({q} * cumsum<{<a>}>({k}))?"},
    {{"v - d:dot<a>(k, s)"},
     is_written_elsewhere,
     "takes off what the state holds at {k}, but is written at another key; did you mean that "
     "key?"},
    {{"v + d:dot<a>(k, s)"},
     is_carried_and_added,
     "adds what the state already holds at {k}; did you mean {v} - {d}?"},
};

}  // namespace

std::span<const formula_rule> formulas_of_positions() { return position_rules; }

}  // namespace qkv::codegen
