// SPDX-License-Identifier: BSL-1.0
// Every kernel of the tests of compiled kernels that has queries and keys, and its gradient: their
// shares give the results of one machine, or kernels.txt has the error.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "codegen/gradient/gradient.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/ring/shard.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/programs.hpp"
#include "tests/ring/same_results.hpp"

using namespace qkv::testing;
using qkv::codegen::axis_id;
using qkv::codegen::node;
using qkv::codegen::program;

namespace {

struct axes {
  std::string query, key;
};

// The first sum over positions of pairs: along one of two axes that the call decides.
std::optional<axes> shared_axes(const program &p) {
  const auto is_long = [&](axis_id a) { return !p.axes[a].batch && static_size(p, a) < 0; };
  for (const node &n : p.nodes) {
    if (n.over.empty() || n.in.empty() || qkv::core::is_view(n.kind)) continue;
    for (const axis_id key : n.over)
      for (const int operand : n.in)
        for (const axis_id query : p[operand].shape)
          if (is_long(key) && is_long(query) && query != key &&
              qkv::codegen::has(p[operand].shape, key) && !qkv::codegen::has(n.over, query))
            return axes{p.axes[query].name, p.axes[key].name};
  }
  return std::nullopt;
}

struct known_kernel {
  program p;
  axes shared;
};

// Kernels and gradients over the same axes.
const std::vector<known_kernel> &known_kernels() {
  static const std::vector<known_kernel> all = [] {
    std::vector<known_kernel> some;
    for (const program &p : all_programs())
      if (const std::optional<axes> shared = shared_axes(p)) some.push_back({p, *shared});
    for (const program &p : differentiable_programs())
      if (const std::optional<axes> shared = shared_axes(p))
        some.push_back({qkv::codegen::gradient(p), *shared});
    return some;
  }();
  return all;
}

std::string line_of(const known_kernel &k) {
  try {
    const qkv::codegen::shares s = qkv::codegen::shard(k.p, k.shared.query, k.shared.key);
    return k.p.name + ": " + k.shared.query + ", " + k.shared.key + ": " +
           std::to_string(s.hops.size()) + (s.hops.size() == 1 ? " round" : " rounds");
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("every kernel with queries and keys has shares, or an error that is known") {
  std::set<std::string> lines;  // in an order that does not depend on the build
  for (const known_kernel &k : known_kernels()) lines.insert(line_of(k));
  std::string all;
  for (const std::string &line : lines) all += line + "\n";
  const std::string path = QKV_ROOT "/tests/ring/kernels.txt";
  if (std::getenv("QKV_UPDATE_GOLDEN")) std::ofstream(path) << all;
  std::ifstream file(path);
  std::stringstream known;
  known << file.rdbuf();
  CHECK(known.str() == all);
}

TEST_CASE("machines that share the tokens of a kernel give the results of one") {
  int number = 0;
  for (const known_kernel &k : known_kernels()) {
    if (QKV_EVERY_TENTH && ++number % 10 != 0) continue;  // under sanitizers
    // Scores of -3e38 alone: their logsumexp absorbs the logarithm of their number.
    if (k.p.name.starts_with("lowest_less_maximum")) continue;
    // Pages stay where they are: cache_test.cpp.
    if (k.p.name.starts_with("decode_paged")) continue;
    // Scores are compared with their maximum, which has more bits in the interpreter than in
    // memory.
    if (k.p.name == "every_third_gradient") continue;
    try {
      (void)qkv::codegen::shard(k.p, k.shared.query, k.shared.key);
    } catch (const std::runtime_error &) {
      continue;  // in kernels.txt
    }
    CHECK(wrong_shares(k.p, k.shared.query, k.shared.key) == "");
  }
}
