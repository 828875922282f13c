// SPDX-License-Identifier: BSL-1.0
// The blocks of a grid, one after the other; the warps of a block by turns.
#include "tests/cuda/emulator/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "tests/cuda/emulator/lanes.hpp"
#include "tests/cuda/emulator/special.hpp"

namespace qkv::ptx {
namespace {

struct aligned_free {
  void operator()(std::uint8_t *p) const { std::free(p); }
};
using memory = std::unique_ptr<std::uint8_t, aligned_free>;
memory aligned(std::size_t bytes) {
  auto *p =
      static_cast<std::uint8_t *>(std::aligned_alloc(1024, (bytes + 1023) / 1024 * 1024 + 1024));
  if (!p) throw error("no memory for a block");
  return memory(p);
}

class runner {
 public:
  runner(const kernel &k, const grid &g, const std::vector<std::uint8_t> &params,
         const allocations &a, const settings &how)
      : k_(k), how_(how) {
    const std::uint64_t threads = std::uint64_t(g.threads[0]) * g.threads[1] * g.threads[2];
    if (threads == 0 || threads > 1024)
      throw error(k.name + ": " + std::to_string(threads) + " threads in a block");
    if (k.most_threads && threads > static_cast<unsigned>(k.most_threads))
      throw error(k.name + ": more threads than .maxntid allows");
    n_warps_ = (threads + lanes_of_warp - 1) / lanes_of_warp;
    if (params.size() > sizeof params_)
      throw error(k.name + ": more than 4096 bytes of parameters");
    std::copy(params.begin(), params.end(), params_);
    b_.k = &k, b_.how = &how, b_.memory = &a, b_.stats = &stats_, b_.g = g;
    b_.params = params_;
    b_.shared_size = static_cast<std::uint32_t>(k.shared_bytes) + g.dynamic_shared;
    if (b_.shared_size > most_shared_bytes)
      throw error(k.name + ": " + std::to_string(b_.shared_size) + " bytes of shared memory");
    shared_ = aligned(b_.shared_size + 64);
    b_.shared = shared_.get();
    b_.shared_base = k.shared_base;
    registers_ = aligned(static_cast<std::size_t>(k.register_bytes) * n_warps_);
    local_ = aligned(static_cast<std::size_t>(k.local_bytes) * lanes_of_warp * n_warps_);
    std::memset(registers_.get(), 0, static_cast<std::size_t>(k.register_bytes) * n_warps_);
    b_.warps.resize(n_warps_);
    for (std::size_t i = 0; i < n_warps_; ++i) {
      warp &w = b_.warps[i];
      w.in = &b_, w.id = static_cast<int>(i);
      w.regs = registers_.get() + static_cast<std::size_t>(k.register_bytes) * i;
      w.local = local_.get() + static_cast<std::size_t>(k.local_bytes) * lanes_of_warp * i;
      constants(w);
    }
    b_.random.seed(how.seed);
  }

  statistics run() {
    const grid &g = b_.g;
    std::vector<std::uint64_t> order(std::uint64_t(g.blocks[0]) * g.blocks[1] * g.blocks[2]);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    if (how_.seed) std::shuffle(order.begin(), order.end(), b_.random);
    for (std::uint64_t n : order) {
      b_.index[0] = static_cast<std::uint32_t>(n % g.blocks[0]);
      b_.index[1] = static_cast<std::uint32_t>(n / g.blocks[0] % g.blocks[1]);
      b_.index[2] = static_cast<std::uint32_t>(n / g.blocks[0] / g.blocks[1]);
      one_block();
    }
    return stats_;
  }

 private:
  void constants(warp &w) {
    for (const constant_slot &c : k_.constants) fill(w, c.slot, c.bits, c.wide);
  }
  static void fill(warp &w, std::int32_t slot, std::uint64_t bits, bool wide) {
    for (int l = 0; l < lanes_of_warp; ++l)
      if (wide)
        reg<std::uint64_t>(w, slot)[l] = bits;
      else
        reg<std::uint32_t>(w, slot)[l] = static_cast<std::uint32_t>(bits);
  }

  void one_block() {
    // NaN until written, or with every other seed a large number: kernels compute rows that are NaN
    // again, and hide what they read too early.
    std::memset(b_.shared, how_.seed % 2 ? 0x4b : 0xff, b_.shared_size + 64);
    const std::uint64_t threads =
        std::uint64_t(b_.g.threads[0]) * b_.g.threads[1] * b_.g.threads[2];
    for (warp &w : b_.warps) {
      const std::uint64_t from = static_cast<std::uint64_t>(w.id) * lanes_of_warp,
                          n = std::min<std::uint64_t>(threads - from, lanes_of_warp);
      w.live = n == lanes_of_warp ? all_lanes : (1u << n) - 1;
      w.groups.assign(1, {0, w.live});
      w.barrier = -1, w.yields = w.again = false;
      w.seen.assign(n_warps_, 0);
      w.seen[static_cast<std::size_t>(w.id)] = 1;
      w.open_copies.clear(), w.copy_groups.clear(), w.products = 0, w.open_reads.clear(),
                                                    w.read_groups.clear(), w.groups_done = 0,
                                                    w.registers_fenced = false;
      w.fenced.assign(n_warps_, 0);
      special_registers(w);
    }
    for (named_barrier &n : b_.barriers) n = {};
    b_.mbarriers.clear();
    b_.engine.clear();
    if (how_.races) {
      b_.writes.assign(b_.shared_size / 4 + 2, {});
      b_.reads.assign((b_.shared_size / 4 + 2) * n_warps_, {});
    }
    turns();
    for (std::size_t i = 0; i < b_.barriers.size(); ++i)
      if (b_.barriers[i].arrived)
        throw error(where() + "the block ends with arrivals left at barrier " + std::to_string(i));
  }

  void turns() {
    std::vector<std::size_t> order(n_warps_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t idle = 0;
    for (;;) {
      if (how_.seed) std::shuffle(order.begin(), order.end(), b_.random);
      bool moved = false, all_done = true;
      for (std::size_t n : order) {
        warp &w = b_.warps[n];
        if (w.done()) continue;
        all_done = false;
        // With a seed, copies arrive early as well as late, and turns have any length.
        if (how_.seed && !b_.engine.empty() && b_.random() % 2) {
          run_copy();
          moved = true;
        }
        if (w.barrier >= 0) continue;
        moved |= turn(w);
      }
      if (all_done) return;
      if (moved) {
        idle = 0;
        continue;
      }
      if (!b_.engine.empty()) {  // no warp can go on before the copies have arrived
        run_copy();
        idle = 0;
        continue;
      }
      if (++idle > 3) stuck();
    }
  }

  void run_copy() {
    auto copy = std::move(b_.engine.front());
    b_.engine.pop_front();
    copy();
  }

  [[noreturn]] void stuck() {
    std::string text = "deadlock:";
    for (const warp &w : b_.warps)
      if (!w.done())
        text += " warp " + std::to_string(w.id) +
                (w.barrier >= 0 ? " at barrier " + std::to_string(w.barrier) : "") + " line " +
                std::to_string(k_.code[static_cast<std::size_t>(w.groups[0].pc)].line) + ";";
    throw error(where() + text);
  }
  std::string where() const {
    return k_.name + ", block " + std::to_string(b_.index[0]) + "," + std::to_string(b_.index[1]) +
           "," + std::to_string(b_.index[2]) + ": ";
  }

  // Merges groups that have met, and puts the one furthest behind first. False when all wait.
  static bool regroup(warp &w) {
    auto &g = w.groups;
    for (std::size_t i = 0; i < g.size(); ++i)
      for (std::size_t j = g.size(); --j > i;)
        if (g[i].pc == g[j].pc) {
          g[i].lanes |= g[j].lanes;
          g[i].waits = false;
          g.erase(g.begin() + static_cast<std::ptrdiff_t>(j));
        }
    std::size_t first = g.size();
    for (std::size_t i = 0; i < g.size(); ++i)
      if (!g[i].waits && (first == g.size() || g[i].pc < g[first].pc)) first = i;
    if (first == g.size()) return false;
    std::swap(g[0], g[first]);
    return true;
  }

  // A warp runs until it waits. True when it did more than test a barrier.
  bool turn(warp &w) {
    const int at_once = how_.seed ? 20 + static_cast<int>(b_.random() % 2000) : 20000;
    bool moved = false;
    w.yields = false;
    const instruction *code = k_.code.data();
    int at = 0;
    try {
      for (int n = 0; n < at_once; ++n) {
        if (w.groups.size() > 1 && !regroup(w))
          throw error("lanes of a warp wait for lanes that never come");
        group &g = w.groups[0];
        at = g.pc;
        const instruction &i = code[at];
        lane_mask m = g.lanes;
        if (i.guard >= 0) {
          const std::uint32_t *p = reg<std::uint32_t>(w, i.guard);
          lane_mask yes = 0;
          for (int l = 0; l < lanes_of_warp; ++l) yes |= (p[l] & 1u) << l;
          m &= i.guard_not ? ~yes : yes;
        }
        ++stats_.warp_instructions[static_cast<int>(i.what)];
        if (i.what == kind::branch) {
          i.run(w, i, m);
          moved = true;
          if (w.groups.empty()) {
            for (named_barrier &b : b_.barriers) release_if_complete(b_, b);
            return true;
          }
          continue;
        }
        if (m) {
          i.run(w, i, m);
          if (w.groups[0].waits) {
            if (w.groups.size() == 1)
              throw error("waits for lanes that have ended or are masked off");
            continue;  // the other groups run first
          }
          if (how_.trace && w.id == 0 && b_.index[0] + b_.index[1] + b_.index[2] == 0)
            print(w, i, at, m);
        }
        if (w.again) {
          w.again = false;
          return n > 16;
        }
        ++w.groups[0].pc;
        if (w.yields) return n > 16;  // it only tested a barrier
        if (i.what == kind::barrier && w.barrier >= 0) return true;
        moved = moved || (i.what != kind::async && i.what != kind::other);
      }
    } catch (const error &e) {
      throw error(where() + "line " + std::to_string(code[at].line) + ", " +
                  k_.texts[static_cast<std::size_t>(at)] + ": warp " + std::to_string(w.id) + ": " +
                  e.what());
    }
    return true;
  }

  // One line: lane 0 of each register of the instruction.
  void print(warp &w, const instruction &i, int at, lane_mask m) const {
    std::fprintf(stderr, "%5d %08x %-28s", i.line, m,
                 k_.texts[static_cast<std::size_t>(at)].c_str());
    const int all = i.destinations + i.sources;
    for (int n = 0; n < all; ++n) {
      const std::int32_t s = slot_of(w, i, n);
      if (s < 0) continue;
      const std::uint32_t v = reg<std::uint32_t>(w, s)[0];
      float f;
      std::memcpy(&f, &v, 4);
      std::fprintf(stderr, "%s %x(%g)", n == i.destinations ? " <-" : "", v,
                   static_cast<double>(f));
    }
    std::fprintf(stderr, "\n");
  }

  const kernel &k_;
  const settings how_;
  alignas(64) std::uint8_t params_[most_parameter_bytes] = {};
  std::size_t n_warps_ = 0;
  memory shared_, registers_, local_;
  statistics stats_;
  block b_;
};

}  // namespace

statistics launch(const kernel &k, const grid &g, const std::vector<std::uint8_t> &params,
                  const allocations &a, const settings &how) {
  runner r(k, g, params, a, how);
  return r.run();
}

}  // namespace qkv::ptx
