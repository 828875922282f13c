// SPDX-License-Identifier: BSL-1.0
#include "tests/support/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <qkv/core/types.hpp>

namespace qkv::testing {

std::uint64_t random_numbers::bits() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double random_numbers::uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
}

double
random_numbers::normal() {  // twelve uniform numbers: no library function whose last bit differs
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += uniform(0, 1);
  return sum;
}

std::int64_t random_numbers::integer(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

codegen::array random_array(std::vector<std::int64_t> shape, random_numbers &random, double low,
                            double high) {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  codegen::array a{std::move(shape), {}};
  for (std::int64_t k = 0; k < n; ++k)
    a.data.push_back(static_cast<float>(random.uniform(low, high)));
  return a;
}

codegen::arrays random_arguments(const codegen::program &p, const codegen::size_map &sizes,
                                 std::uint64_t seed, std::int64_t largest) {
  const std::vector<std::int64_t> size = codegen::all_sizes(p, sizes);
  random_numbers random(seed);
  codegen::arrays all;
  for (codegen::node_id id : p.arguments) {
    const codegen::node &n = p[id];
    codegen::array a;
    for (codegen::axis_id axis : n.shape) a.shape.push_back(size[axis]);
    for (std::int64_t k = codegen::elements(n.shape, size); k > 0; --k)
      a.data.push_back(n.type == i32  ? static_cast<double>(random.integer(0, largest))
                       : n.type == b8 ? static_cast<double>(random.integer(0, 3) != 0)
                                      : static_cast<float>(random.normal()));
    all[n.name] = std::move(a);
  }
  return all;
}

codegen::arrays jittered(const codegen::program &p, const codegen::arrays &from, double by,
                         std::uint64_t seed) {
  random_numbers random(seed);
  codegen::arrays to = from;
  for (codegen::node_id n : p.arguments)
    if (detail::is_float(p[n].type))
      for (double &x : to.at(p[n].name).data) x *= 1 + random.uniform(-by, by);
  return to;
}

std::uint64_t seed_or(std::uint64_t otherwise) {
  const char *text = std::getenv("QKV_SEED");
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string rerun(const std::string &program, const std::string &test, std::uint64_t seed) {
  return fmt::format("again: QKV_SEED={} ./{} '{}'", seed, program, test);
}

}  // namespace qkv::testing
