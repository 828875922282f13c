// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/statistics.hpp"

#include <numeric>

namespace qkv::ptx {

const char *name_of(kind k) {
  constexpr const char *names[] = {"other",   "integer", "fp32",   "fp64",        "special",
                                   "convert", "load",    "store",  "shared load", "shared store",
                                   "tensor",  "barrier", "branch", "atomic",      "async"};
  return names[static_cast<int>(k)];
}

void statistics::add(const statistics &o) {
  for (int i = 0; i < static_cast<int>(kind::count_); ++i)
    warp_instructions[i] += o.warp_instructions[i];
  tensor_flops += o.tensor_flops;
  global_requests += o.global_requests;
  global_sectors += o.global_sectors;
  global_bytes += o.global_bytes;
  shared_requests += o.shared_requests;
  shared_wavefronts += o.shared_wavefronts;
  divergent_branches += o.divergent_branches;
  for (const auto &[at, x] : o.accesses) {
    access_statistics &mine = accesses[at];
    mine.requests += x.requests, mine.units += x.units, mine.ideal += x.ideal;
  }
}

std::uint64_t statistics::all_instructions() const {
  return std::accumulate(std::begin(warp_instructions), std::end(warp_instructions),
                         std::uint64_t{0});
}

}  // namespace qkv::ptx
