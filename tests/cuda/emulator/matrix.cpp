// SPDX-License-Identifier: BSL-1.0
// Matrices in the registers of a warp: ldmatrix, stmatrix, mma.sync (PTX manual, 9.7.14).
#include "tests/cuda/emulator/matrix.hpp"

#include <algorithm>
#include <bit>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/numbers.hpp"

namespace qkv::ptx {
namespace {

// i.a: matrices; i.b: transposed
void load_matrix(warp &w, const instruction &i, lane_mask m) {
  if (!together_all(w, m)) return;
  std::uint16_t rows[4][8][8];
  for (std::uint32_t j = 0; j < i.a; ++j)
    for (int r = 0; r < 8; ++r) {
      const std::uint64_t a = address_of_lane(w, i, static_cast<int>(j) * 8 + r, 0);
      if (a % 16)
        throw error("lane " + std::to_string(j * 8 + static_cast<unsigned>(r)) +
                    ": a row of ldmatrix is not aligned to 16 bytes");
      std::memcpy(rows[j][r], shared_at(w, a, 16, access::read), 16);
    }
  for (std::uint32_t j = 0; j < i.a; ++j) {
    auto *d = dst<std::uint32_t>(w, i, static_cast<int>(j));
    for (int l = 0; l < lanes_of_warp; ++l) {
      const int g = l / 4, t = l % 4 * 2;
      d[l] = i.b ? rows[j][t][g] | static_cast<std::uint32_t>(rows[j][t + 1][g]) << 16
                 : rows[j][g][t] | static_cast<std::uint32_t>(rows[j][g][t + 1]) << 16;
    }
  }
  if (w.in->how->profile) {
    // Eight rows of 16 bytes are read at a time.
    statistics &st = *w.in->stats;
    ++st.shared_requests;
    for (std::uint32_t j = 0; j < i.a; ++j) {
      int count[32] = {}, most = 0;
      std::uint64_t seen[8];
      for (int r = 0; r < 8; ++r) {
        seen[r] = address_of_lane(w, i, static_cast<int>(j) * 8 + r, 0);
        bool known = false;
        for (int q = 0; q < r; ++q) known |= seen[q] == seen[r];
        if (known) continue;
        for (unsigned b = 0; b < 4; ++b) most = std::max(most, ++count[(seen[r] / 4 + b) % 32]);
      }
      st.shared_wavefronts += static_cast<unsigned>(most);
    }
  }
}
void store_matrix(warp &w, const instruction &i, lane_mask m) {
  if (!together_all(w, m)) return;
  for (std::uint32_t j = 0; j < i.a; ++j) {
    const auto *s = src<std::uint32_t>(w, i, 1 + static_cast<int>(j));
    for (int r = 0; r < 8; ++r) {
      const std::uint64_t a = address_of_lane(w, i, static_cast<int>(j) * 8 + r, 0);
      if (a % 16) throw error("a row of stmatrix is not aligned to 16 bytes");
      std::uint16_t row[8];
      for (int c = 0; c < 8; ++c) {
        const int l = i.b ? c * 4 + r / 2 : r * 4 + c / 2, half = i.b ? r % 2 : c % 2;
        row[c] = static_cast<std::uint16_t>(s[l] >> (16 * half));
      }
      std::memcpy(shared_at(w, a, 16, access::write), row, 16);
    }
  }
}

enum class format : std::uint32_t { bf16, f16, tf32 };
float element(format f, std::uint32_t bits) {
  return f == format::bf16  ? from_bf16(bits & 0xffff)
         : f == format::f16 ? from_f16(bits)
                            : std::bit_cast<float>(bits & 0xffffe000u);
}

// m16n8kK. i.a: format of a and b; i.b: K; i.c: the accumulator is f16; sources: a, b, c
void multiply(warp &w, const instruction &i, lane_mask m) {
  if (!together_all(w, m)) return;
  const auto f = static_cast<format>(i.a);
  const int k = static_cast<int>(i.b), per = f == format::tf32 ? 1 : 2, a_regs = 16 * k / 32 / per,
            b_regs = 8 * k / 32 / per;
  float a[16][16] = {}, b[16][8] = {}, c[16][8];
  for (int l = 0; l < lanes_of_warp; ++l) {
    const int g = l / 4, t = l % 4;
    for (int r = 0; r < a_regs; ++r)
      for (int e = 0; e < per; ++e)
        a[g + 8 * (r & 1)][t * per + e + 4 * per * (r >> 1)] =
            element(f, src<std::uint32_t>(w, i, r)[l] >> (16 * e));
    for (int r = 0; r < b_regs; ++r)
      for (int e = 0; e < per; ++e)
        b[t * per + e + 4 * per * r][g] =
            element(f, src<std::uint32_t>(w, i, a_regs + r)[l] >> (16 * e));
    for (int e = 0; e < 4; ++e) {
      const int row = g + 8 * (e >> 1), column = 2 * t + (e & 1);
      if (i.c)
        c[row][column] =
            from_f16(src<std::uint32_t>(w, i, a_regs + b_regs + e / 2)[l] >> (16 * (e & 1)));
      else
        c[row][column] = get<float>(src<float>(w, i, a_regs + b_regs + e), l);
    }
  }
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      double sum = c[row][column];
      for (int x = 0; x < k; ++x)
        sum += static_cast<double>(a[row][x]) * static_cast<double>(b[x][column]);
      c[row][column] = rounded_sum(*w.in->how, sum);
    }
  for (int l = 0; l < lanes_of_warp; ++l) {
    const int g = l / 4, t = l % 4;
    if (i.c)
      for (int r = 0; r < 2; ++r)
        dst<std::uint32_t>(w, i, r)[l] = to_f16(c[g + 8 * r][2 * t]) |
                                         static_cast<std::uint32_t>(to_f16(c[g + 8 * r][2 * t + 1]))
                                             << 16;
    else
      for (int e = 0; e < 4; ++e)
        put<float>(dst<float>(w, i, e), l, c[g + 8 * (e >> 1)][2 * t + (e & 1)]);
  }
  w.in->stats->tensor_flops += static_cast<unsigned>(2 * 16 * 8 * k);
}

}  // namespace

bool decode_matrix(decoder &d, const statement &s, instruction &i) {
  if (s.op == "ldmatrix" || s.op == "stmatrix") {
    if (!s.has("m8n8") || last_type(s) != type::b16) d.refuse(s, "only m8n8 of 16 bits");
    const bool is_load = s.op == "ldmatrix";
    const operand &list = s.operands[is_load ? 0 : 1];
    i.a = s.has("x4") ? 4 : s.has("x2") ? 2 : 1;
    i.b = s.has("trans");
    if (is_load) d.destinations(i, list, type::b32);
    d.address(i, s.operands[is_load ? 1 : 0]);
    if (!is_load) d.sources(i, list, type::b32);
    i.what = is_load ? kind::shared_load : kind::shared_store;
    i.run = is_load ? load_matrix : store_matrix;
    return true;
  }
  if (s.op == "mma") {
    const auto t = types_of(s);
    if (t.size() != 4 || !s.has("row") || !s.has("col")) d.refuse(s, "only row.col");
    i.b = s.has("m16n8k16") ? 16 : s.has("m16n8k8") ? 8 : s.has("m16n8k4") ? 4 : 0;
    if (i.b == 0 || t[1] != t[2]) d.refuse(s, "shape or types are not supported");
    i.a = static_cast<std::uint32_t>(t[1] == type::bf16  ? format::bf16
                                     : t[1] == type::f16 ? format::f16
                                     : t[1] == type::tf32
                                         ? format::tf32
                                         : throw error("mma: type is not supported"));
    i.c = t[0] == type::f16;
    d.destinations(i, s.operands[0], type::b32);
    for (int n = 1; n <= 3; ++n) d.sources(i, s.operands[static_cast<std::size_t>(n)], type::b32);
    i.what = kind::tensor;
    i.run = multiply;
    return true;
  }
  return false;
}

}  // namespace qkv::ptx
