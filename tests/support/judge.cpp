// SPDX-License-Identifier: BSL-1.0
#include "tests/support/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <qkv/core/half.hpp>
#include <qkv/core/types.hpp>

#include "codegen/reference/compare.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/support/random.hpp"

namespace qkv::testing {

using codegen::arrays;
using codegen::expectation;
using codegen::order;
using codegen::program;
using codegen::verdict;
using core::op;

namespace {

// Tests whether rounding the arguments moves the reference at an element as far as its error.
class sensitivity {
 public:
  sensitivity(const program &p, const arrays &arguments, const codegen::size_map &sizes)
      : p_(p), arguments_(arguments), sizes_(sizes) {}

  bool explains(const std::string &output, std::size_t k, double reference, double error) {
    if (error == 0) return false;
    if (moved_.empty()) move();
    for (const arrays &m : moved_) {
      const double there = m.at(output).data[k];
      if (std::isfinite(there) != std::isfinite(reference)) return true;
      if (std::isfinite(error) && 4 * std::fabs(there - reference) >= error) return true;
    }
    return false;
  }

 private:
  void move() {
    program wide = p_;
    bool has_f32 = false;
    for (codegen::node &n : wide.nodes) {
      if (n.kind != op::input && n.kind != op::param) has_f32 = has_f32 || n.type == f32;
      if (!detail::is_float(n.type)) continue;
      if (n.type != f64) has_f32 = true;
      if ((n.kind == op::input || n.kind == op::param) && n.type != f64) n.type = f32;
      if (n.kind == op::number && n.value != std::trunc(n.value)) n.value *= 1 + 1e-7;
    }
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
      moved_.push_back(
          interpret(wide, jittered(p_, arguments_, has_f32 ? 3e-7 : 1e-15, seed), sizes_));
  }

  const program &p_;
  const arrays &arguments_;
  const codegen::size_map &sizes_;
  std::vector<arrays> moved_;
};

bool same_kind(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::isinf(a) ? a == b : std::isfinite(b);
}

}  // namespace

std::string wrong_results(const program &p, const arrays &arguments, const codegen::size_map &sizes,
                          const arrays &results) {
  sensitivity s(p, arguments, sizes);
  const program computed = codegen::simplified(p);
  for (const expectation &e : codegen::doubtful(p, arguments, sizes, results, &computed))
    for (const verdict &v : codegen::wrong_elements(e, results.at(e.name).data)) {
      if (v.at < 0) return v.text;
      const auto k = static_cast<std::size_t>(v.at);
      const bool unclear = !same_kind(e.reference[k], e.in_sequence[k]) ||
                           !same_kind(e.reference[k], e.in_eights[k]);
      if (!unclear && !s.explains(e.name, k, e.reference[k], v.error)) return v.text;
    }
  return "";
}

std::string wrong_special_results(const program &p, const arrays &arguments,
                                  const codegen::size_map &sizes, const arrays &results) {
  const program orders[] = {codegen::opened(p), codegen::simplified(p)};
  std::vector<arrays> others;
  for (const program &q : orders)
    for (const order how : {order::in_sequence, order::in_eights})
      others.push_back(interpret_as_float(q, arguments, sizes, how));
  sensitivity s(p, arguments, sizes);
  for (expectation e : codegen::expected(p, arguments, sizes, &orders[1])) {
    std::vector<double> got = results.at(e.name).data;
    e.zeros_believed = true;
    std::vector<const std::vector<double> *> loops = {&e.in_sequence, &e.in_eights};
    for (const arrays &o : others) loops.push_back(&o.at(e.name).data);
    const bool whole = e.type == i32 || e.type == b8;  // cannot hold NaN
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double want = stored(e.type, e.reference[k]);
      const bool finite = std::isfinite(want);
      const bool agreed = std::all_of(loops.begin(), loops.end(), [&](const auto *loop) {
        const double x = (*loop)[k];
        return whole ? stored(e.type, x) == want : std::isfinite(x) == finite;
      });
      if (agreed && finite != std::isfinite(got[k]) &&
          !s.explains(e.name, k, e.reference[k], INFINITY))
        return fmt::format("{}[{}] is {}, not {}", e.name, k, got[k], e.reference[k]);
      if (agreed && finite && std::isfinite(got[k])) continue;
      // Judged already, or not to be judged: hides the element from the comparison.
      e.reference[k] = e.in_sequence[k] = e.in_eights[k] = e.fused[k] = e.noise[k] = got[k] = 0;
      if (!e.zero.empty()) e.zero[k] = false;
    }
    for (const verdict &v : codegen::wrong_elements(e, got)) {
      if (v.at < 0) return v.text;
      const auto k = static_cast<std::size_t>(v.at);
      // Another order may give NaN in place of an infinity to a comparison.
      const bool decided_by_order = std::any_of(loops.begin(), loops.end(), [&](const auto *loop) {
        return 2 * std::fabs((*loop)[k] - e.reference[k]) >= v.error;
      });
      if (!decided_by_order && !s.explains(e.name, k, e.reference[k], v.error)) return v.text;
    }
  }
  return "";
}

}  // namespace qkv::testing
