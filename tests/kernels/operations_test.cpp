// SPDX-License-Identifier: BSL-1.0
// Compares every pointwise operation on every target with values that were made outside of qkv.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <qkv/core/op.hpp>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <qkv/tensor.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/exact_functions.hpp"
#include "tests/kernels/function_specs.hpp"
#include "tests/support/outside_values.hpp"
#include "tests/support/places.hpp"

using namespace qkv;
using namespace qkv::testing;

namespace {

// In the order of the kernels' results.
std::vector<core::op> all_operations() {
  std::vector<core::op> all;
  for (const core::op kind : elementary::functions) all.push_back(kind);
  for (const core::op kind : elementary::other_operations) all.push_back(kind);
  return all;
}

// All results of a kernel, one tensor for each of its `n` operations.
template <class T>
void add_results(const std::string &kernel, const options &how,
                 const std::vector<std::vector<T>> &operands, std::size_t n,
                 std::vector<std::vector<T>> &all) {
  using row = tensor<sizeof(T) == 4 ? f32 : f64, elementary::n>;
  const auto count = static_cast<std::int64_t>(operands[0].size());
  std::vector<row> rows;
  for (const std::vector<T> &x : operands) {
    rows.push_back(row({count}));
    std::copy(x.begin(), x.end(), rows.back().begin());
  }
  for (std::size_t k = 0; k < n; ++k) rows.push_back(row({count}));
  std::vector<qkv_tensor> tensors;
  for (row &r : rows) tensors.push_back(r.descriptor());
  const auto linked = kernels(kernel);
  REQUIRE(linked.size() == 1);
  REQUIRE(run(*linked[0], tensors, how).ok());
  for (std::size_t k = operands.size(); k < rows.size(); ++k)
    all.emplace_back(rows[k].begin(), rows[k].end());
}

template <class T>
void check_outside_values(const options &how) {
  const auto values = outside_values();
  std::vector<T> x, y;
  for (const outside_value &v : values)
    x.push_back(static_cast<T>(v.x)), y.push_back(static_cast<T>(v.y));
  const std::vector<core::op> list = all_operations();
  const std::size_t n_functions = elementary::functions.size();
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  std::vector<std::vector<T>> got;
  add_results<T>("functions_of_" + type, how, {x}, n_functions, got);
  add_results<T>("operations_of_" + type, how, {x, y}, list.size() - n_functions, got);
  std::set<core::op> known;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const core::op kind = list[k];
    known.insert(kind);
    std::size_t compared = 0;
    worst<T> w;
    for (std::size_t v = 0; v < values.size(); ++v)
      if (values[v].kind == kind) w.add(x[v], y[v], got[k][v], values[v].value), ++compared;
    INFO(fmt::format("{} of {:a} and {:a}: {:.9g} is off by {} ulp", name_of(kind), w.x, w.y, w.got,
                     w.error));
    CHECK(compared >= (kind == core::op::not_ ? 8 : 64));
    CHECK(w.error <= bound_of<T>(kind));
  }
  for (const core::op_facts &o : core::op_table)
    if (codegen::has_meaning(o.kind)) {
      INFO(o.name);
      CHECK(known.count(o.kind) == 1);
    }
}

}  // namespace

TEST_CASE("operations of f32 agree with values made outside") {
  for (const options &how : places()) check_outside_values<float>(how);
}

TEST_CASE("operations of f64 agree with values made outside") { check_outside_values<double>({}); }
