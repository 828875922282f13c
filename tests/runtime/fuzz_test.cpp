// SPDX-License-Identifier: BSL-1.0
// Random descriptors, most of them wrong: every call ends with a status and a text, and compiled
// code never sees one that breaks a rule.
#include <limits>
#include <random>

#include <qkv/run.hpp>

#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

int seen = 0;

// Checks the properties that compiled code may rely on.
int relies(void **args) {
  ++seen;
  for (int i = 0; i < 4; ++i) {
    const halide_buffer_t &b = fake::buffer(args, i);
    if (!b.host || b.dimensions != 3 || b.dim[0].extent != 4 || b.dim[0].stride != 1) return -1;
    if (reinterpret_cast<std::uintptr_t>(b.host) % 4 != 0) return -2;
    std::int64_t span = 1;
    for (int d = 0; d < 3; ++d) {
      if (b.dim[d].extent < 1 || b.dim[d].stride < 0 || b.dim[d].min != 0) return -3;
      span += (std::int64_t{b.dim[d].extent} - 1) * b.dim[d].stride;
    }
    if (span > (std::int64_t{1} << 31) - 4096) return -4;
  }
  const auto extent = [&](int i, int d) { return fake::buffer(args, i).dim[d].extent; };
  if (extent(0, 1) != extent(3, 1) || extent(0, 2) != extent(3, 2) || extent(1, 1) != extent(2, 1))
    return -5;
  return 0;
}

}  // namespace

TEST_CASE("random descriptors") {
  fake::library l("fuzzed", {{"batch"}, {"seq"}, {"kv"}, {"d", 4}},
                  {{"Q", QKV_IN, QKV_F32, {0, 1, 3}},
                   {"K", QKV_IN, QKV_F32, {0, 2, 3}},
                   {"V", QKV_IN, QKV_F32, {0, 2, 3}},
                   {"O", QKV_OUT, QKV_F32, {0, 1, 3}}},
                  relies);
  std::mt19937_64 random(11);
  static float memory[4][4096];
  constexpr std::int64_t odd[] = {0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  -1,
                                  -4,
                                  7,
                                  1 << 20,
                                  std::int64_t{1} << 31,
                                  (std::int64_t{1} << 31) - 1,
                                  std::int64_t{1} << 40,
                                  std::int64_t{1} << 62,
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min()};
  const auto any = [&] { return odd[random() % std::size(odd)]; };
  int right = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    std::vector<qkv_tensor> t;
    const std::int64_t b = static_cast<std::int64_t>(random() % 3),
                       n = static_cast<std::int64_t>(random() % 5),
                       m = static_cast<std::int64_t>(random() % 5);
    for (int i = 0; i < 4; ++i)
      t.push_back(fake::tensor(memory[i], {b, i == 0 || i == 3 ? n : m, 4}));
    for (std::uint64_t wrong = random() % 4; wrong > 0; --wrong) {
      qkv_tensor &x = t[random() % 4];
      switch (random() % 7) {
        case 0:
          x.extent[random() % 3] = any();
          break;
        case 1:
          x.stride[random() % 3] = any();
          break;
        case 2:
          x.data = random() % 2 ? nullptr
                                : reinterpret_cast<char *>(memory[random() % 4]) + random() % 64;
          break;
        case 3:
          x.rank = static_cast<int>(any());
          break;
        case 4:
          x.dtype = static_cast<int>(any());
          break;
        case 5:
          x.device = static_cast<int>(any());
          break;
        default:
          x = t[random() % 4];
          break;
      }
    }
    const qkv::status s = qkv::run(l.table, t);
    right += s.ok();
    if (s.code() == qkv::status_code::kernel_failed || s.text()[0] == 0)
      FAIL("trial " << trial << ": " << s.text());
  }
  CHECK(right > 50000);
  CHECK(seen > 20000);
  CHECK(right < 150000);
}
