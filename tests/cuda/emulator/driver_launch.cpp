// SPDX-License-Identifier: BSL-1.0
// Launches of kernels: their arguments and limits.
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/cuda/emulator/driver.hpp"

namespace qkv::ptx {
namespace {

constexpr std::uint32_t shared_without_asking = 48 * 1024;

void run_kernel(const loaded_function &f, const grid &g, const std::vector<std::uint8_t> &params) {
  device &d = gpu();
  if (d.failed != result::success) return;
  try {
    const statistics s = launch(f.k, g, params, d.memory, d.how);
    if (d.log_launches)
      std::fprintf(
          stderr, "ptx: %s grid %u,%u,%u block %u,%u,%u shared %u: %llu warp instructions\n",
          f.k.name.c_str(), g.blocks[0], g.blocks[1], g.blocks[2], g.threads[0], g.threads[1],
          g.threads[2], static_cast<unsigned>(f.k.shared_bytes) + g.dynamic_shared,
          static_cast<unsigned long long>(s.all_instructions()));
    if (!d.how.profile) return;
    profiled &p = d.profile[f.k.name];
    ++p.launches;
    p.total.add(s);
    if (p.lines.empty())
      for (std::size_t i = 0; i < f.k.code.size(); ++i)
        p.lines.push_back("line " + std::to_string(f.k.code[i].line) + " " + f.k.texts[i]);
  } catch (const std::exception &e) {
    d.failed = d.refuse(result::illegal_address, e.what());
  }
}

// Arguments as pointers, or as one buffer (`extra`: key 1 precedes the buffer, key 2 a pointer to
// its size, key 0 ends the list). Throws when they are not those of the kernel.
std::vector<std::uint8_t> arguments_of(const kernel &k, void *const *args, void *const *extra) {
  std::size_t needed = 0;
  for (const variable &p : k.params) needed = static_cast<std::size_t>(p.offset + p.bytes);
  std::vector<std::uint8_t> params(needed);
  if (args && extra) throw error(k.name + ": arguments both as pointers and as a buffer");
  if (extra) {
    const void *buffer = nullptr;
    std::size_t size = 0;
    for (; extra[0]; extra += 2) {
      if (extra[0] == reinterpret_cast<void *>(1)) buffer = extra[1];
      if (extra[0] == reinterpret_cast<void *>(2)) size = *static_cast<std::size_t *>(extra[1]);
    }
    if (!buffer || size != needed)
      throw error(k.name + ": takes " + std::to_string(needed) + " bytes of arguments, not " +
                  std::to_string(size));
    std::memcpy(params.data(), buffer, size);
    return params;
  }
  for (std::size_t i = 0; i < k.params.size(); ++i) {
    if (!args || !args[i])
      throw error(k.name + ": argument " + std::to_string(i) + " of " +
                  std::to_string(k.params.size()) + " is missing");
    const variable &p = k.params[i];
    std::memcpy(params.data() + p.offset, args[i], static_cast<std::size_t>(p.bytes));
  }
  return params;
}

void check_limits(const loaded_function &f, const grid &g) {
  const auto fail = [&](const std::string &why) { throw error(f.k.name + ": " + why); };
  const auto &[blocks, threads, dynamic] = g;
  for (int axis = 0; axis < 3; ++axis)
    if (!blocks[axis] || !threads[axis]) fail("an empty grid or block");
  if (blocks[1] > 65535 || blocks[2] > 65535) fail("more than 65535 blocks along y or z");
  const std::uint64_t all = std::uint64_t{threads[0]} * threads[1] * threads[2];
  if (all > 1024 || threads[2] > 64) fail(std::to_string(all) + " threads in a block");
  const std::uint32_t shared = static_cast<std::uint32_t>(f.k.shared_bytes) + dynamic;
  if (shared > shared_without_asking && dynamic > f.dynamic_allowed)
    fail(std::to_string(shared) +
         " bytes of shared memory, which cuFuncSetAttribute has not allowed");
}

}  // namespace
}  // namespace qkv::ptx

using namespace qkv::ptx;

#pragma GCC visibility push(default)
extern "C" {

result cuLaunchKernel(void *fn, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared, void *on, void **args,
                      void **extra) {
  const call here(__func__);
  if (contexts().empty()) return result::invalid_context;
  if (gpu().failed != result::success) return gpu().report_failure();
  const auto *f = static_cast<const loaded_function *>(fn);
  const grid g{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
  try {
    check_limits(*f, g);
    return submit(static_cast<stream *>(on),
                  [f, g, params = arguments_of(f->k, args, extra)] { run_kernel(*f, g, params); });
  } catch (const error &e) {
    return gpu().refuse(result::invalid_value, e.what());
  }
}

}  // extern "C"
#pragma GCC visibility pop
