// SPDX-License-Identifier: BSL-1.0
// Kernels for tensor cores at sizes around their tiles, in each layout: tiles have 16 to 128 rows,
// and keys or columns.
#include <cstdio>
#include <qkv/device.hpp>

#include "tensor_programs.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_trials.hpp"
#include "tests/support/places.hpp"

using namespace qkv::testing;

TEST_CASE("kernels for tensor cores agree with the interpreter") {
  if (!has(qkv::device::cuda)) {
    std::printf("[SKIP] %s\n", qkv::available(qkv::device::cuda).text());
    return;
  }
  std::vector<two_sizes> lengths = {{1, 90}, {64, 64},  {129, 127}, {200, 260}, {0, 5},
                                    {5, 0},  {16, 200}, {3, 700},   {40, 300},  {1, 5000}};
  if (QKV_LONG)
    lengths.insert(lengths.end(), {{128, 128}, {65, 300}, {300, 65}, {16, 16}, {400, 33}});
  run_on_device(tensor_programs(), qkv::device::cuda, lengths, 12);
}
