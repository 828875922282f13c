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

};

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
