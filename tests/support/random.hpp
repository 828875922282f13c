// SPDX-License-Identifier: BSL-1.0
#pragma once
// Random tensors that are the same on every machine, and the line that runs a failed case again.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.hpp"

namespace qkv::testing {

class random_numbers {  // splitmix64
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  double uniform(double low, double high);
  double normal();
  std::int64_t integer(std::int64_t low, std::int64_t high);  // both included

 private:
  std::uint64_t state_;
};

codegen::array random_array(std::vector<std::int64_t> shape, random_numbers &, double low = -2,
                            double high = 2);

// Arguments of a kernel: f32 normal, rounded to float; i32 from 0 to `largest`; b8 true in three of
// four.
codegen::arrays random_arguments(const codegen::program &, const codegen::size_map &,
                                 std::uint64_t seed, std::int64_t largest = 3);

// The arguments, with each float changed by a relative error of at most `by`.
codegen::arrays jittered(const codegen::program &, const codegen::arrays &, double by,
                         std::uint64_t seed);

// The seed of this run: QKV_SEED, else `otherwise`.
std::uint64_t seed_or(std::uint64_t otherwise);

// "again: QKV_SEED=7 ./ops_test 'softmax'": shown by a failing case.
std::string rerun(const std::string &program, const std::string &test, std::uint64_t seed);

}  // namespace qkv::testing
