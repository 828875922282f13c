// SPDX-License-Identifier: BSL-1.0
#pragma once
// Settings for the execution of kernels, chosen by environment variables.
namespace qkv::ptx {

struct settings {
  unsigned seed = 0;     // order of blocks and warps, length of turns, arrival of copies
  bool races = true;     // look for races in shared memory
  bool profile = false;  // count sectors and bank conflicts
  int ulps = 0;          // random error of the approximate functions, in units of 2^-24
  bool trace = false;    // print what warp 0 of block 0 does
  bool truncate = true;  // sums of tensor cores round towards zero, as the hardware's do
  static settings from_environment();
};

// The integer value of an environment variable, or `otherwise` when it is not set.
int environment_number(const char *name, int otherwise);

}  // namespace qkv::ptx
