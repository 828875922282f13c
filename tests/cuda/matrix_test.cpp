// SPDX-License-Identifier: BSL-1.0
// mma.sync and ldmatrix against a plain product, with the layouts of the PTX manual (9.7.14).
#include <array>

#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;
using words = std::vector<std::uint32_t>;

namespace {

// Small integers, which all formats hold exactly.
int a_of(int row, int k) { return (row * 7 + k * 3) % 11 - 5; }
int b_of(int k, int column) { return (k * 5 + column * 2) % 13 - 6; }

std::uint32_t bf16(int x) { return static_cast<std::uint32_t>(bits(static_cast<float>(x)) >> 16); }
std::uint32_t f16(int x) {
  gpu g;
  return static_cast<std::uint32_t>(
      value(g, "cvt.rn.f16.f32 %h10, %f0;", bits(static_cast<float>(x))));
}

// The product of 16 x k by k x 8, plus 1: c[row][column] from all lanes, row by row.
std::vector<float> product(const std::string &instruction, int k, int per,
                           std::uint32_t (*element)(int)) {
  const int a_words = 16 * k / 32 / per, b_words = 8 * k / 32 / per, n = a_words + b_words;
  words in;
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    const auto word = [&](auto f) {
      std::uint32_t w = 0;
      for (int e = 0; e < per; ++e) w |= element(f(e)) << (16 * e);
      in.push_back(w);
    };
    for (int r = 0; r < a_words; ++r)
      word([&](int e) { return a_of(g + r % 2 * 8, t * per + e + r / 2 * 4 * per); });
    for (int r = 0; r < b_words; ++r)
      word([&](int e) { return b_of(t * per + e + r * 4 * per, g); });
  }
  std::string body =
      "ld.param.u64 %d30, [in]; ld.param.u64 %d31, [out]; mov.u32 %r30, %tid.x;\n"
      "mad.wide.u32 %d30, %r30, " +
      std::to_string(4 * n) + ", %d30; mad.wide.u32 %d31, %r30, 16, %d31;\n";
  std::string a, b;
  for (int r = 0; r < n; ++r) {
    const std::string name = "%r" + std::to_string(r);
    body += "ld.global.b32 " + name + ", [%d30+" + std::to_string(4 * r) + "];\n";
    std::string &list = r < a_words ? a : b;
    list += (list.empty() ? "" : ", ") + name;
  }
  for (int r = 0; r < 4; ++r) body += "mov.f32 %f" + std::to_string(r) + ", 0f3F800000;\n";
  body += instruction + " {%f0, %f1, %f2, %f3}, {" + a + "}, {" + b + "}, {%f0, %f1, %f2, %f3};\n";
  body += "st.global.v4.f32 [%d31], {%f0, %f1, %f2, %f3};";
  gpu g;
  const address from = g.upload(in), to = g.allocate(32 * 16);
  REQUIRE(g.launch(g.kernel(entry("u64 in, u64 out", body)), 1, 32, from, to).empty());
  const auto c = g.download<float>(to, 128);
  std::vector<float> rows(128);
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < 4; ++e)
      rows[static_cast<std::size_t>((lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2)] =
          c[static_cast<std::size_t>(lane * 4 + e)];
  return rows;
}

std::vector<float> plain(int k) {
  std::vector<float> c;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      int sum = 1;
      for (int x = 0; x < k; ++x) sum += a_of(row, x) * b_of(x, column);
      c.push_back(static_cast<float>(sum));
    }
  return c;
}

}  // namespace

TEST_CASE("mma.sync is the product of matrices: bf16, f16, tf32") {
  CHECK(product("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, bf16) == plain(16));
  CHECK(product("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, bf16) == plain(8));
  CHECK(product("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, 1, [](int x) {
          return static_cast<std::uint32_t>(bits(static_cast<float>(x)));
        }) == plain(8));
  static std::array<std::uint32_t, 16> table;
  for (int x = -8; x < 8; ++x) table[static_cast<std::size_t>(x + 8)] = f16(x);
  CHECK(product("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 2,
                [](int x) { return table[static_cast<std::size_t>(x + 8)]; }) == plain(16));
}

TEST_CASE("ldmatrix gives each lane two elements of a row, or of a column when transposed") {
  // A matrix of 8 x 8 elements of 16 bits, element (r, c) is 8 r + c: 16-byte rows.
  const std::string start = R"(
    .shared .align 16 .b8 buffer[128];
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %r9, 4, %r1;
    st.shared.b32 [%r2], %r0;
    bar.sync 0;
    and.b32 %r3, %r9, 7;
    mad.lo.u32 %r4, %r3, 16, %r1;
    )";
  words in;
  for (std::uint32_t n = 0; n < 32; ++n) in.push_back(2 * n | (2 * n + 1) << 16);
  gpu g;
  const words rows =
      lanes(g, start + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4];", in);
  CHECK(rows == in);
  const words columns =
      lanes(g, start + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r4];", in);
  for (std::uint32_t l = 0; l < 32; ++l) {
    const std::uint32_t row = l % 4 * 2, column = l / 4;
    CHECK(columns[l] == ((8 * row + column) | (8 * (row + 1) + column) << 16));
  }
}

TEST_CASE("sums of tensor cores round towards zero, once per instruction") {
  // Four products of 1.5 * 2^-26: the sum lies nearer to 1 + 2^-23 than to 1.
  const std::string body = R"(
    mov.f32 %f0, 0f3F800000;
    mov.b32 %r2, 0x3F800000;
    mov.b32 %r3, 0x32C00000;
    mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, %f5}, {%r2, %r2}, {%r3}, {%f0, %f0, %f0, %f0};
    mov.b32 %r10, %f2;)";
  const auto small = [&](const char *truncate) {
    gpu g("PTX_TRUNCATE", truncate);
    return lanes(g, body, words(32))[0];
  };
  CHECK(small("1") == bits(1.f));
  CHECK(small("0") == bits(1.f + 0x1p-23f));
}
