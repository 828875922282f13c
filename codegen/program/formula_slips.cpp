// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/formula_slips.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string_view>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_pattern.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

using namespace checks;

using check = bool (*)(const place &);

struct rule {
  std::vector<std::string_view> patterns;  // one formula, written in several ways
  check applies;
  std::string_view text;  // {x}: the step of a variable; {<a>}: the names of its axes; {#n}
};

const rule rules[] = {
    // an operation and its inverse, or one done twice
    {{"log(e:exp(x))"}, is_slip, "is {x} itself; did you mean 1 + {e}?"},
    {{"log(sigmoid(g:sigmoid(x)))"}, is_slip, "has a sigmoid of {g}; leave one sigmoid out"},
    {{"(x + x) / 2", "0.5 * (x + x)"},
     [](const place &x) { return !x.is_argument(x["x"]) && x.p[x["x"]].kind != op::mul; },
     "is {x} itself; did you mean another step?"},
    {{"smooth(a:dot(x, y)) * smooth(b:dot(x, z))"},
     [](const place &x) {
       return x["a"] != x["b"] && x.p[x["y"]].kind == op::param && x.p[x["z"]].kind == op::param;
     },
     "activates both {a} and {b}; did you mean one of them as it is?"},
    {{"smooth(a:dot(x, y)) * a"},
     is_slip,
     "gates {a} by itself; did you mean another projection as the gate?"},
    // gates
    {{"z:sigmoid(g) * x + z * y"},
     is_slip,
     "has the gate {z} on both terms; did you mean 1 - {z} on one?"},
    {{"(1 - z:sigmoid(g)) * s + r:sigmoid(f) * c"},
     is_inside_other,
     "has the gates 1 - {z} and {r}; did you mean {z} in place of {r}?"},
    // statistics
    {{"where(c, x, x)"}, is_slip, "is {x} in both branches; did you mean another step in one?"},
    {{"root(m:mean<a>(x) * m)", "root(pow(m:mean<a>(x), 2))"},
     is_slip,
     "is made of the square of a mean; did you mean mean<{<a>}>({x} * {x})?"},
    {{"x * root(mean<a>((x - mean<a>(x)) * (x - mean<a>(x))))",
      "x / root(mean<a>((x - mean<a>(x)) * (x - mean<a>(x))))"},
     is_slip,
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
    {{"dot<d>(x / sum<a>(x * x), y / sum<b>(y * y))"},
     is_slip,
     "divides by sums of squares without their roots; did you mean unit_length<{<d>}>(..)?"},
    {{"x / q:min(root(s), #e)", "x / q:min(s:sum<a>(y), #e)"},
     is_small,
     "divides by at most {#e}; did you mean max({s}, {#e})?"},
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
    {{"x * root(s:mean<a>(y * y))", "x / root(s:mean<a>(y * y))"},
     is_of_another,
     "divides {x} by the root mean square of {y}; did you mean mean<{<a>}>({x} * {x})?"},
    {{"dot<a>((x * cast(above(uniform(), #p))) * #s, v) / #n",
      "((x * cast(above(uniform(), #p))) * #s) / #n"},
     is_share_kept,
     "divides by the share that dropout keeps, as dropout does; did you mean it "
     "without / {#n}?"},
    // scores and weights
    {{"sum<a>(w:softmax<a>(s))"},
     [](const place &x) { return is_result(x) && are_whole(x); },
     "is 1 always; did you mean another step than {w}?"},
    {{"exp(m:max<a>(s) - s)"},
     is_slip,
     "the largest of {s} gives the least; did you mean {s} - {m}?"},
    {{"log(sum<a>(exp(s - max<a>(s))))"},
     is_result,
     "lacks the maximum again; did you mean logsumexp<{<a>}>({s})?"},
    {{"where(c, w:softmax<a>(s), 0)", "w:softmax<a>(s) * cast(c)"},
     is_hidden_late,
     "hides weights after softmax, so that they do not add up to 1; did you mean "
     "softmax<{<a>}>(mask({s}, {c}))?"},
    {{"dot<a>(s:dot(x, y), e)"},
     has_weights_beside,
     "weighs {e} with scores; did you mean softmax<{<a>}>({s})?"},
    {{"x * cast(above(uniform(), #p))", "where(above(uniform(), #p), x, 0)",
      "where(below(uniform(), #p), 0, x)"},
     is_not_divided,
     "keeps a share of {x} without dividing it by that; did you mean "
     "dropout<{#p}>({x}, seed)?"},
    {{"x * cast(below(uniform(), #p)) / #n", "x * cast(above(uniform(), #p)) / #n"},
     [](const place &x) {
       return !nearly(x.number("p"), 0.5) && !nearly(kept_share(x), x.number("n")) &&
              nearly(1 - kept_share(x), x.number("n"));
     },
     "divides by {#n}, which is the share that is left out; did you exchange < and >=?"},
    {{"q:elu(x) * k", "dot(q:elu(x), k)"},
     has_one_beside,
     "{q} may be negative, and has a 1 added on the other side; did you mean {q} + 1?"},
    // losses
    {{"sum<a>(p:softmax<a>(t) * (log(softmax<a>(t)) - q:softmax<a>(s)))",
      "sum<a>(p:softmax<a>(t) * ((t - logsumexp<a>(t)) - q:softmax<a>(s)))"},
     is_slip,
     "subtracts {q} itself from a logarithm; did you mean log({q})?"},
    {{"mean<a>(d:(x - y))", "sum<a>(d:(x - y))"},
     is_loss_of_difference,
     "adds up differences with their signs; did you mean their squares?"},
    {{"logsumexp<a>(s * #n) - p / #n", "logsumexp<a>(s / #n) - p * #n"},
     [](const place &x) { return x.number("n") != 1; },
     "multiplies by {#n} in one term and divides by it in the other; did you mean one of them "
     "in both?"},
    {{"logsumexp<a>(z) - sum<a>(p:softmax<a>(t / #n) * z)"},
     is_scaled_by_square,
     "divides by {#n} in {p} alone; did you mean {z} / {#n} in both terms?"},
    {{"logsumexp<a>(s) - take<a>(s, t)"},
     is_of_itself,
     "counts the product of each row with itself; did you mean to mask it, with an alias of the "
     "axis: index(..) != index({<a>})?"},
    {{"mean<a>(exp(n:(logsumexp<v>(x) - take<w>(x, t))))"},
     is_slip,
     "is a mean of perplexities; did you mean exp(mean<{<a>}>({n}))?"},
    {{"s:sum<a>(exp(y) * (x - y))", "s:sum<a>(softmax<a>(t) * (x - (t - logsumexp<a>(t))))",
      "s:sum<a>(p * (log(q) - log(p)))", "s:sum<a>(softmax<a>(t) * (x - log(softmax<a>(t))))"},
     [](const place &x) { return !is_negated_later(x); },
     "is a negative divergence; did you exchange the logarithms?"},
    {{"sum<a>(p:softmax<a>(t / #n) * (l:(t - logsumexp<a>(t)) - y))",
      "sum<a>(p:softmax<a>(t * #n) * (l:(t - logsumexp<a>(t)) - y))",
      "sum<a>(p:softmax<a>(t) * (l:(t / #n - logsumexp<a>(t / #n)) - y))",
      "sum<a>(p:softmax<a>(t) * (l:log(softmax<a>(t / #n)) - y))",
      "sum<a>(p:softmax<a>(t / #n) * (l:log(softmax<a>(t)) - y))"},
     [](const place &x) { return x.number("n") != 1; },
     "has weights {p} and logarithms {l} of two temperatures; did you mean one?"},
    {{"#a * take<v>(l, t) - #b * s:sum<w>(l)", "#a * take<v>(l, t) + #b * s:sum<w>(l)"},
     are_shares,
     "adds up a share of all logarithms; did you mean mean<{<w>}>({l}) in place of "
     "{s}?"},
    {{"take<v>(n:(x - logsumexp<a>(x)), t)", "log(take<v>(n:softmax<a>(x), t))"},
     has_two_axes,
     "takes along {<v>} what is normalised over {<a>}; did you mean <{<v>}> there?"},
    {{"log(where(c, #a, #b))"},
     is_indicator,
     "is a logarithm of 0 and 1; did you exchange the target and the prediction?"},
    {{"log(c:cast(b))"},
     is_of_truth,
     "is a logarithm of 0 and 1; did you exchange the target and the prediction?"},
    {{"sum<a>(w * log(w)) / log(size<v>())", "-sum<a>(w * log(w)) / log(size<v>())"},
     has_two_axes,
     "is an entropy over {<a>} divided by the logarithm of another size; did you "
     "mean log(size({<a>}))?"},
    {{"y * l + (1 - y) * l"},
     is_slip,
     "is {l} itself, since both shares of it are added; did you mean the logarithm of 1 less the "
     "probability beside 1 - {y}?"},
    // positions
    {{"page * #n + index<a>()"},
     is_not_stride,
     "pages have as many slots as {<a>}, not {#n}; did you mean {page} * size({<a>})?"},
    {{"pow(#b, index<h>() * -1 / size<d>())", "pow(#b, -index<h>() / size<d>())",
      "pow(#b, -(index<h>() / size<d>()))"},
     is_half_missing,
     "ends at the root of {#b}, since {<h>} has half of the features; did you "
     "mean / size({<h>})?"},
    {{"x * c + concat<d>(take<e>(x, index<i>() + #n), take<e>(x, index<i>() + 0)) * s"},
     are_halves_exchanged,
     "adds both products, which is not a rotation; did you mean -{x} in the first half?"},
    {{"where(q, a * cos(t) + b * sin(t), a * sin(t) + b * cos(t))",
      "where(q, a * cos(t) + b * sin(t), b * cos(t) + a * sin(t))"},
     is_slip,
     "adds both products in both parts, which is not a rotation; did you mean {a} * cos({t}) - "
     "{b} * sin({t}) in the first?"},
    {{"where(q, a * cos(t) - b * sin(t), a * sin(t) - b * cos(t))",
      "where(q, a * cos(t) - b * sin(t), b * cos(t) - a * sin(t))"},
     is_slip,
     "subtracts in both parts, which is not a rotation; did you mean {a} * sin({t}) + {b} * "
     "cos({t}) in the second?"},
    // recurrences
    {{"d:dot<a>(k, s) - v"},
     is_carried_and_added,
     "adds the error with the other sign; did you mean {v} - {d}?"},
    {{"y / sum<d>(q * s:sum<a>(k))", "y / dot<d>(q, s:sum<a>(k))"},
     is_of_earlier_alone,
     "divides by a sum of all positions what is made of earlier ones; did you mean "
     "cumsum<{<a>}>({k})?"},
    {{"v + d:dot<a>(k, s)"},
     is_carried_and_added,
     "adds what the state already holds at {k}; did you mean {v} - {d}?"},
};

std::string text_of(const program &p, const rule &r, const pattern_match &found) {
  std::string text;
  for (std::size_t i = 0; i < r.text.size(); ++i) {
    if (r.text[i] != '{') {
      text += r.text[i];
      continue;
    }
    const std::size_t end = r.text.find('}', i);
    const std::string name(r.text.substr(i + 1, end - i - 1));
    i = end;
    if (name.front() == '<')
      text += names_of(p, {found.axes.at(name.substr(1, name.size() - 2)).front()});
    else if (name.front() == '#')
      text += fmt::format("{:g}", found.numbers.at(name.substr(1)));
    else
      text += written_as(p, found[name]);
  }
  return text + (text.back() == '?' ? " if" : "; if") + " it is meant, let<..>(..)";
}

}  // namespace

std::vector<slip> formula_slips(const program &p) {
  struct compiled {
    const rule *of;
    formula_pattern pattern;
  };
  static const std::vector<compiled> all = [] {
    std::vector<compiled> list;
    for (const rule &r : rules)
      for (const std::string_view text : r.patterns) list.push_back({&r, formula_pattern(text)});
    return list;
  }();
  const std::vector<std::vector<node_id>> users = users_of(p);
  std::vector<slip> slips;
  std::set<const rule *> said;  // of queries; keys mostly have the same slip
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    for (const compiled &c : all)
      c.pattern.find(p, n, [&](const pattern_match &found) {
        if (!c.of->applies({p, users, n, found})) return false;
        if (said.insert(c.of).second) slips.push_back({n, text_of(p, *c.of, found)});
        return true;
      });
  return slips;
}

}  // namespace qkv::codegen
