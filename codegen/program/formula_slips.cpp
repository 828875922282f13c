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
#include "codegen/program/slip_finder.hpp"
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
     [](const place &x) { return !is_argument(x.p[x["x"]]) && x.p[x["x"]].kind != op::mul; },
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
    {{"tanh(x * c) * c"},
     [](const place &x) { return x.p[x["c"]].kind == op::param; },
     "multiplies by {c} inside of tanh, too; did you mean {c} * tanh({x} / {c})?"},
    {{"tanh(#a * (h + (#b * h) * h))", "tanh(#a * (h + #b * (h * h)))"},
     [](const place &x) { return nearly(x.number("b"), 0.044715); },
     "has the square of {h}, where gelu has its cube; did you mean gelu({h})?"},
    {{"(h * #c) * (1 + erf(u))", "(h * (1 + erf(u))) * #c", "h * (#c * (1 + erf(u)))"},
     is_unlike_gelu,
     "takes erf of another part of {h} than {h} / sqrt(2); did you mean gelu({h})?"},
    {{"where(above(x, 0), x, exp(x))"}, is_slip, "jumps by 1 at 0; did you mean elu({x})?"},
    {{"where(above(x, 0), #a * x, x)", "where(below(x, 0), x, #a * x)"},
     [](const place &x) { return x.number("a") > 0 && x.number("a") < 1; },
     "scales {x} by {#a} where it is positive; did you exchange the branches?"},
    // gates
    {{"z:sigmoid(g) * x + z * y"},
     is_slip,
     "has the gate {z} on both terms; did you mean 1 - {z} on one?"},
    {{"z:sigmoid(g) * x + (z - 1) * y"},
     is_slip,
     "has the rest of the gate with the other sign; did you mean 1 - {z}?"},
    {{"t:sigmoid(g) * h + (1 - h) * y"},
     [](const place &x) { return x.p[x["h"]].kind != op::sigmoid && x["h"] != x["t"]; },
     "has the gate {t}, but 1 - {h} beside it; did you mean 1 - {t}?"},
    {{"g:tanh(b) * x + (1 - g) * y"},
     is_slip,
     "has a share that may be negative, {g}; did you mean sigmoid({b})?"},
    {{"(1 - z:sigmoid(g)) * s + r:sigmoid(f) * c"},
     is_inside_other,
     "has the gates 1 - {z} and {r}; did you mean {z} in place of {r}?"},
    {{"w:take<e>(softmax<a>(s), i) * x + w * y"},
     is_slip,
     "has the share {w} on both terms; did you mean another share on one?"},
    {{"m * x + m * take<a>(x, i)", "m * x + m * where(c, take<a>(x, i), o)"},
     [](const place &x) { return x.p[x["m"]].kind == op::param; },
     "has the factor {m} on both terms; did you mean 1 - {m} on one?"},
    {{"#a * x + #a * y"},
     is_most_of_one,
     "has the factor {#a} on both terms; did you mean one of them less 1?"},
    {{"tanh(f) * c + x"},
     [](const place &x) { return x.p[x["c"]].kind == op::carried; },
     "has a gate that may be negative, tanh({f}); did you mean sigmoid({f})?"},
    {{"g:sigmoid(a) + y", "g:smooth(a) + y"},
     are_projections_of_one,
     "adds the gate {g} to what it should scale; did you mean *?"},
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
    {{"x * sqrt(mean<a>(x * x))"},
     is_slip,
     "multiplies {x} by its root mean square; did you mean rsqrt(mean<{<a>}>({x} * {x}))?"},
    {{"root(m:mean<a>(y) + #e)"},
     [](const place &x) { return x.number("e") >= 100; },
     "adds {#e} to {m}; did you mean a small number, as 1e-5?"},
    {{"dot<d>(q, k) / (sqrt(sum<a>(q * q)) + sqrt(sum<b>(k * k)))"},
     is_slip,
     "divides by the sum of both lengths; did you mean their product?"},
    {{"(softmax<a>(x) + softmax<a>(y)) / #n", "#n * (softmax<a>(x) + softmax<a>(y))"},
     [](const place &x) { return !nearly(x.number("n"), 2) && !nearly(x.number("n"), 0.5); },
     "is an average of 2 weights that is scaled by {#n}; did you mean / 2?"},
    {{"((softmax<a>(x) + softmax<a>(y)) + softmax<a>(z)) / #n"},
     [](const place &x) { return !nearly(x.number("n"), 3); },
     "is an average of 3 weights that is divided by {#n}; did you mean / 3?"},
    {{"dot<d>(x / sum<a>(x * x), y / sum<b>(y * y))"},
     is_slip,
     "divides by sums of squares without their roots; did you mean unit_length<{<d>}>(..)?"},
    {{"x / q:min(root(s), #e)", "x / q:min(s:sum<a>(y), #e)"},
     is_small,
     "divides by at most {#e}; did you mean max({s}, {#e})?"},
    {{"x / min(abs(s), #e)"},
     is_slip,
     "divides by at most {#e}; did you mean max(abs({s}), {#e})?"},
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
     "divides by the share that dropout keeps, as dropout does; did you mean it without / {#n}?"},
    {{"(x + y) * cast(above(uniform(), #p))"},
     is_residual_dropped,
     "leaves out parts of {x}, too, which the layer goes past; did you mean {x} + dropout<{#p}>("
     "{y}, ..)?"},
    {{"sum<d>(a * b) / (sum<e>(a * a) * sum<f>(b * b))",
      "dot<d>(a, b) / (sum<e>(a * a) * sum<f>(b * b))"},
     is_slip,
     "divides by the squares of both lengths; did you mean the root of their product?"},
    // scores and weights
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
     is_never_divided,
     "weighs by exponentials that do not add up to 1; did you mean to divide by their sum?"},
    {{"dot<d>(q, m:dot<n>(k, v)) / s:sum<d>(q)"},
     is_slip,
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
     is_result,
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
    {{"x * cast(below(uniform(), #p)) / #n", "x * cast(above(uniform(), #p)) / #n"},
     [](const place &x) {
       return !nearly(x.number("p"), 0.5) && !nearly(kept_share(x), x.number("n")) &&
              nearly(1 - kept_share(x), x.number("n"));
     },
     "divides by {#n}, which is the share that is left out; did you exchange < and >=?"},
    {{"q:elu(x) * k", "dot(q:elu(x), k)"},
     has_one_beside,
     "{q} may be negative, and has a 1 added on the other side; did you mean {q} + 1?"},
    {{"e:exp(s - m:max(max<a>(s), o)) / (1 + sum<a>(e))",
      "dot<a>(e:exp(s - m:max(max<a>(s), o)), v) / (1 + sum<a>(e))",
      "e:exp(s - m:max<a>(s)) / (1 + sum<a>(e))",
      "dot<a>(e:exp(s - m:max<a>(s)), v) / (1 + sum<a>(e))"},
     is_slip,
     "adds 1 to exponentials that are shifted by {m}; did you mean exp(-{m})?"},
    // losses
    {{"mean<a>(take<v>(p:softmax<v>(x), t))", "sum<a>(take<v>(p:softmax<v>(x), t))",
      "mean<a>(-take<v>(p:softmax<v>(x), t))", "sum<a>(-take<v>(p:softmax<v>(x), t))"},
     is_of_loss,
     "adds up probabilities of {p}; did you mean their logarithms?"},
    {{"#a * take<v>(l, t) + #b * mean<w>(l)"},
     [](const place &x) { return x.number("a") * x.number("b") < 0; },
     "has the mean of all logarithms with the other sign; did you mean - in both terms?"},
    {{"#a * take<v>(l, t) - #b * mean<w>(l)"},
     [](const place &x) { return x.number("a") * x.number("b") > 0; },
     "has the mean of all logarithms with the other sign; did you mean - in both terms?"},
    {{"#a * take<v>(l, t) - #b * mean<w>(l)", "#a * take<v>(l, t) + #b * mean<w>(l)"},
     [](const place &x) {
       const double a = std::abs(x.number("a"));
       return nearly(std::abs(x.number("b")), a) && !nearly(a, 0.5);
     },
     "has two equal shares, which do not add up to 1; did you mean a smaller one for the mean?"},
    {{"pow(exp(l), #g) * l", "pow(p, #g) * log(p)", "-pow(exp(l), #g) * l", "-pow(p, #g) * log(p)"},
     [](const place &x) { return x.number("g") > 1; },
     "weighs what is certain; did you mean pow(1 - .., {#g})?"},
    {{"log(softmax<a>(x) + softmax<a>(y))"},
     is_slip,
     "is of two distributions that add up to 2; did you mean half of their sum?"},
    {{"logsumexp<v>(x / #n) - take<w>(x, t)", "logsumexp<v>(x) - take<w>(x, t) / #n",
      "logsumexp<v>(x * #n) - take<w>(x, t)", "logsumexp<v>(x) - take<w>(x, t) * #n"},
     [](const place &x) { return x.number("n") != 1; },
     "scales {x} by {#n} in one term alone; did you mean both?"},
    {{"logsumexp<a>(s) - max<a>(s)"},
     is_of_loss,
     "is smallest where one score wins, whichever; did you mean take<{<a>}>({s}, ..) of the right "
     "one?"},
    {{"log(1 + exp(abs(x)))"}, is_slip, "grows with {x}; did you mean exp(-abs({x}))?"},
    {{"l + d * d * exp(l)", "l + d * (d * exp(l))"},
     is_slip,
     "multiplies the square of {d} by the variance; did you mean exp(-{l})?"},
    {{"sum<a>(((1 + l) - m * m) - exp(l))"},
     [](const place &x) { return !is_negated_later(x); },
     "is never positive; did you mean -0.5 times it?"},
    {{"m + e * exp(l)"},
     is_of_variance,
     "multiplies {e} by a variance; did you mean exp(0.5 * {l})?"},
    {{"sqrt(a) * x + (1 - a) * y"},
     is_slip,
     "has a root on one share alone; did you mean sqrt(1 - {a})?"},
    {{"sqrt(a) * x + sqrt(a) * y"},
     is_slip,
     "has the share {a} on both terms; did you mean sqrt(1 - {a}) on one?"},
    {{"max(r * a, min(max(r, #l), #h) * a)", "max(r * a, max(min(r, #h), #l) * a)"},
     [](const place &x) { return x.p[x["a"]].kind != op::neg; },
     "takes the larger of both objectives; did you mean min(..)?"},
    {{"1 - pow(t, #b)"},
     [](const place &x) { return x.number("b") >= 0.8 && x.number("b") < 1; },
     "raises {t} to {#b}; did you mean pow({#b}, {t})?"},
    {{"where(below(d, #c), (0.5 * d) * d, x)", "where(below(d, #c), 0.5 * (d * d), x)"},
     [](const place &x) { return x.p[x["d"]].kind == op::sub; },
     "compares {d} with its sign; did you mean abs({d})?"},
    {{"where(below(abs(d), #c), x, d - #e)", "where(above(abs(d), #c), d - #e, x)"},
     is_slip,
     "goes below 0 where {d} is negative; did you mean abs({d}) - {#e}?"},
    {{"where(below(abs(d), #c), x, (0.5 * d) * d)", "where(below(abs(d), #c), x, 0.5 * (d * d))",
      "where(above(abs(d), #c), (0.5 * d) * d, x)", "where(above(abs(d), #c), 0.5 * (d * d), x)"},
     is_slip,
     "has the square where {d} is large; did you exchange the branches?"},
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
     "adds up a share of all logarithms; did you mean mean<{<w>}>({l}) in place of {s}?"},
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
    {{"y * l:log(p) + (1 - y) * l"},
     is_slip,
     "is {l} itself, since both shares of it are added; did you mean log(1 - {p}) beside 1 - {y}?"},
    {{"y * l + (1 - y) * l"},
     [](const place &x) { return x.p[x["l"]].kind != op::log; },
     "is {l} itself, since both shares of it are added; did you mean another step beside one?"},
    {{"sum<v>(p:exp(t - logsumexp<v>(t)) * ((t - logsumexp<v>(t)) - (s - logsumexp<v>(s))))"},
     is_softened_alone,
     "divides the scores of one distribution by a temperature, but not {s}; did you mean both?"},
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
     "is no remainder, since it divides by {#m} and multiplies by {#n}; did you mean {#n} twice?"},
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
    {{"x * c + concat<d>(take<e>(x, index<i>() + #n), take<e>(x, index<i>() + 0)) * s"},
     are_halves_exchanged,
     "adds both products, which is not a rotation; did you mean -{x} in the first half?"},
    // recurrences
    {{"d:dot<a>(k, s) - v"},
     is_carried_and_added,
     "adds the error with the other sign; did you mean {v} - {d}?"},
    {{"y / sum<d>(q * s:sum<a>(k))", "y / dot<d>(q, s:sum<a>(k))"},
     is_of_earlier_alone,
     "divides by a sum of all positions what is made of earlier ones; did you mean "
     "cumsum<{<a>}>({k})?"},
    {{"v - d:dot<a>(k, s)"},
     is_written_elsewhere,
     "takes off what the state holds at {k}, but is written at another key; did you mean that "
     "key?"},
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
  return text + way_to_insist(text);
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
