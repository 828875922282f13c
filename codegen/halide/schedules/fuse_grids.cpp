// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/fuse_grids.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

namespace {

// The loops from the outermost to the block's own, and the definitions between them.
struct nest {
  struct level {
    const hi::For *loop = nullptr;
    std::vector<std::pair<std::string, Expr>> lets;  // defined inside it, in order
    Expr min, extent;                                // in terms of definitions outside
  };
  std::vector<level> levels;
  Stmt body;
};

bool is_block(const hi::For *op) { return op->for_type == hi::ForType::GPUBlock; }
bool is_thread(const hi::For *op) { return op->for_type == hi::ForType::GPUThread; }

bool has_loop(const Stmt &s, bool (*wanted)(const hi::For *)) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    bool (*wanted)(const hi::For *) = nullptr;
    bool found = false;
    void visit(const hi::For *op) override {
      found = found || wanted(op);
      IRVisitor::visit(op);
    }
  } f;
  f.wanted = wanted;
  s.accept(&f);
  return f.found;
}

// True if only loops and definitions lead to the block, with bounds that are known outside.
bool collect(const hi::For *outermost, nest &n) {
  Stmt s = outermost;
  std::vector<std::pair<std::string, Expr>> lets;
  const auto outside = [&](Expr e) {
    for (std::size_t k = lets.size(); k-- > 0;)
      if (hi::expr_uses_var(e, lets[k].first)) e = hi::substitute(lets[k].first, lets[k].second, e);
    return hi::simplify(e);
  };
  while (const hi::For *op = s.as<hi::For>()) {
    nest::level l{op, {}, outside(op->min), outside(op->extent)};
    for (const nest::level &around : n.levels)
      if (hi::expr_uses_var(l.min, around.loop->name) ||
          hi::expr_uses_var(l.extent, around.loop->name))
        return false;
    s = op->body;
    if (!is_block(op))
      while (const hi::LetStmt *let = s.as<hi::LetStmt>()) {
        l.lets.emplace_back(let->name, let->value);
        lets.emplace_back(let->name, let->value);
        s = let->body;
      }
    n.levels.push_back(std::move(l));
    if (is_block(op)) break;
  }
  n.body = s;
  return is_block(n.levels.back().loop);
}

// Halide adds a loop over the one thread of a block without threads.
struct without_lone_threads : hi::IRMutator {
  using IRMutator::visit;
  Stmt visit(const hi::For *op) override {
    if (!is_thread(op) || !hi::is_const_one(op->extent)) return IRMutator::visit(op);
    return mutate(hi::substitute(op->name, op->min, op->body));
  }
};

// True if the threads of a block share memory.
bool shares_memory(const Stmt &s) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    bool found = false;
    void visit(const hi::Allocate *op) override {
      found = found || op->memory_type == Halide::MemoryType::GPUShared;
      IRVisitor::visit(op);
    }
    void visit(const hi::Call *op) override {
      found = found || op->is_intrinsic(hi::Call::gpu_thread_barrier);
      IRVisitor::visit(op);
    }
  } f;
  s.accept(&f);
  return f.found;
}

// The work of one position, if a block has one thread and there are several blocks.
Stmt position_of(const nest &n) {
  const Stmt &body = n.body;
  const auto is_one = [](const nest::level &l) { return hi::is_const_one(l.extent); };
  if (std::all_of(n.levels.begin(), n.levels.end(), is_one) || shares_memory(body)) return body;
  const Stmt s = without_lone_threads().mutate(body);
  return has_loop(s, is_thread) ? body : s;
}

Expr variable(const std::string &name) { return hi::Variable::make(Halide::Int(32), name); }

// Unsigned: quotients of positions need no rounding towards minus infinity.
Expr unsigned_of(const Expr &e) { return Halide::cast<std::uint32_t>(e); }

Stmt one_launch(const nest &n, const gpu_tiles &m) {
  const hi::For *block = n.levels.back().loop;
  const std::string own = block->name + ".own", all = block->name + ".all";
  Stmt s = hi::substitute(block->name, variable(own), position_of(n));
  const bool add_threads = !has_loop(s, is_thread);
  const int threads = has_loop(s, [](const hi::For *) { return true; }) ? m.threads_of_long_work
                                                                        : m.threads_of_short_work;
  std::vector<Expr> at(n.levels.size());  // the position along each level
  Expr rest = unsigned_of(variable(add_threads ? all : block->name)), count = 1;
  for (std::size_t k = n.levels.size(); k-- > 0;) {
    const nest::level &l = n.levels[k];
    const Expr extent = unsigned_of(l.extent);
    at[k] = hi::simplify(l.min + Halide::cast<int>(k == 0 ? rest : rest % extent));
    rest = rest / extent;
    count = count * l.extent;
  }
  for (std::size_t k = n.levels.size(); k-- > 0;) {
    const nest::level &l = n.levels[k];
    for (std::size_t j = l.lets.size(); j-- > 0;)
      s = hi::LetStmt::make(l.lets[j].first, l.lets[j].second, s);
    s = hi::LetStmt::make(l.loop == block ? own : l.loop->name, at[k], s);
  }
  const std::string total = block->name + ".count";
  Expr blocks = variable(total);
  if (add_threads) {
    const std::string thread = "position" + hi::gpu_thread_name(0);
    s = hi::LetStmt::make(all, variable(block->name) * threads + variable(thread),
                          hi::IfThenElse::make(variable(all) < variable(total), s));
    s = hi::For::make(thread, 0, threads, hi::ForType::GPUThread, block->partition_policy,
                      block->device_api, s);
    blocks = (blocks + threads - 1) / threads;
  }
  s = hi::For::make(block->name, 0, blocks, hi::ForType::GPUBlock, block->partition_policy,
                    block->device_api, s);
  return hi::LetStmt::make(total, hi::simplify(count), s);
}

}  // namespace

Stmt fuse_grids::visit(const hi::For *op) {
  if (op->for_type != hi::ForType::Parallel && !is_block(op)) return IRMutator::visit(op);
  nest n;
  if (collect(op, n)) return one_launch(n, m_);
  // Launches one after the other.
  return hi::For::make(op->name, op->min, op->extent, hi::ForType::Serial, op->partition_policy,
                       op->device_api, mutate(op->body));
}

}  // namespace qkv::codegen
