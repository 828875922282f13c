// SPDX-License-Identifier: BSL-1.0
// The plans of all gradients: what is stored for each pair of a query and a key.
#include <algorithm>
#include <set>

#include "codegen/plan/plan.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/programs.hpp"

using namespace qkv::testing;
using namespace qkv::codegen;

namespace {

// Gradients that store pairs although no argument and no result has them.
const std::set<std::string> stored = {
    // scores with a hidden layer, which sums over its axis are made of again
    "additive", "bahdanau", "luong", "shifted_keys",
    // heads that are mixed between the scores and the values
    "mixed_heads", "talking", "talking_heads",
    // scores under a chosen order of contractions
    "linear_either_way", "quadratic_linear", "weights_or_values",
    // functions of weights; scores of scores; masked keys or values; a decay that is learned
    "gated_by_scores", "gated_by_themselves", "scores_of_others", "scores_of_scores", "every_third",
    "masked_values_less_maximum", "padded_linear", "retention",
    // a scan whose states the call sizes
    "first_of_state"};

bool has_pairs(const program &p, const std::vector<node_id> &steps) {
  return std::any_of(steps.begin(), steps.end(), [&](node_id n) { return grows_with_pairs(p, n); });
}

// The steps that grow with pairs and are stored, but for results.
std::string stored_pairs(const plan &made) {
  std::string labels;
  for (const stage &s : made.cut.list)
    for (node_id root : roots_of(s))
      if (made.p[root].kind != op::output && grows_with_pairs(made.p, root))
        labels += label_of(made.p, root) + shape_of(made.p, made.p[root].shape) + "\n";
  return labels;
}

}  // namespace

TEST_CASE("gradients of attention sum their pairs both ways in one walk") {
  std::set<std::string> found;
  for (const program &p : differentiable_programs())
    for (const stage &s : plan_of(gradient(p)).cut.list)
      if (const auto *a = std::get_if<attention_stage>(&s); a && !a->across.empty()) {
        CHECK(a->across[0].row == a->key);
        CHECK(a->across[0].key == a->row);
        found.insert(p.name);
      }
  INFO(found.size() << " gradients");
  for (const char *name : {"full", "causal_self", "window", "softcapped", "relu_weights"})
    CHECK(found.count(name) == 1);
  CHECK(found.size() >= 40);
}

TEST_CASE("gradients store no pairs") {
  int free_of_pairs = 0;
  for (const program &p : differentiable_programs()) {
    const program g = gradient(p);
    if (has_pairs(g, g.arguments) || has_pairs(g, g.outputs)) continue;
    const std::string pairs = stored_pairs(plan_of(g));
    INFO(p.name << ":\n" << pairs);
    CHECK(pairs.empty() == !stored.count(p.name));
    free_of_pairs += pairs.empty();
  }
  CHECK(free_of_pairs >= 80);
}

TEST_CASE("gradients of additive scores store no layer for each pair") {
  for (const program &p : differentiable_programs()) {
    // its layer multiplies features of each pair by a matrix
    if (p.name == "luong") continue;
    const plan made = plan_of(gradient(p));
    const bool has_scan = std::any_of(made.p.nodes.begin(), made.p.nodes.end(),
                                      [](const node &n) { return n.kind == op::scan; });
    if (has_scan) continue;
    const auto is_layer_of_pairs = [&](node_id n) {
      const node &x = made.p[n];
      return grows_with_pairs(made.p, n) && x.kind != op::output &&
             std::count_if(x.shape.begin(), x.shape.end(),
                           [&](axis_id a) { return !made.p.axes[a].batch; }) > 2;
    };
    if (std::any_of(made.p.arguments.begin(), made.p.arguments.end(), is_layer_of_pairs)) continue;
    for (const stage &s : made.cut.list)
      for (node_id root : roots_of(s)) {
        INFO(p.name << ": " << label_of(made.p, root) << shape_of(made.p, made.p[root].shape));
        CHECK(!is_layer_of_pairs(root));
      }
  }
}

TEST_CASE("walks store the gradients of biases, and no other pairs") {
  std::set<std::string> found;
  for (const program &p : differentiable_programs()) {
    const plan made = plan_of(gradient(p));
    for (const stage &s : made.cut.list)
      if (const auto *a = std::get_if<attention_stage>(&s); a && !a->at_pairs.empty()) {
        for (const weighted_sum &sum : a->at_pairs) CHECK(made.p[sum.root].kind == op::output);
        const std::string pairs = stored_pairs(made);
        INFO(p.name << ":\n" << pairs);
        CHECK(pairs.empty());
        found.insert(p.name);
      }
  }
  for (const char *name : {"biased", "gated_full", "masked_gate"}) CHECK(found.count(name) == 1);
}
