// SPDX-License-Identifier: BSL-1.0
// Gradients against those that PyTorch's autograd has computed in float64 (torch_gradients.py).
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "codegen/gradient/gradient.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/reference/differences.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/torch_specs.hpp"

namespace {

using qkv::codegen::array;
using qkv::codegen::arrays;
using qkv::codegen::program;

struct torch_case {
  std::string name;
  arrays numbers;  // arguments, adjoints and gradients
};

std::vector<torch_case> cases() {
  std::ifstream file(QKV_TORCH_GRADIENTS);
  REQUIRE(file.good());
  std::vector<torch_case> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "case") {
      all.emplace_back();
      words >> all.back().name;
      continue;
    }
    std::size_t rank = 0;
    words >> rank;
    array a;
    a.shape.resize(rank);
    for (std::int64_t &extent : a.shape) words >> extent;
    for (double x; words >> x;) a.data.push_back(x);
    all.back().numbers[name] = std::move(a);
  }
  return all;
}

std::vector<program> programs() {
  using qkv::codegen::make_program;
  using namespace second;
  return {make_program(full),          make_program(causal_self),   make_program(window),
          make_program(padded),        make_program(documents),     make_program(grouped),
          make_program(softcapped),    make_program(biased),        make_program(relative),
          make_program(sloped),        make_program(additive),      make_program(general),
          make_program(linear),        make_program(linear_causal), make_program(sigmoids),
          make_program(with_sink),     make_program(turned),        make_program(cosines),
          make_program(two_softmaxes), make_program(layer),         make_program(normed),
          make_program(gated),         make_program(classified),    make_program(elman),
          make_program(delta),         make_program(statistics)};
}

// The first element that differs by more than rounding; empty if there is none.
std::string wrong_element(const std::string &name, const array &got, const array &want) {
  if (got.shape != want.shape) return name + " has another shape";
  double scale = 1;
  for (const double x : want.data) scale = std::max(scale, std::fabs(x));
  for (std::size_t k = 0; k < want.data.size(); ++k)
    if (!(std::fabs(got.data[k] - want.data[k]) <= 1e-10 * scale))
      return name + "[" + std::to_string(k) + "] is " + std::to_string(got.data[k]) +
             ", PyTorch says " + std::to_string(want.data[k]);
  return "";
}

}  // namespace

TEST_CASE("gradients agree with those of PyTorch") {
  const std::vector<torch_case> all = cases();
  const std::vector<program> kernels = programs();
  REQUIRE(all.size() == kernels.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const program &p = kernels[k];
    REQUIRE(p.name == all[k].name);
    const program gradient = widened(qkv::codegen::gradient(p));
    const arrays got = interpret(gradient, all[k].numbers);
    CHECK(got.size() == gradient.outputs.size());
    for (const auto &[name, numbers] : got) {
      INFO(p.name);
      CHECK(wrong_element(name, numbers, all[k].numbers.at(name)) == "");
    }
  }
}

TEST_CASE("an altered gradient differs from that of PyTorch") {
  array a{{2}, {1, 2}}, b{{2}, {1, 2 + 1e-8}};
  CHECK(wrong_element("dX", a, a) == "");
  CHECK(wrong_element("dX", b, a) == "dX[1] is 2.000000, PyTorch says 2.000000");
}
