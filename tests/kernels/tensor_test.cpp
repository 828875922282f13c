// Kernels for tensor cores at sizes around their tiles, in each layout: tiles have 64 or 128 rows and
// 32, 64 or 128 keys.
#include <cstdio>
#include <cstdlib>
#include <qkv/device.hpp>

#include "tensor_programs.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/trial.hpp"
#include "tests/support/places.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

TEST_CASE("kernels for tensor cores agree with the interpreter") {
  if (!has(qkv::device::cuda)) {
    std::printf("[SKIP] %s\n", qkv::available(qkv::device::cuda).text());
    return;
  }
  std::vector<two_sizes> lengths = {{1, 90}, {64, 64}, {129, 127}, {200, 260},
                                    {0, 5},  {5, 0},   {16, 200}};
  if (QKV_LONG)
    lengths.insert(lengths.end(), {{128, 128}, {65, 300}, {300, 65}, {16, 16}, {400, 33}});
  int tried = 0;
  const char *kernel = std::getenv("QKV_KERNEL");  // trials of this one only
  if (kernel && !*kernel) kernel = nullptr;
  for (const program &p : tensor_programs()) {
    if (kernel && p.name != kernel) continue;
    unsigned seed = 0;
    for (const two_sizes &length : lengths) {
      ++seed;
      const trial t{p,
                    sizes_for(p, length, seed),
                    static_cast<layout>(seed % 3),
                    seed % 2 ? guard::after : guard::before,
                    seed,
                    1,
                    qkv::device::cuda};
      if (const char *only = std::getenv("QKV_TRIAL"); only && text_of(t) != only) continue;
      INFO(text_of(t));
      const std::string wrong = run(t);
      ++tried;
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  std::printf("%d trials\n", tried);
  CHECK((tried >= 12 || kernel || std::getenv("QKV_TRIAL")));
}
