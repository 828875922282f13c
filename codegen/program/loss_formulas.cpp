// SPDX-License-Identifier: BSL-1.0
// Formulas of losses that are slips.
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_rules.hpp"
#include "codegen/program/projections.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/step_value.hpp"

namespace qkv::codegen {

namespace {

using namespace checks;

// The step as a function of another one, where it has this value.
std::optional<double> value_at(const program &p, node_id n, node_id of, double value) {
  n = inner_of(p, n);
  if (n == of) return value;
  const node &x = p[n];
  if (x.kind == op::number) return x.value;
  if (is_argument(x) || !x.name.empty()) return {};
  double in[3] = {};
  for (std::size_t k = 0; k < x.in.size() && k < 3; ++k) {
    const auto v = value_at(p, x.in[k], of, value);
    if (!v) return {};
    in[k] = *v;
  }
  return value_of(x, in);
}

// y is a square of e and z a line of it, with another value where both begin.
bool branches_do_not_meet(const place &x) {
  const double c = x.number("c");
  double y[3], z[3];
  for (const int k : {0, 1, 2}) {
    const auto of_y = value_at(x.p, x["y"], x["e"], c * (k + 1)),
               of_z = value_at(x.p, x["z"], x["e"], c * (k + 1));
    if (!of_y || !of_z) return false;
    y[k] = *of_y, z[k] = *of_z;
  }
  const bool is_square = nearly(y[1], 4 * y[0]) && nearly(y[2], 9 * y[0]) && y[0] != 0;
  const bool is_line = nearly(z[2] - z[1], z[1] - z[0]) && z[1] != z[0];
  return is_square && is_line && !nearly(y[0], z[0]);
}

// Weights, or the shares of them that 0 and 1 choose.
bool are_probabilities(const program &p, node_id n) {
  n = inner_of(p, n);
  if (p[n].kind == op::softmax) return true;
  if (!is_unnamed(p, op::dot, n)) return false;
  const auto is_bit = [&](node_id m) {
    const auto v = known_number(p, m);
    return v && (*v == 0 || *v == 1);
  };
  bool chooses = false, weighs = false;
  for (node_id m : p[n].in) {
    m = inner_of(p, m);
    weighs = weighs || (p[m].kind == op::softmax && p[m].over == p[n].over);
    chooses = chooses || (p[m].kind == op::cast && p[p[m].in[0]].type == b8) ||
              (is_unnamed(p, op::where, m) && is_bit(p[m].in[1]) && is_bit(p[m].in[2]));
  }
  return weighs && chooses;
}

// One term has probabilities, and the other products with a param.
bool mixes_logits(const place &x) {
  const auto are_logits = [&](node_id n) {
    n = without_bias(x.p, n);
    const auto has = [&](op kind) {
      return std::any_of(x.p[n].in.begin(), x.p[n].in.end(),
                         [&](node_id m) { return x.p[inner_of(x.p, m)].kind == kind; });
    };
    return is_unnamed(x.p, op::dot, n) && has(op::param) && !has(op::softmax);
  };
  return are_logits(x["x"]) && are_probabilities(x.p, x["y"]);
}

// max(p - q, 0) is a step, too, and max(q - p, 0) is not.
bool has_other_rest(const place &x) {
  const auto has_rest = [&](node_id a, node_id b) {
    return std::any_of(x.p.nodes.begin(), x.p.nodes.end(), [&](const node &n) {
      if (n.kind != op::relu && n.kind != op::max) return false;
      const node_id d = inner_of(x.p, n.in[0]);
      return is_unnamed(x.p, op::sub, d) && inner_of(x.p, x.p[d].in[0]) == a &&
             inner_of(x.p, x.p[d].in[1]) == b;
    });
  };
  return has_rest(x["p"], x["q"]) && !has_rest(x["q"], x["p"]);
}

// l is log(..) or x - logsumexp(x), not an advantage or a score.
bool is_logarithm_of_share(const place &x) {
  const node &l = x.p[x["l"]];
  if (l.kind == op::log || is_argument(l)) return true;
  return l.kind == op::sub && depends_on(x.p, l.in[1], [&](node_id m) {
           return x.p[m].kind == op::logsumexp || x.p[m].kind == op::log;
         });
}

// log(keep) is added to scores.
bool hides_scores(const place &x) {
  return x.is_used(x.at, [&](node_id user) { return x.p[user].kind == op::add; });
}

// By the names of results, which call a value that is to grow so.
bool is_to_be_small(const place &x) {
  return std::none_of(x.p.outputs.begin(), x.p.outputs.end(), [&](node_id n) {
    const std::string &name = x.p[n].name;
    return has_word(name, {"elbo", "bound", "objective"}) || name == "V" || name == "v";
  });
}

// Labels are smoothed: a mean of x is added to it, or taken off.
bool is_rest_added(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    const node &u = x.p[user];
    if (u.kind != op::add && u.kind != op::sub) return is_view(u.kind);
    for (const node_id term : u.in) {
      const node_id m = unscaled(x.p, term);
      const op kind = x.p[m].kind;  // another label has the rest in a mixture
      const bool is_total = kind == op::mean || kind == op::sum || kind == op::take;
      found = found || (term != step && is_total && x.reads(m, x["x"]));
    }
    return true;
  });
  return found;
}

// A result named loss of prediction - target.
bool is_loss_of_difference(const place &x) {
  const bool is_loss = x.is_used(x.at, [&](node_id user) {
    return x.p[user].kind == op::output && has_word(x.p[user].name, {"loss", "mse"});
  });
  const auto is_target = [&](const char *v) {
    return x.p[x[v]].kind == op::input && has_word(x.p[x[v]].name, {"target", "label", "truth"});
  };
  return is_loss && (is_target("x") || is_target("y"));
}

// l is named after the logarithm of a variance.
bool is_of_variance(const place &x) {
  const node &noise = x.p[x["e"]];
  if (noise.kind == op::mul && inner_of(x.p, noise.in[0]) == inner_of(x.p, noise.in[1]))
    return false;
  if (noise.shape.empty() || noise.kind == op::number) return false;  // of a bonus, of a mean
  return has_word(x.p[x["l"]].name, {"logvar", "log_var"});
}

// By the name of a result that is made of the square by roots and scales alone: a mean of squares.
// Squares of a mean for each of several rows may be meant.
bool is_called_mean_square(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    const node &u = x.p[user];
    found =
        found || (u.kind == op::output && has_word(u.name, {"mse", "mean_sq", "squared_error"}));
    const bool is_scaled = (u.kind == op::mul && u.in[0] != u.in[1]) ||
                           (u.kind == op::div && inner_of(x.p, u.in[0]) == inner_of(x.p, step));
    return u.name.empty() && (is_scaled || u.kind == op::sqrt || is_view(u.kind));
  });
  return found && x.p[x.at].shape.empty();
}

// A sum of squared differences, or its root.
bool is_distance(const program &p, node_id n) {
  static const formula_pattern forms[] = {
      formula_pattern("sum<a>(d:(x - y) * d)"), formula_pattern("sqrt(sum<a>(d:(x - y) * d))"),
      formula_pattern("mean<a>(d:(x - y) * d)"), formula_pattern("sum<a>(pow(x - y, 2))"),
      formula_pattern("sqrt(sum<a>(pow(x - y, 2)))")};
  return std::any_of(std::begin(forms), std::end(forms), [&](const formula_pattern &form) {
    return form.find(p, n, [](const pattern_match &) { return true; });
  });
}

// A product of two steps over features, perhaps divided by lengths.
bool is_similarity(const program &p, node_id n) {
  static const formula_pattern forms[] = {
      formula_pattern("dot<a>(x, y)"), formula_pattern("sum<a>(x * y)"),
      formula_pattern("dot<a>(x, y) / c"), formula_pattern("sum<a>(x * y) / c")};
  return !is_distance(p, n) &&
         std::any_of(std::begin(forms), std::end(forms), [&](const formula_pattern &form) {
           return form.find(p, n, [](const pattern_match &m) { return m["x"] != m["y"]; });
         });
}

// x["n"] is made of what is called negative, and x["p"] of what is called positive.
bool are_negative_and_positive(const place &x) {
  const auto mentions = [&](const char *v, std::string_view word) {
    return depends_on(
        x.p, x[v], [&](node_id m) { return is_argument(x.p[m]) && has_word(x.p[m].name, {word}); });
  };
  return mentions("n", "negative") && !mentions("n", "positive") && mentions("p", "positive") &&
         !mentions("p", "negative");
}

// Scores beside their softmax, times the number of choices.
bool are_shares_of_scores(const place &x) {
  const auto count = static_cast<double>(x.p.axes[x.root("e")].size);
  if (x.found.numbers.count("n") != 0 && (count <= 1 || x.number("n") != count)) return false;
  return x.is_used(x["x"], [&](node_id user) {
    return is_unnamed(x.p, op::softmax, user) && x.p[user].over == x.axes("e");
  });
}

// x is of what was chosen, and z the same of what was rejected: a margin of a logistic loss.
bool are_chosen_and_rejected(const place &x) {
  bool is_margin = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const op kind = x.p[user].kind;
    is_margin = is_margin || kind == op::sigmoid || kind == op::softplus;
    return kind == op::mul || kind == op::div || kind == op::neg || is_view(kind);
  });
  if (!is_margin) return false;
  const std::string &chosen = x.p[x["x"]].name, &rejected = x.p[x["z"]].name;
  const std::size_t at = chosen.find("chosen");
  return is_argument(x.p[x["x"]]) && is_argument(x.p[x["z"]]) && at != std::string::npos &&
         chosen.substr(0, at) + "rejected" + chosen.substr(at + 6) == rejected;
}

const formula_rule loss_rules[] = {
    {{"(x - y) + (z - w)", "b * (x - y) + b * (z - w)", "b * x + b * z", "x + z"},
     are_chosen_and_rejected,
     "adds {z}, which is of what was rejected; did you mean a minus?"},
    {{"((1 + l) - m * m) + e:exp(l)"}, is_slip, "adds the variance {e}; did you mean - {e}?"},
    {{"((1 + l) + s:(m * m)) - exp(l)"}, is_slip, "adds the square {s}; did you mean - {s}?"},
    {{"((s:exp(l) + m * m) - 1) + l", "((s:exp(l) - m * m) - 1) - l"},
     is_slip,
     "is a divergence of normal distributions with a wrong sign; did you mean {s} + {m} * {m} - 1 "
     "- {l}?"},
    {{"size<e>() * sum<e>(c * mean<t>(x))", "#n * sum<e>(c * mean<t>(x))"},
     are_shares_of_scores,
     "averages scores {x} over {<t>}, not their shares; did you mean softmax<{<e>}>({x})?"},
    {{"m:mean<a>(x) * m", "pow(mean<a>(x), 2)"},
     is_called_mean_square,
     "is the square of the mean of {x}; did you mean the mean of its square?"},
    {{"relu(n - p + #m)", "max(n - p + #m, 0)", "relu((#m - p) + n)", "max((#m - p) + n, 0)"},
     [](const place &x) {
       return x.number("m") > 0 && are_negative_and_positive(x) && is_distance(x.p, x["n"]) &&
              is_distance(x.p, x["p"]);
     },
     "is small where the negative is near; did you mean {p} - {n}?"},
    {{"relu(p - n + #m)", "max(p - n + #m, 0)", "relu((#m - n) + p)", "max((#m - n) + p, 0)"},
     [](const place &x) {
       return x.number("m") > 0 && are_negative_and_positive(x) && is_similarity(x.p, x["n"]) &&
              is_similarity(x.p, x["p"]);
     },
     "is small where the negative is near; did you mean {n} - {p}?"},
    {{"logsumexp<a>(s * t) - p / t", "logsumexp<a>(s / t) - p * t"},
     [](const place &x) { return is_argument(x.p[x["t"]]) && x.p[x["t"]].shape.empty(); },
     "multiplies by {t} in one term and divides by it in the other; did you mean one of them in "
     "both?"},
    {{"min(max(exp(x), #a), #b)", "max(min(exp(x), #b), #a)"},
     [](const place &x) {
       return x.number("a") > 0 && x.number("a") < 0.5 && nearly(x.number("b"), 1 + x.number("a"));
     },
     "bounds a ratio by {#a} and {#b}; did you mean 1 - {#a} as the least?"},
    {{"i:(max(w, 0) * max(h, 0)) / (a + b)"},
     [](const place &x) {
       const auto is_double = [&](node_id user) {  // Dice
         return x.p[user].kind == op::mul && without_scale(x.p, user).by == 2;
       };
       if (x.is_used(x.at, is_double)) return false;
       const auto is_area = [&](node_id n) { return is_unnamed(x.p, op::mul, n); };
       return is_area(x["a"]) && is_area(x["b"]);
     },
     "counts the common area {i} twice in the divisor; did you mean {a} + {b} - {i}?"},
    {{"logsumexp<a>(x - q) - (y + q)", "logsumexp<a>(x + q) - (y - q)"},
     [](const place &x) { return varies_along(x.p[unbroadcast(x.p, x["q"])], x.axes("a")); },
     "corrects {x} and {y} by {q} with opposite signs; did you mean one sign in both?"},
    {{"#c * pow(y * p:sigmoid(x) + (1 - y) * (1 - p), #n) * l",
      "pow(y * p:sigmoid(x) + (1 - y) * (1 - p), #n) * l"},
     [](const place &x) {
       const auto is_logarithm = [&](node_id m) {
         return x.p[m].kind == op::softplus || x.p[m].kind == op::log;
       };
       return x.number("n") >= 1 && depends_on(x.p, x["l"], is_logarithm);
     },
     "weighs most what is sure already; did you mean the power of 1 less that probability?"},
    {{"g * x + (1 - g) * y", "(1 - g) * x + g * y"},
     mixes_logits,
     "mixes {y}, which is made of probabilities, with {x}, which is not; did you mean softmax of "
     "{x}?"},
    {{"size<e>() * sum<e>(mean<t>(c * p:softmax<f>(x)))",
      "sum<e>(size<e>() * mean<t>(c * p:softmax<f>(x)))",
      "#n * sum<e>(mean<t>(c * p:softmax<f>(x)))"},
     [](const place &x) {
       const bool is_count =
           x.found.numbers.count("n") == 0 ||
           (x.number("n") > 1 && x.number("n") == static_cast<double>(x.p.axes[x.root("e")].size));
       return is_count && x.axes("e") == x.axes("f") && x["c"] != x["p"];
     },
     "averages products of {c} and {p}; did you mean mean<{<t>}>({c}) * mean<{<t>}>({p})?"},
    {{"min(1, take<v>(q, t) / take<v>(p, t))"},
     has_other_rest,
     "accepts by {q} / {p}, but redraws where {p} exceeds {q}; did you exchange them in one of the "
     "two?"},
    {{"mean<a>(take<v>(p:softmax<v>(x), t))", "sum<a>(take<v>(p:softmax<v>(x), t))",
      "mean<a>(-take<v>(p:softmax<v>(x), t))", "sum<a>(-take<v>(p:softmax<v>(x), t))"},
     is_of_loss,
     "adds up probabilities of {p}; did you mean their logarithms?"},
    {{"#a * -take<v>(l, t) + #b * m:mean<w>(l)"},
     [](const place &x) { return x.number("a") * x.number("b") > 0; },
     "has {m} with the other sign; did you mean - in both terms?"},
    {{"#a * -take<v>(l, t) - #b * m:mean<w>(l)"},
     [](const place &x) { return x.number("a") * x.number("b") < 0; },
     "has {m} with the other sign; did you mean - in both terms?"},
    {{"softplus(-(where(equal(index<a>(), index<b>()), #m, #n) * s))",
      "log(sigmoid(where(equal(index<a>(), index<b>()), #m, #n) * s))"},
     [](const place &x) { return x.number("m") < 0 && x.number("n") > 0; },
     "has {#m} for the pairs that belong together; did you exchange {#m} and {#n}?"},
    {{"min(w:softmax<b>(s), c:cumsum<a>(w))"},
     is_slip,
     "is {w} always, since {c} contains it; did you mean {c} - {w}?"},
    {{"#a * take<v>(l, t) + #b * mean<w>(l)"},
     [](const place &x) { return x.number("a") * x.number("b") < 0 && is_logarithm_of_share(x); },
     "has the mean of all logarithms with the other sign; did you mean - in both terms?"},
    {{"#a * take<v>(l, t) - #b * mean<w>(l)"},
     [](const place &x) { return x.number("a") * x.number("b") > 0 && is_logarithm_of_share(x); },
     "has the mean of all logarithms with the other sign; did you mean - in both terms?"},
    {{"#a * take<v>(l, t) - #b * mean<w>(l)", "#a * take<v>(l, t) + #b * mean<w>(l)"},
     [](const place &x) {
       const double a = std::abs(x.number("a"));
       return nearly(std::abs(x.number("b")), a) && !nearly(a, 0.5) && is_logarithm_of_share(x);
     },
     "has two equal shares, which do not add up to 1; did you mean a smaller one for the mean?"},
    {{"pow(exp(l), #g) * l", "pow(p, #g) * log(p)", "-pow(exp(l), #g) * l", "-pow(p, #g) * log(p)"},
     [](const place &x) { return x.number("g") > 1; },
     "weighs what is certain; did you mean pow(1 - .., {#g})?"},
    {{"log(softmax<a>(x) + softmax<a>(y))"},
     [](const place &x) {  // - log(2)
       return !x.is_used(x.at, [&](node_id user) {
         return x.p[user].kind == op::sub && is_number(x.p, inner_of(x.p, x.p[user].in[1]));
       });
     },
     "is of two distributions that add up to 2; did you mean half of their sum?"},
    {{"logsumexp<v>(x / #n) - take<w>(x, t)", "logsumexp<v>(x) - take<w>(x, t) / #n",
      "logsumexp<v>(x * #n) - take<w>(x, t)", "logsumexp<v>(x) - take<w>(x, t) * #n"},
     [](const place &x) { return x.number("n") != 1 && !is_rest_added(x); },
     "scales {x} by {#n} in one term alone; did you mean both?"},
    {{"logsumexp<a>(s) - max<a>(s)"},
     [](const place &x) {  // without labels, those that the scores give are meant
       const auto are_labels = [&](node_id m) { return x.p[m].type == i32; };
       return is_of_loss(x) && std::any_of(x.p.arguments.begin(), x.p.arguments.end(), are_labels);
     },
     "is smallest where one score wins, whichever; did you mean take<{<a>}>({s}, ..) of the right "
     "one?"},
    {{"log(1 + exp(abs(x)))"}, is_slip, "grows with {x}; did you mean exp(-abs({x}))?"},
    {{"l + d * d * exp(l)", "l + d * (d * exp(l))"},
     is_slip,
     "multiplies the square of {d} by the variance; did you mean exp(-{l})?"},
    {{"sum<a>(((1 + l) - m * m) - exp(l))"},
     [](const place &x) { return !is_negated_later(x) && is_to_be_small(x); },
     "is never positive; did you mean -0.5 times it?"},
    {{"m + e * exp(l)"},
     is_of_variance,
     "multiplies {e} by a variance; did you mean exp(0.5 * {l})?"},
    {{"sqrt(a) * x + (1 - a) * y"},
     [](const place &x) {  // not the mean of what comes before, whose terms have other shares, too
       const auto is_share = [&](node_id m) {
         return x.p[m].kind == op::sub || x.p[m].kind == op::sqrt;
       };
       return !depends_on(x.p, x["x"], is_share) && !depends_on(x.p, x["y"], is_share);
     },
     "has a root on one share alone; did you mean sqrt(1 - {a})?"},
    {{"sqrt(a) * x + sqrt(a) * y"},
     [](const place &x) {  // not two noises of a step of time
       const std::string &name = x.p[x["a"]].name;
       return name != "dt" && name != "h" && name != "step";
     },
     "has the share {a} on both terms; did you mean sqrt(1 - {a}) on one?"},
    {{"max(r * a, min(max(r, #l), #h) * a)", "max(r * a, max(min(r, #h), #l) * a)"},
     [](const place &x) { return x.p[x["a"]].kind != op::neg; },
     "takes the larger of both objectives; did you mean min(..)?"},
    {{"1 - pow(t, #b)"},
     [](const place &x) {
       const auto divides = [&](node_id user) {  // (1 - p^q) / q
         const node &u = x.p[user];
         const node_id by = inner_of(x.p, u.in.back());
         return u.kind == op::div && is_number(x.p, by) && nearly(x.p[by].value, x.number("b"));
       };
       return x.number("b") >= 0.8 && x.number("b") < 1 && !x.is_used(x.at, divides);
     },
     "raises {t} to {#b}; did you mean pow({#b}, {t})?"},
    {{"where(below(d, #c), (0.5 * d) * d, x)", "where(below(d, #c), 0.5 * (d * d), x)"},
     [](const place &x) { return x.p[x["d"]].kind == op::sub; },
     "compares {d} with its sign; did you mean abs({d})?"},
    {{"where(below(d:abs(e), #c), y, z)", "where(above(d:abs(e), #c), z, y)"},
     branches_do_not_meet,
     "jumps where {d} is {#c}: the square and the line do not meet there; did you mean another "
     "constant?"},
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
     [](const place &x) { return !is_negated_later(x) && is_to_be_small(x); },
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
     [](const place &x) {  // the last position has no label for each of <a>
       return has_two_axes(x) && varies_along(x.p[x["t"]], x.axes("a"));
     },
     "takes along {<v>} what is normalised over {<a>}; did you mean <{<v>}> there?"},
    {{"log(where(c, #a, #b))"},
     [](const place &x) { return is_indicator(x) && !hides_scores(x); },
     "is a logarithm of 0 and 1; did you exchange the target and the prediction?"},
    {{"log(c:cast(b))"},
     [](const place &x) { return is_of_truth(x) && !hides_scores(x); },
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
};

}  // namespace

std::span<const formula_rule> formulas_of_losses() { return loss_rules; }

}  // namespace qkv::codegen
