// SPDX-License-Identifier: BSL-1.0
// Formulas of attention over parts of the keys, and of its backward, that are slips.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_rules.hpp"

namespace qkv::codegen {
namespace {

using namespace checks;

// A logarithm of a sum, by its operation or by the name of an argument.
bool is_log_sum(const program &p, node_id n) {
  const node &x = p[inner_of(p, n)];
  if (x.kind == op::logsumexp) return true;
  constexpr std::array words = {"lse", "logsumexp", "log_sum_exp", "log_sum"};
  const bool is_negated = x.name.starts_with("n") || x.name.starts_with("minus");
  return is_argument(x) && !is_negated &&
         std::any_of(words.begin(), words.end(), [&](const char *word) {
           const std::size_t at = x.name.find(word);  // not in "pulse"
           return at == 0 || (at != std::string::npos && x.name[at - 1] == '_');
         });
}

bool is_of_log_sum(const place &x) { return is_log_sum(x.p, x["l"]); }

// By its form alone: max(s, t), max(s, t) + exp(..), log(exp(s) + ..).
bool is_at_least(const program &p, node_id n, node_id least) {
  n = inner_of(p, n);
  const node &x = p[n];
  if (n == least) return true;
  if (is_argument(x) || !x.name.empty()) return false;
  const auto any = [&](auto holds) { return std::any_of(x.in.begin(), x.in.end(), holds); };
  if (x.kind == op::max) return any([&](node_id m) { return is_at_least(p, m, least); });
  if (x.kind == op::add)
    for (const std::size_t k : {0, 1}) {
      const op other = p[inner_of(p, x.in[1 - k])].kind;
      if ((other == op::softplus || other == op::exp) && is_at_least(p, x.in[k], least))
        return true;
    }
  if (x.kind != op::log || p[inner_of(p, x.in[0])].kind != op::add) return false;
  for (const node_id term : p[inner_of(p, x.in[0])].in)
    if (const node &e = p[inner_of(p, term)]; e.kind == op::exp && inner_of(p, e.in[0]) == least)
      return true;
  return false;
}

// "O_a" is of part "a" of what is called O, "O1" of part "1".
std::optional<std::pair<std::string, std::string>> part_of(const program &p, node_id n) {
  const node &x = p[inner_of(p, n)];
  std::size_t end = x.name.rfind('_'), next = end + 1;
  if (end == std::string::npos) next = end = x.name.find_last_not_of("0123456789") + 1;
  if (!is_argument(x) || end == 0 || next == x.name.size()) return {};
  return std::pair(x.name.substr(0, end), x.name.substr(next));
}

// x has the name of another part than a, and that of a's part is an argument, too.
bool is_of_other_part(const program &p, node_id x, node_id a) {
  const auto of_x = part_of(p, x), of_a = part_of(p, a);
  if (!of_x || !of_a || of_x->second == of_a->second) return false;
  return std::any_of(p.nodes.begin(), p.nodes.end(), [&](const node &n) {
    const bool is_apart = p[inner_of(p, x)].name.find('_') != std::string::npos;
    return is_argument(n) && n.name == of_x->first + (is_apart ? "_" : "") + of_a->second;
  });
}

// And is not taken off again, as in O1 + s * O2 - s * O1.
bool weighs_other_part(const place &x) {
  return is_of_log_sum(x) && is_of_other_part(x.p, x["x"], x["l"]) && !x.is_right_of(op::sub);
}

// Scores: made of a product, along more axes than l.
bool has_scores_beside(const place &x) {
  if (!is_of_log_sum(x)) return false;
  const node_id l = unbroadcast(x.p, inner_of(x.p, x["l"]));
  return depends_on(x.p, x["s"], [&](node_id m) { return x.p[m].kind == op::dot; }) &&
         !contains(x.p[l].shape, x.p[x["s"]].shape);
}

// The weights of parts multiply what softmax<c>(s) weighs inside of each.
bool weighs_weighted(const place &x) {
  const program &p = x.p;
  const auto is_weighted = [&](node_id m) {
    if (p[m].kind != op::dot || p[m].over != x.axes("c")) return false;
    return std::any_of(p[m].in.begin(), p[m].in.end(), [&](node_id w) {
      w = inner_of(p, w);
      return p[w].kind == op::softmax && inner_of(p, p[w].in[0]) == x["s"];
    });
  };
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    if (p[user].kind == op::dot && p[user].over == x.axes("p"))
      for (const node_id operand : p[user].in)
        found = found || (operand != step && depends_on(p, operand, is_weighted));
    return is_pointwise(p[user].kind) || is_view(p[user].kind);
  });
  return found;
}

const formula_rule part_rules[] = {
    {{"softmax<p>(max<c>(s))"},
     weighs_weighted,
     "weighs parts by their maxima; did you mean softmax<{<p>}>(logsumexp<{<c>}>({s}))?"},
    {{"l / sum<a>(l)"},
     is_of_log_sum,
     "divides logarithms of sums by their sum; did you mean softmax<{<a>}>({l})?"},
    {{"(l * x + exp(b - m) * y) / (l + exp(b - m))"},
     is_of_log_sum,
     "weighs {x} by a logarithm of a sum; did you mean exp({l} - {m})?"},
    {{"sigmoid(l - b) * x"},
     weighs_other_part,
     "weighs {x} by the share of the other part; did you mean sigmoid({b} - {l})?"},
    {{"exp(l - m) * x"},
     weighs_other_part,
     "weighs {x} by the exponential of the other part; did you mean the {l} of its own?"},
    {{"m:max(a, b) + log(exp(a) + exp(b))", "m:max<s>(a) + log(sum<s>(exp(a)))"},
     is_slip,
     "adds the maximum that the exponentials do not lack; did you mean exp({a} - {m})?"},
    {{"exp(l - s)"},
     [](const place &x) {
       return x["l"] != x["s"] && is_at_least(x.p, x["l"], x["s"]) && !x.is_right_of(op::div);
     },
     "is at least 1, since {l} is at least {s}; did you mean {s} - {l}?"},
    {{"exp(s + l)"},
     has_scores_beside,
     "adds the logarithm of the sum that {s} is to be divided by; did you mean {s} - {l}?"},
    {{"w:softmax<a>(s) * (dot<b>(g, v) - d:sum<b>(o * o))",
      "exp(s) * (dot<b>(g, v) - d:sum<b>(o * o))"},
     is_slip,
     "subtracts a sum of squares from gradients; did you mean sum<{<b>}>({g} * {o}) in place of "
     "{d}?"},
    {{"w:softmax<a>(s) * (d - t:sum<a>(d))"},
     is_slip,
     "is a gradient of softmax with {t} in the place of a weighted sum; did you mean "
     "sum<{<a>}>({w} * {d})?"},
    {{"w:softmax<a>(s) * (d + sum<a>(w * d))", "w:softmax<a>(s) * (d + dot<a>(w, d))",
      "w:softmax<a>(s) * (dot<b>(g, v) + sum<b>(g * o))"},
     is_slip,
     "is a gradient of softmax with a plus; did you mean a minus in the second factor?"},
};

}  // namespace

std::span<const formula_rule> formulas_of_parts() { return part_rules; }

}  // namespace qkv::codegen
