// SPDX-License-Identifier: BSL-1.0
// Compares every pointwise operation on every target with values that were made outside of qkv.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <qkv/core/op.hpp>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <qkv/tensor.hpp>
#include <set>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/exact_functions.hpp"
#include "tests/kernels/function_specs.hpp"
#include "tests/support/outside_values.hpp"
#include "tests/support/places.hpp"

using namespace qkv;
using namespace qkv::testing;

namespace {

struct operation {
  core::op kind;
  double bound;  // ulp
};

// In the order of the kernels' results: functions of one number, then elementary::operations.
template <class T>
std::vector<operation> operations() {
  using core::op;
  std::vector<operation> all;
  for (const function<T> &f : functions<T>())
    for (const core::op_facts &o : core::op_table)
      if (o.name == f.name) all.push_back({o.kind, f.bound});
  for (const op o : {op::neg, op::relu, op::abs, op::not_}) all.push_back({o, 0});
  for (const op o : {op::add, op::sub, op::mul}) all.push_back({o, 0.5});
  all.push_back({op::div, 1});
  for (const op o : {op::min, op::max}) all.push_back({o, 0});
  all.push_back({op::pow, 2});
  for (const op o : {op::less, op::less_equal, op::greater, op::greater_equal, op::equal,
                     op::not_equal, op::and_, op::or_})
    all.push_back({o, 0});
  return all;
}

// The results of one operation at x and y, which may lie beyond those that it needs.
template <class T>
std::vector<T> results_of(const options &how, std::size_t place, const std::vector<T> &x,
                          const std::vector<T> &y) {
  const std::size_t n_functions = functions<double>().size(), n = operations<double>().size();
  const bool is_function = place < n_functions;
  using row = tensor<sizeof(T) == 4 ? f32 : f64, elementary::n>;
  std::vector<row> rows;
  const auto add = [&](const std::vector<T> &from) {
    rows.push_back(row({static_cast<std::int64_t>(from.size())}));
    std::copy(from.begin(), from.end(), rows.back().begin());
  };
  add(x);
  if (!is_function) add(y);
  const std::size_t first = rows.size();
  for (std::size_t k = 0; k < (is_function ? n_functions : n - n_functions); ++k) add(x);
  std::vector<qkv_tensor> all;
  for (row &r : rows) all.push_back(r.descriptor());
  const auto linked =
      kernels(fmt::format("{}_of_f{}", is_function ? "functions" : "operations", 8 * sizeof(T)));
  REQUIRE(linked.size() == 1);
  REQUIRE(run(*linked[0], all, how).ok());
  const row &wanted = rows[first + place - (is_function ? 0 : n_functions)];
  return std::vector<T>(wanted.begin(), wanted.end());
}

template <class T>
void check_outside_values(const options &how) {
  const auto values = outside_values();
  using exact = std::conditional_t<sizeof(T) == 4, double, long double>;
  const std::vector<operation> list = operations<exact>();
  std::set<core::op> known;
  for (std::size_t place = 0; place < list.size(); ++place) {
    known.insert(list[place].kind);
    std::vector<T> x, y;
    std::vector<long double> wanted;
    for (const outside_value &v : values)
      if (v.kind == list[place].kind)
        x.push_back(static_cast<T>(v.x)), y.push_back(static_cast<T>(v.y)),
            wanted.push_back(v.value);
    REQUIRE(!x.empty());
    const std::vector<T> got = results_of(how, place, x, y);
    worst<T> w;
    for (std::size_t k = 0; k < x.size(); ++k) w.add(x[k], y[k], got[k], wanted[k]);
    INFO(fmt::format("{} of {:a} and {:a}: {:.9g} is off by {} ulp", name_of(list[place].kind), w.x,
                     w.y, w.got, w.error));
    CHECK(w.error <= list[place].bound);
  }
  for (const core::op_facts &o : core::op_table)
    if (is_pointwise(o.kind) && o.kind != core::op::cast && o.kind != core::op::where) {
      INFO(o.name);
      CHECK(known.count(o.kind) == 1);
    }
}

}  // namespace

TEST_CASE("operations of f32 agree with values made outside") {
  for (const options &how : places()) check_outside_values<float>(how);
}

TEST_CASE("operations of f64 agree with values made outside") { check_outside_values<double>({}); }
