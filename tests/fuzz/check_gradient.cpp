// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

#include "codegen/gradient/gradient.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/reference/differences.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/data.hpp"
#include "tests/fuzz/language.hpp"

namespace qkv::fuzz {
namespace {

using codegen::arrays;
using codegen::program;
using codegen::size_map;

// Small steps are lost beside whole numbers at the ends of i32. Numbers of 16 bits are often equal,
// where a maximum has a kink.
void bring_near_and_apart(const program &p, arrays &all, dice &d) {
  for (codegen::node_id n : p.arguments)
    for (double &x : all.at(p[n].name).data)
      if (p[n].type == i32)
        x = std::clamp(x, -100.0, 100.0);
      else if (p[n].type != b8)
        x += 1e-3 * d.uniform();
}

// Adds an adjoint for each floating result. False if a result is not finite: it has no differences.
bool add_adjoints(const program &p, arrays &all, const size_map &sizes, dice &d) {
  const arrays results = interpret(codegen::widened(p), all, sizes);
  for (codegen::node_id n : p.outputs) {
    if (p[n].type == i32 || p[n].type == b8) continue;
    codegen::array adjoint = results.at(p[n].name);
    for (double &x : adjoint.data) {
      if (!std::isfinite(x)) return false;
      x = 2 * d.uniform() - 1;
    }
    all[codegen::adjoint_name(p[n])] = std::move(adjoint);
  }
  return true;
}

// Steps that make infinities of numbers, or of no number, as a scan's result does: their slopes may
// be infinite where a result is finite.
bool may_be_infinite(const program &p) {
  const std::vector<bool> masked = masked_steps(p);
  return std::any_of(p.nodes.begin(), p.nodes.end(), [&](const codegen::node &n) {
    return (n.kind == op::scan && masked[n.in.back()]) || n.kind == op::div || n.kind == op::log ||
           n.kind == op::sqrt || n.kind == op::rsqrt || n.kind == op::pow ||
           n.kind == op::max_over || n.kind == op::min_over || n.kind == op::logsumexp ||
           (n.kind == op::number && std::isinf(n.value));
  });
}

// A number beside which small steps are lost.
bool has_large_number(const program &p) {
  return std::any_of(p.nodes.begin(), p.nodes.end(), [](const codegen::node &n) {
    return n.kind == op::number && std::fabs(n.value) >= 1e6 && std::isfinite(n.value);
  });
}

// Slopes at a kink, and those at a pole, are not decided by differences.
// Where a maximum of weights almost has a tie, the gradient shares it.
bool is_decided(const program &p, const codegen::compared_argument &c) {
  const auto says = [&](const char *words) { return c.wrong.find(words) != std::string::npos; };
  if (says("kinks") || (says("has an element") && may_be_infinite(p))) return false;
  if (c.slopes.empty()) return true;
  const codegen::slope &last = c.slopes.back();
  return !(std::fabs(last.by_differences - last.by_gradient) <= 1e-6 * last.scale);
}

}  // namespace

std::string wrong_gradient(const recipe &r, std::uint64_t seed) try {
  const auto p = program_of(r);
  if (!p || has_large_number(*p)) return "";
  program g;
  try {
    g = codegen::gradient(*p);
  } catch (const std::runtime_error &) {
    return "";  // refused in words
  }
  dice d(seed);
  const auto sizes = sizes_for(*p, d, {1, 2, 3, 4, 5}, 2e4);
  if (!sizes) return "";
  arrays all = arguments_for(*p, *sizes, d);
  bring_near_and_apart(*p, all, d);
  if (!add_adjoints(*p, all, *sizes, d)) return "";
  for (const codegen::compared_argument &c : compare_with_differences(*p, g, all, *sizes, seed))
    if (!c.wrong.empty() && is_decided(*p, c)) return "gradient: " + c.wrong;
  const meaning m(g, all, *sizes);
  program after;
  if (std::string w = wrong_rewrite(g, m, all_rewrites(), &after); !w.empty()) return w;
  return wrong_stages(after, m);
} catch (const std::exception &e) {
  return std::string("gradient throws: ") + e.what();
}

}  // namespace qkv::fuzz
