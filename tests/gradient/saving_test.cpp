// SPDX-License-Identifier: BSL-1.0
// A kernel that saves steps and the gradient that reads them give what the kernel and its gradient
// give.
#include <algorithm>
#include <cmath>
#include <functional>

#include "codegen/gradient/saving.hpp"
#include "codegen/plan/plan.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "codegen/reference/interpreter.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/gradient/programs.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using namespace qkv::codegen;

namespace {

bool agree(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b ||
         std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(a));
}

// Empty, or the first result that differs.
std::string difference(const arrays &expected, const arrays &found) {
  for (const auto &[name, x] : expected)
    for (std::size_t k = 0; k < x.data.size(); ++k)
      if (!agree(x.data[k], found.at(name).data[k]))
        return name + "[" + std::to_string(k) + "] is " + std::to_string(found.at(name).data[k]) +
               ", not " + std::to_string(x.data[k]);
  return "";
}

// Kernels with a result dQ have no other one of this name.
std::vector<program> programs_that_save() {
  std::vector<program> all = differentiable_programs();
  std::erase_if(all, [](const program &p) {
    try {
      (void)saving(p);
      return false;
    } catch (const std::runtime_error &e) {
      return std::string(e.what()).find("two arguments are named d") != std::string::npos;
    }
  });
  return all;
}

arrays of_arguments(const program &p, const arrays &all) {
  arrays some;
  for (node_id n : p.arguments) some[p[n].name] = all.at(p[n].name);
  return some;
}

// Compares the gradient from kept steps, changed by `spoil`, with the one without. Empty when they
// agree.
std::string wrong_saving(const program &written, const size_map &sizes,
                         const std::function<void(arrays &)> &spoil = {}) {
  const program p = widened(written), whole = gradient(p);
  const with_saved s = saving(p);
  arrays all = with_adjoints(p, arguments_for(p, sizes, seed_or(1)), sizes, 2);
  const arrays forward = interpret(s.forward, of_arguments(s.forward, all), sizes);
  if (std::string d = difference(interpret(p, of_arguments(p, all), sizes), forward); !d.empty())
    return p.name + "_saving: " + d;
  const arrays expected = interpret(whole, of_arguments(whole, all), sizes);
  for (const auto &[name, x] : forward)
    if (name.starts_with("kept")) all[name] = x;
  if (spoil) spoil(all);
  const std::string d =
      difference(expected, interpret(s.backward, of_arguments(s.backward, all), sizes));
  return d.empty() ? "" : p.name + "_gradient_saved: " + d;
}

}  // namespace

TEST_CASE("gradients from saved steps are those without") {
  CHECK(programs_that_save().size() + 4 >= differentiable_programs().size());
  for (const program &p : programs_that_save())
    for (const std::int64_t first : {3, 1}) {
      const std::string wrong = wrong_saving(p, small_sizes(p, first));
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
}

TEST_CASE("the test sees a saved step that is off") {
  const std::vector<program> all = programs_that_save();
  const auto causal = std::find_if(all.begin(), all.end(),
                                   [](const program &p) { return p.name == "causal_self"; });
  REQUIRE(causal != all.end());
  CHECK(wrong_saving(*causal, small_sizes(*causal),
                     [](arrays &x) { x.at("kept0").data[0] += 0.01; }) != "");
}

TEST_CASE("nothing that is saved exists for each query and key") {
  for (const program &p : programs_that_save()) {
    const with_saved s = saving(widened(p));
    for (node_id n : s.forward.outputs)
      if (s.forward[n].name.starts_with("kept")) {
        INFO(p.name << ": " << label_of(s.forward, s.forward[n].in[0]));
        CHECK(!grows_with_pairs(s.forward, n));
      }
  }
}

TEST_CASE("the gradient of attention computes no forward sum again") {
  for (const program &p : programs_that_save()) {
    if (p.name != "causal_self" && p.name != "plain_mha" && p.name != "self_attention") continue;
    const plan made = plan_of(saving(widened(p)).backward);
    for (const node &n : made.p.nodes) {
      INFO(p.name << ": " << name_of(n.kind));
      CHECK(n.kind != op::logsumexp);
      CHECK(n.kind != op::softmax);
    }
  }
}
