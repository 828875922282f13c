// SPDX-License-Identifier: BSL-1.0
// One trial of a kernel for tensor cores on CUDA: skeleton_trial KERNEL ROWS KEYS SEED SCALE.
// Prints what is wrong; planted_skeletons.py runs it on kernels with mistakes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tensor_programs.hpp"
#include "tests/kernels/trial.hpp"

using namespace qkv::testing;

int main(int count, char **words) {
  if (count != 6) {
    std::printf("usage: skeleton_trial KERNEL ROWS KEYS SEED SCALE\n");
    return 2;
  }
  const std::vector<qkv::codegen::program> programs = tensor_programs();
  const auto found =
      std::ranges::find(programs, std::string(words[1]), &qkv::codegen::program::name);
  if (found == programs.end()) {
    std::printf("there is no kernel %s\n", words[1]);
    return 2;
  }
  const two_sizes length(std::atoi(words[2]), std::atoi(words[3]));
  const auto seed = static_cast<unsigned>(std::atoi(words[4]));
  const std::string wrong =
      run({*found, sizes_for(*found, length, seed), static_cast<layout>(seed % 3), guard::after,
           seed, std::atof(words[5]), qkv::device::cuda});
  std::printf("%s\n", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
