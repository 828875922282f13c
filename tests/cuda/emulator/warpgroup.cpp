// SPDX-License-Identifier: BSL-1.0
// wgmma: products of four warps, with operands in shared memory.
#include <algorithm>
#include <cstring>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/matrix.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/numbers.hpp"
#include "tests/cuda/emulator/tensor_map.hpp"

namespace qkv::ptx {
namespace {

// Where element (row, k) of an operand is in shared memory: the layouts of CuTe's MMA_Traits.
struct operand_in_shared {
  std::uint32_t start, leading, stride;
  int swizzle;  // 0 none, 1: 32 bytes, 2: 64, 3: 128
  bool mn_major;

  explicit operand_in_shared(std::uint64_t d, bool transposed)
      : start(static_cast<std::uint32_t>(d & 0x3fff) << 4),
        leading(static_cast<std::uint32_t>(d >> 16 & 0x3fff) << 4),
        stride(static_cast<std::uint32_t>(d >> 32 & 0x3fff) << 4),
        mn_major(transposed) {
    constexpr int widths[] = {0, 3, 2, 1};
    swizzle = widths[d >> 62];
    if (d >> 49 & 7) throw error("wgmma: a base offset is not supported");
  }
  std::uint32_t at(std::uint32_t row, std::uint32_t k) const {
    std::uint32_t a = start;
    const std::uint32_t width = 8u << swizzle;  // elements of a row of the atom
    if (!mn_major) {
      a += row / 8 * stride + row % 8 * width * 2;
      a += swizzle == 0 ? k / 8 * leading + k % 8 * 2 : k * 2;
    } else if (swizzle == 0) {
      a += row / 8 * stride + row % 8 * 2 + k / 8 * leading + k % 8 * 16;
    } else {
      a += row / width * leading + row % width * 2 + k / 8 * stride + k % 8 * width * 2;
    }
    return swizzled(a, swizzle);
  }
};

float read_element(warp &w, std::uint32_t address, bool b16) {
  block &b = *w.in;
  if (address < b.shared_base || address - b.shared_base + 2 > b.shared_size)
    throw error("wgmma reads outside of shared memory");
  const std::uint32_t offset = address - b.shared_base;
  if (b.how->races) {
    const last_write &s = b.writes[offset / 4];
    if (s.clock > w.seen[s.warp] && s.warp != w.id)
      throw error("race in shared memory at byte " + std::to_string(offset) + ": wgmma of warp " +
                  std::to_string(w.id) + " reads what warp " + std::to_string(s.warp) + " wrote");
    // A fence of the warp that stored or of this one must separate the two.
    if (s.clock && !s.async && b.warps[s.warp].fenced[s.warp] < s.clock &&
        w.fenced[s.warp] < s.clock)
      throw error("wgmma reads what warp " + std::to_string(s.warp) + " stored (byte " +
                  std::to_string(offset) + ") without fence.proxy.async before the barrier");
    last_read &mine = b.reads[offset / 4 * b.warps.size() + static_cast<unsigned>(w.id)];
    if (mine.clock != in_flight) w.open_reads.push_back(offset / 4);
    mine = {in_flight, all_together};
  }
  std::uint16_t v;
  std::memcpy(&v, b.shared + offset, 2);
  return b16 ? from_bf16(v) : from_f16(v);
}

// m64nNk16. i.a: N; i.b: 1 bf16, 2 a in registers; i.c: 1 -a, 2 -b, 4 a transposed, 8 b transposed
void warpgroup_multiply(warp &w, const instruction &i, lane_mask m) {
  if (!together_all(w, m)) return;
  if (!w.registers_fenced)
    throw error("wgmma without wgmma.fence since the warp has last waited for products");
  const int n = static_cast<int>(i.a), regs = n / 2;
  const bool b16 = i.b & 1, a_in_registers = i.b & 2;
  const int quarter = w.id % 4;
  float a[16][16];
  if (a_in_registers) {
    for (int l = 0; l < lanes_of_warp; ++l)
      for (int r = 0; r < 4; ++r)
        for (int e = 0; e < 2; ++e) {
          const std::uint32_t bits = src<std::uint32_t>(w, i, r)[l] >> (16 * e) & 0xffff;
          a[l / 4 + 8 * (r & 1)][l % 4 * 2 + e + 8 * (r >> 1)] =
              b16 ? from_bf16(bits) : from_f16(bits);
        }
  } else {
    const operand_in_shared x(src<std::uint64_t>(w, i, 0)[0], i.c & 4);
    for (std::uint32_t r = 0; r < 16; ++r)
      for (std::uint32_t k = 0; k < 16; ++k)
        a[r][k] = read_element(w, x.at(static_cast<std::uint32_t>(quarter) * 16 + r, k), b16);
  }
  const int after_a = a_in_registers ? 4 : 1;
  const operand_in_shared y(src<std::uint64_t>(w, i, after_a)[0], i.c & 8);
  std::vector<float> b(static_cast<std::size_t>(n) * 16);
  for (int c = 0; c < n; ++c)
    for (std::uint32_t k = 0; k < 16; ++k)
      b[static_cast<std::size_t>(c) * 16 + k] =
          read_element(w, y.at(static_cast<std::uint32_t>(c), k), b16);
  const bool keep = src<std::uint32_t>(w, i, after_a + 1)[0] != 0;
  const double sign = ((i.c & 1) != 0) != ((i.c & 2) != 0) ? -1 : 1;
  for (int r = 0; r < regs; ++r) {
    auto *d = dst<float>(w, i, r);
    for (int l = 0; l < lanes_of_warp; ++l) {
      const int row = l / 4 + 8 * (r >> 1 & 1), column = r / 4 * 8 + l % 4 * 2 + (r & 1);
      double sum = keep ? get<float>(d, l) : 0.0;
      for (int k = 0; k < 16; ++k)
        sum += sign * static_cast<double>(a[row][k]) *
               static_cast<double>(b[static_cast<std::size_t>(column * 16 + k)]);
      put<float>(d, l, rounded_sum(*w.in->how, sum));
    }
  }
  w.in->stats->tensor_flops += static_cast<unsigned>(2 * 16 * n * 16);
}

// Until a warp waits, its registers belong to wgmma: one fence serves all products before the wait.
void fence_registers(warp &w, const instruction &, lane_mask) { w.registers_fenced = true; }

// A product belongs to four warps: a warp that waits for it knows that all four have read.
void commit_products(warp &w, const instruction &, lane_mask) {
  ++w.products;
  w.read_groups.push_back(std::move(w.open_reads));
  w.open_reads.clear();
}
void wait_products(warp &w, const instruction &i, lane_mask m) {
  if (!together_all(w, m)) return;
  w.registers_fenced = false;
  const auto wanted = static_cast<std::int64_t>(w.products) - i.imm;
  if (wanted <= 0) return;
  const std::size_t first = static_cast<std::size_t>(w.id) / 4 * 4,
                    end = std::min(first + 4, w.in->warps.size());
  for (std::size_t o = first; o < end; ++o)
    if (static_cast<std::int64_t>(w.in->warps[o].products) < wanted) {
      w.again = true;
      return;
    }
  for (std::size_t n = first; n < end; ++n) {
    warp &o = w.in->warps[n];
    // Reads end now, not when they were committed: a warp that knows an earlier clock of this one
    // does not know of their end.
    w.seen[n] = o.clock();
    const auto set = [&](const std::vector<std::uint32_t> &words, std::uint32_t clock) {
      for (std::uint32_t word : words)
        w.in->reads[word * w.in->warps.size() + n] = {clock, all_together};
    };
    for (; o.groups_done < static_cast<std::size_t>(wanted); ++o.groups_done)
      set(o.read_groups[o.groups_done], o.clock());
    for (std::size_t later = o.groups_done; later < o.read_groups.size(); ++later)
      set(o.read_groups[later], in_flight);
  }
}

}  // namespace

bool decode_warpgroup(decoder &d, const statement &s, instruction &i) {
  if (s.op != "wgmma") return false;
  i.what = kind::tensor;
  if (s.has("fence") || s.has("commit_group") || s.has("wait_group")) {
    i.what = kind::async;
    if (s.has("wait_group")) i.imm = static_cast<std::int64_t>(s.operands[0].bits);
    i.run = s.has("fence")          ? fence_registers
            : s.has("commit_group") ? commit_products
                                    : wait_products;
    return true;
  }
  const auto t = types_of(s);
  if (t.size() != 3 || t[0] != type::f32 || (t[1] != type::bf16 && t[1] != type::f16))
    d.refuse(s, "types are not supported");
  for (const auto &m : s.modifiers)
    if (m.rfind("m64n", 0) == 0) i.a = static_cast<std::uint32_t>(std::stoi(m.substr(4)));
  const bool a_in_registers = s.operands[1].kind == operand::list;
  i.b = (t[1] == type::bf16 ? 1u : 0) | (a_in_registers ? 2u : 0);
  d.destinations(i, s.operands[0], type::f32);
  if (i.destinations != i.a / 2) d.refuse(s, "the accumulator has another number of registers");
  d.sources(i, s.operands[1], a_in_registers ? type::b32 : type::b64);
  d.sources(i, s.operands[2], type::b64);
  d.sources(i, s.operands[3], type::pred);
  const auto number = [&](std::size_t n) {
    return n < s.operands.size() ? static_cast<std::int64_t>(s.operands[n].bits) : 0;
  };
  const std::size_t after = 6;
  i.c = (number(4) == -1 ? 1u : 0) | (number(5) == -1 ? 2u : 0);
  if (a_in_registers)
    i.c |= number(after) ? 8u : 0;
  else
    i.c |= (number(after) ? 4u : 0) | (number(after + 1) ? 8u : 0);
  i.run = warpgroup_multiply;
  return true;
}

}  // namespace qkv::ptx
