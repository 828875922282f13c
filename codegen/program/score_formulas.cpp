// SPDX-License-Identifier: BSL-1.0
// Formulas of scores and weights that are slips.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_rules.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/signs.hpp"

namespace qkv::codegen {

namespace {

using namespace checks;

constexpr const char *words_of_masks[] = {"keep", "mask", "visible", "valid", "allowed"};

// A float argument of 0 and 1, by its name.
bool is_named_after_mask(const place &x) {
  const node &k = x.p[inner_of(x.p, x["k"])];
  return k.kind == op::input && k.type != i32 && k.type != b8 && x["s"] != x["k"] &&
         std::any_of(std::begin(words_of_masks), std::end(words_of_masks), [&](const char *word) {
           return k.name == word || k.name.ends_with(std::string("_") + word);
         });
}

bool has_other_axes(const place &x) { return x.axes("a") != x.axes("b"); }

// u is made of weights, and was not shared out before, as Sinkhorn's steps do it in turns.
bool is_shared_elsewhere(const place &x) {
  if (x.axes("a") == x.axes("e")) return false;
  const auto is_of = [&](auto holds) { return depends_on(x.p, x["u"], holds); };
  return is_of([&](node_id m) { return x.p[m].kind == op::softmax; }) && !is_of([&](node_id m) {
           return x.p[m].kind == op::div && m != x["w"] &&
                  x.p[inner_of(x.p, x.p[m].in[1])].kind == op::sum;
         });
}

// a and b are 1 / sqrt(d), made of its size.
bool is_divided_twice(const place &x) {
  const auto a = known_number(x.p, x["a"]), b = known_number(x.p, x["b"]);
  const auto size = static_cast<double>(x.p.axes[x.root("d")].size);
  return a && b && size > 1 && x.p[x["a"]].kind != op::number && nearly(*a * *a, 1 / size) &&
         nearly(*a, *b);
}

// The features of exp(q' k), by a random matrix.
bool is_by_matrix(const place &x) {
  const node &w = x.p[inner_of(x.p, x["w"])];
  return w.kind == op::param && w.shape.size() > 1 && x["y"] != x["w"];
}

// A bias of pairs, which is not made of products, under the root of the features.
bool is_bias_scaled(const place &x) {
  const node_id b = unbroadcast(x.p, inner_of(x.p, x["b"]));
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  const bool is_row = is_unnamed(x.p, op::take, b);  // of a table, for each distance
  const node &of = x.p[is_row ? inner_of(x.p, x.p[b].in[0]) : b];
  const bool is_bias = of.kind == op::param || has_word(of.name, {"bias", "alibi", "mask"});
  if (!is_argument(of) || !is_bias || keys.empty()) return false;
  const std::vector<axis_id> &shape = x.p[b].shape;
  const bool is_of_pairs =
      contains(shape, keys) && std::any_of(shape.begin(), shape.end(), [&](axis_id a) {
        return !x.p.axes[a].batch && !has(keys, a);
      });
  const std::vector<axis_id> &over = x.p[x["s"]].over;
  if (!is_of_pairs || over.size() != 1) return false;
  const double r = std::abs(x.number("r"));
  return is_root_of(x.p, r, over[0]) || is_root_of(x.p, 1 / r, over[0]);
}

// Squared distances of queries and keys, times what is never negative.
bool favours_the_farthest(const place &x) {
  const node &d = x.p[x["d"]];
  if (d.kind != op::sub || !are_scores(x)) return false;
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  const auto has_keys = [&](node_id n) {
    return varies_along(x.p[unbroadcast(x.p, inner_of(x.p, n))], keys);
  };
  const bool is_of_both = has_keys(d.in[0]) != has_keys(d.in[1]);
  const auto by = x.found.steps.find("w");
  return is_of_both &&
         (by == x.found.steps.end() || signs_of(x.p)[by->second] == sign::not_negative);
}

// Later keys keep a factor of 1 where the weights are the scores themselves.
bool is_one_for_later_keys(const place &x) {
  return x.is_used(x.at, [&](node_id user) {
    const node &u = x.p[user];
    return u.kind == op::dot && u.over.size() == 1 && varies_along(x.p[x["s"]], u.over) &&
           is_causal(x.p, x["c"], u.over);
  });
}

// s is shifted by a maximum m, and y by nothing.
bool is_not_shifted(const place &x) {
  const op kind = x.p[x["m"]].kind;
  return kind == op::max && is_argument(x.p[x["y"]]);
}

// Scores of which tanh takes no n-th part.
bool is_cap_without_share(const place &x) {
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  if (x.number("n") < 20 || keys.empty() || !is_never_divided(x)) return false;
  const scaled_step scores = without_scale(x.p, x["x"]);
  if (std::abs(scores.by) * x.number("n") <= 1.001) return false;
  const node &product = x.p[scores.of];
  const bool is_of_projections =
      product.kind == op::dot && std::all_of(product.in.begin(), product.in.end(), [&](node_id m) {
        const node &operand = x.p[inner_of(x.p, m)];
        return operand.kind == op::dot ||
               (operand.kind == op::input && operand.name.find("scaled") == std::string::npos);
      });
  bool weighs_values = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const node &u = x.p[user];
    weighs_values = weighs_values || (u.kind == op::dot && contains(u.over, keys));
    return u.kind == op::mask || u.kind == op::softmax || u.kind == op::add;
  });
  return is_of_projections && weighs_values;
}

// A router chooses along one of <e>, but the weights are those of positions along <a>.
bool is_one_of_contracted(const place &x) {
  const node_id scores = unscaled(x.p, unmasked(x.p, x["s"]));
  const std::vector<axis_id> &over = x.axes("a");
  if (contains(x.axes("e"), over) || x.axes("e").size() < 2) return false;
  if (!is_unnamed(x.p, op::dot, scores)) return false;
  return std::any_of(x.p[scores].in.begin(), x.p[scores].in.end(), [&](node_id m) {
    const node &w = x.p[inner_of(x.p, m)];
    return w.kind == op::param && !varies_along(w, over) && varies_along(w, x.axes("e"));
  });
}

// A difference of exponentials is a factor of the second softmax, as differential attention has it.
bool is_difference_added(const place &x) {
  const auto is_difference = [&](node_id m) {
    if (!is_unnamed(x.p, op::sub, m)) return false;
    const node &d = x.p[m];
    return x.p[inner_of(x.p, d.in[0])].kind == op::exp &&
           x.p[inner_of(x.p, d.in[1])].kind == op::exp;
  };
  return x["s"] != x["t"] && x.axes("a") == x.axes("b") && depends_on(x.p, x["l"], is_difference);
}

// Sums over the queries so far of what each of them has for a key: none is negative.
bool is_total_of_queries(const place &x) {
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  const node_id product = unscaled(x.p, x["s"]);
  return !keys.empty() && !contains(keys, x.axes("q")) && varies_along(x.p[x["c"]], keys) &&
         is_unnamed(x.p, op::dot, product) && signs_of(x.p)[x["c"]] == sign::not_negative;
}

// p is all but its largest, and goes on as shares of something.
bool is_choice_of_others(const place &x) {
  if (x.axes("e") != x.axes("f") && x.p[x["p"]].kind == op::softmax) return false;
  bool is_largest_wanted = false, weighs = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    const node &u = x.p[user];
    is_largest_wanted = is_largest_wanted || u.kind == op::max_over || u.kind == op::sum;
    weighs = weighs || u.kind == op::dot ||
             (u.kind == op::mul && std::none_of(u.in.begin(), u.in.end(), [&](node_id m) {
                return m != step && is_number(x.p, unbroadcast(x.p, m));
              }));
    return is_view(u.kind);
  });
  return weighs && !is_largest_wanted;
}

const formula_rule score_rules[] = {
    {{"softmax<a>(s) + l * softmax<b>(t)",
      "dot<a>(softmax<a>(s), v) + l * dot<b>(softmax<b>(t), v)"},
     is_difference_added,
     "adds the second attention, whose factor {l} is made of a difference; did you mean a minus?"},
    {{"softmax<a>(s) + #n * softmax<b>(t)"},
     [](const place &x) {
       return x["s"] != x["t"] && x.axes("a") == x.axes("b") && x.number("n") > 0 &&
              x.number("n") < 1 &&
              x.is_used(
                  x.at,
                  [&](node_id user) {
                    return x.p[user].kind == op::dot && contains(x.p[user].over, x.axes("a"));
                  });
     },
     "is 1 + {#n} in sum over {<a>}; did you mean a minus, or 1 - {#n} as the factor of the "
     "first?"},
    {{"s + cumsum<q>(c)", "s + (cumsum<q>(c) - c)"},
     is_total_of_queries,
     "adds what grows at each position of {<q>}, so that what is left out once gains; did you "
     "mean a minus?"},
    {{"where(below(p:softmax<e>(s), max<f>(p)), p, 0)",
      "where(above(max<f>(p:softmax<e>(s)), p), p, 0)"},
     is_choice_of_others,
     "keeps all shares but the largest; did you mean >= in the condition?"},
    {{"dot<e>(w:softmax<a>(s) * y, v)"},
     is_one_of_contracted,
     "adds up over {<e>} what is 1 over {<a>}; did you mean softmax over another axis?"},
    {{"s + sum<a>(d * d) * w", "s + sum<a>(d * d)"},
     favours_the_farthest,
     "adds a squared distance, so that the farthest keys gain; did you mean a minus?"},
    {{"s * where(c, y, 1)"},
     is_one_for_later_keys,
     "leaves the products with later keys as they are; did you mean 0 in place of 1?"},
    {{"(s:dot(x, y) + b) / #r", "(s:dot(x, y) + b) * #r"},
     is_bias_scaled,
     "divides {b} by the root of the features, too; did you mean to add it after the scale?"},
    {{"sum<a>(exp(s - m)) + exp(y)"},
     is_not_shifted,
     "adds an exponential that is not shifted by {m}, as those of {s} are; did you mean exp({y} - "
     "{m})?"},
    {{"#n * tanh(x)"},
     is_cap_without_share,
     "is nearly {#n} or -{#n} for most of {x}; did you mean {#n} * tanh({x} / {#n})?"},
    {{"exp(dot<d>(y, w) - s:sum<d>(y * y))", "exp((dot<d>(y, w) - s:sum<d>(y * y)) - m)",
      "exp(dot<d>(y, w) - (s:sum<d>(y * y) + m))"},
     is_by_matrix,
     "subtracts a whole square where the features of exp(q' k) have half of it; did you mean "
     "{s} / 2?"},
    {{"s:dot<d>(q, k) / sqrt(size<a>())"},
     is_by_number_of_keys,
     "divides by the root of the number of keys; did you mean sqrt({<d>})?"},
    {{"dot<d>(q, k) / #r + s:dot<e>(o, r)", "#r * dot<d>(q, k) + s:dot<e>(o, r)",
      "dot<d>(q, k) / sqrt(size<a>()) + s:dot<e>(o, r)"},
     is_scaled_alone,
     "scales the first product alone; did you mean to add {s} before the division?"},
    {{"(x - max<a>(x)) - log(sum<b>(exp(x)))", "(x - max<a>(x)) - logsumexp<b>(x)"},
     is_slip,
     "subtracts the maximum that the logarithm does not lack; did you mean {x} - "
     "logsumexp<{<b>}>({x})?"},
    {{"x * exp(a - m:max(a, b)) + y * exp(b - m)"},
     [](const place &x) {
       const auto is_state = [&](node_id m) { return x.p[m].kind == op::carried; };
       const auto is_exponential = [&](node_id m) {
         return x.p[m].kind == op::exp && x.reads(m, x["m"]);
       };
       const auto counts = [&](node_id out) {  // another result has the sum of both
         return !x.reads(out, x.at) && depends_on(x.p, out, is_exponential);
       };
       const auto is_logarithm = [&](node_id user) { return x.p[user].kind == op::log; };
       return is_never_divided(x) && !depends_on(x.p, x.at, is_state) &&
              !x.is_used(x.at, is_logarithm) &&
              std::none_of(x.p.outputs.begin(), x.p.outputs.end(), counts);
     },
     "weighs by exponentials that do not add up to 1; did you mean to divide by their sum?"},
    {{"dot<d>(q, m:dot<n>(k, v)) / s:sum<d>(q)"},
     [](const place &x) {  // keys are not shared out already
       const auto is_shared = [&](const char *variable) {
         const op kind = x.p[x[variable]].kind;
         return kind == op::softmax || kind == op::normalize || kind == op::div;
       };
       return !is_shared("k") && !is_shared("v");
     },
     "divides by a sum of {q} alone; did you mean dot<{<d>}>({q}, sum<{<n>}>({k}))?"},
    {{"dot(f, dot(u, v)) / dot(q, sum(u))"},
     [](const place &x) { return x["f"] != x["q"] && x.reads(x["f"], x["q"]); },
     "adds up products with a function of {q}, but divides by those with {q} itself; did you mean "
     "the function in both?"},
    {{"above(x, max<a>(softmax<b>(x)))", "below(x, max<a>(softmax<b>(x)))"},
     is_slip,
     "compares {x} with the largest of its weights; did you mean max<{<a>}>({x})?"},
    {{"cos(a) * cos(b) - sin(a) * sin(b)"},
     is_of_two_positions,
     "is the cosine of a sum of positions, not of their distance; did you mean + in place of -?"},
    {{"sum<a>(w:softmax<a>(s))"},
     [](const place &x) { return is_result(x) && are_whole(x); },
     "is 1 always; did you mean another step than {w}?"},
    {{"exp(m:max<a>(s) - s)"},
     is_slip,
     "the largest of {s} gives the least; did you mean {s} - {m}?"},
    {{"log(sum<a>(exp(s - max<a>(s))))"},
     [](const place &x) {
       return x.is_used(x.at, [&](node_id user) {
         const node &u = x.p[user];
         return u.kind == op::output && has_word(u.name, {"lse", "logsumexp"});
       });
     },
     "lacks the maximum again; did you mean logsumexp<{<a>}>({s})?"},
    {{"sum<e>(w:softmax<a>(s) * y)", "dot<e>(w:softmax<a>(s), y)"},
     is_routed_elsewhere,
     "adds up over {<e>} what is 1 over {<a>}; did you mean softmax<{<e>}>({s})?"},
    {{"sum<d>(k * k) - #n * dot<d>(q, k)", "(sum<d>(q * q) + sum<d>(k * k)) - #n * dot<d>(q, k)",
      "(sum<d>(q * q) - #n * dot<d>(q, k)) + sum<d>(k * k)",
      "(sum<d>(k * k) - #n * dot<d>(q, k)) + sum<d>(q * q)"},
     are_scores,
     "is a squared distance, which is largest for the farthest keys; did you mean the same with a "
     "minus?"},
    {{"dot<d>(q, k) / sum<a>(q * q) / sum<b>(k * k)",
      "dot<d>(q, k) / sum<b>(k * k) / sum<a>(q * q)"},
     is_slip,
     "divides by the squares of both lengths; did you mean their roots?"},
    {{"(dot<d>(q, k) * rsqrt(sum<a>(q * q))) * rsqrt(m:mean<b>(k * k))",
      "(dot<d>(q, k) * rsqrt(m:mean<b>(k * k))) * rsqrt(sum<a>(q * q))",
      "dot<d>(q * rsqrt(sum<a>(q * q)), k * rsqrt(m:mean<b>(k * k)))",
      "dot<d>(q / sqrt(sum<a>(q * q)), k / sqrt(m:mean<b>(k * k)))"},
     is_slip,
     "has {q} of unit length, but divides {k} by the root of {m}; did you mean sum<{<b>}> there?"},
    {{"sum<e>(y * w:(u / sum<a>(u)))", "dot<e>(y, w:(u / sum<a>(u)))"},
     is_shared_elsewhere,
     "adds up over {<e>} what is 1 over {<a>}; did you mean sum<{<e>}> in the divisor?"},
    {{"where(equal(index<a>(), index<b>()), s, s - #n)"},
     [](const place &x) { return x.number("n") >= 1000; },
     "leaves each query its own key alone; did you exchange the branches?"},
    {{"dot<d>(q * a, k * b)"},
     is_divided_twice,
     "divides both sides by the root of {<d>}, and scores by {<d>} itself; did you mean one side?"},
    {{"exp(-(d * d) / #n * s * s)"},
     [](const place &x) { return x.number("n") > 0 && x["s"] != x["d"]; },
     "multiplies by the square of {s}, since * and / go from left to right; did you mean / ({#n} * "
     "{s} * {s})?"},
    {{"log(max(c:sum<a>(softmax<b>(s)), 1))"},
     has_other_axes,
     "is 0 wherever {c} is below 1, so that only too much counts; did you mean min(.., 1)?"},
    {{"softmax<a>(s * k)"},
     [](const place &x) {  // and does not hide the weights, too
       return is_named_after_mask(x) && !x.is_used(x.at, [&](node_id user) {
         const node &u = x.p[user];
         return u.kind == op::mul && std::any_of(u.in.begin(), u.in.end(), [&](node_id m) {
                  return inner_of(x.p, m) == x["k"];
                });
       });
     },
     "multiplies scores by {k}, which leaves a hidden one at 0, of weight exp(0); did you mean "
     "softmax<{<a>}>(mask({s}, {k} > 0))?"},
    {{"dot<d>(q, k) / sqrt(sum<a>(q * q)) / sum<b>(k * k)",
      "dot<d>(q, k) / sum<b>(k * k) / sqrt(sum<a>(q * q))",
      "dot<d>(q, k) / (sqrt(sum<a>(q * q)) * sum<b>(k * k))"},
     is_slip,
     "divides by the length of {q} and by the square of the length of {k}; did you mean "
     "sqrt(sum<{<b>}>(..))?"},
    {{"a + b"},
     adds_square_in_exponent,
     "adds half of a square where the features of exp(q' k) subtract it; did you mean - {b}?"},
    {{"(x * exp(a - m) + y * exp(b - m)) / (a + b)", "(x * exp(a) + y * exp(b)) / (a + b)"},
     is_slip,
     "weighs by exponentials of {a} and {b}, but divides by their sum; did you mean the sum of the "
     "exponentials?"},
    {{"(x * w + y * v) / (w * v)"},
     is_slip,
     "divides a weighted sum by the product of its weights; did you mean {w} + {v}?"},
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
     "keeps a share of {x} without dividing it by that; did you mean dropout<{#p}>({x}, seed)?"},
    {{"x * cast(below(uniform(), #p)) / #n", "x * cast(above(uniform(), #p)) / #n",
      "where(below(uniform(), #p), x, 0) / #n", "where(above(uniform(), #p), x, 0) / #n"},
     [](const place &x) {
       return !nearly(x.number("p"), 0.5) && !nearly(kept_share(x), x.number("n")) &&
              nearly(1 - kept_share(x), x.number("n"));
     },
     "divides by {#n}, which is the share that is left out; did you exchange < and >=?"},
    {{"x * cast(below(uniform(), #p)) * #n", "x * cast(above(uniform(), #p)) * #n",
      "where(below(uniform(), #p), x, 0) * #n", "where(above(uniform(), #p), x, 0) * #n"},
     [](const place &x) { return nearly(kept_share(x), x.number("n")); },
     "multiplies by the share that is kept; did you mean / {#n}?"},
    {{"where(below(uniform(), #p), 0, x * #n)", "where(above(uniform(), #p), x * #n, 0)",
      "(x * #n) * cast(above(uniform(), #p))", "where(below(uniform(), #p), 0, x) * #n"},
     [](const place &x) {
       return nearly(x.number("n"), 1 - x.number("p")) && !nearly(x.number("p"), 0.5);
     },
     "multiplies by the share that is kept; did you mean / {#n}?"},
    {{"((x * cast(above(uniform(), #p))) * #s) * #n"},
     [](const place &x) { return is_share_kept(x) && !nearly(x.number("p"), 0.5); },
     "multiplies by the share that is kept, by which dropout has divided; did you mean it without "
     "{#n}?"},
    {{"(e:exp(x) / sum<a>(e)) + 1", "normalize<a>(e) + 1", "softmax<a>(e) + 1"},
     [](const place &x) {
       return x.is_used(x.at, [&](node_id user) {
         return x.p[user].kind == op::dot && contains(x.p[user].over, x.axes("a"));
       });
     },
     "adds 1 to each weight over {<a>}; did you mean to add it to their sum?"},
    {{"(x * a + y * b) / (x + x)"},
     [](const place &x) { return x["x"] != x["y"]; },
     "divides by twice {x}; did you mean {x} + {y}?"},
    {{"dot<d>(q / s:sum<a>(q * q), k / sqrt(sum<b>(k * k)))",
      "dot<d>(q / s:sum<a>(q * q), k * rsqrt(sum<b>(k * k)))",
      "dot<d>(k / sqrt(sum<b>(k * k)), q / s:sum<a>(q * q))",
      "dot<d>(k * rsqrt(sum<b>(k * k)), q / s:sum<a>(q * q))"},
     [](const place &x) { return x["q"] != x["k"]; },
     "divides {q} by the square of its length, and {k} by its length; did you mean sqrt({s})?"},
    {{"q:elu(x) * k", "dot(q:elu(x), k)"},
     has_one_beside,
     "{q} may be negative, and has a 1 added on the other side; did you mean {q} + 1?"},
    {{"e:exp(s - m:max(max<a>(s), o)) / (1 + sum<a>(e))",
      "dot<a>(e:exp(s - m:max(max<a>(s), o)), v) / (1 + sum<a>(e))",
      "e:exp(s - m:max<a>(s)) / (1 + sum<a>(e))",
      "dot<a>(e:exp(s - m:max<a>(s)), v) / (1 + sum<a>(e))"},
     is_slip,
     "adds 1 to exponentials that are shifted by {m}; did you mean exp(-{m})?"},
};

}  // namespace

std::span<const formula_rule> formulas_of_scores() { return score_rules; }

}  // namespace qkv::codegen
