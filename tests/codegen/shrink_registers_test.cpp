// SPDX-License-Identifier: BSL-1.0
// Register tiles across threads: what each thread keeps, and which tiles are refused.
#include "codegen/halide/schedules/shrink_registers.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

namespace {

using namespace Halide;

// How many cells each register tile has after the pass, by the Func's name.
struct sizes : Internal::IRMutator {
  using IRMutator::visit;
  std::map<std::string, int> cells;
  Internal::Stmt visit(const Internal::Allocate *op) override {
    if (op->memory_type == MemoryType::Register && op->extents.size() == 1)
      if (auto n = Internal::as_const_int(op->extents[0]))
        cells[op->name.substr(0, op->name.find_first_of(".$"))] = static_cast<int>(*n);
    return IRMutator::visit(op);
  }
};

// A tile of 64 cells is computed by 16 threads and read by as many; each of them deals it in its
// own way.
struct tile {
  Func make{"make"}, use{"use"};
  Var x{"x"}, block{"block"}, in{"in"}, thread{"thread"}, cell{"cell"};

  tile() {
    make(x) = cast<float>(x) * 2.f;
    use(x) = make(x) + 1.f;
    use.split(x, block, in, 64);
    make.compute_at(use, block).store_in(MemoryType::Register);
  }

  std::map<std::string, int> lower() {
    Pipeline p(use);
    auto *seen = new sizes;
    p.add_custom_lowering_pass(new qkv::codegen::shrink_registers);
    p.add_custom_lowering_pass(seen, [] {});
    p.compile_to_module({}, "tile", Target("x86-64-linux-opencl-no_runtime"));
    const auto cells = seen->cells;
    delete seen;
    return cells;
  }

  std::string refusal() {
    try {
      lower();
    } catch (const std::runtime_error &e) {
      return e.what();
    }
    return "none";
  }
};

}  // namespace

TEST_CASE("a thread keeps the cells that it touches") {
  tile t;
  t.use.split(t.in, t.thread, t.cell, 4).unroll(t.cell).gpu_blocks(t.block).gpu_threads(t.thread);
  t.make.split(t.x, t.thread, t.cell, 4).unroll(t.cell).gpu_threads(t.thread);
  CHECK(t.lower().at("make") == 4);
}

TEST_CASE("cells far apart are numbered without gaps") {
  tile t;
  t.use.split(t.in, t.cell, t.thread, 16).reorder(t.cell, t.thread, t.block);
  t.use.unroll(t.cell).gpu_blocks(t.block).gpu_threads(t.thread);
  t.make.split(t.x, t.cell, t.thread, 16)
      .reorder(t.cell, t.thread)
      .unroll(t.cell)
      .gpu_threads(t.thread);
  CHECK(t.lower().at("make") == 4);
}

TEST_CASE("a tile that two steps deal in two ways is refused") {
  tile t;
  t.use.split(t.in, t.thread, t.cell, 4).unroll(t.cell).gpu_blocks(t.block).gpu_threads(t.thread);
  t.make.split(t.x, t.cell, t.thread, 16)
      .reorder(t.cell, t.thread)
      .unroll(t.cell)
      .gpu_threads(t.thread);
  CHECK(t.refusal().find("not split over the threads in one way") != std::string::npos);
}

TEST_CASE("a rolled loop over a thread's cells is refused") {
  tile t;
  t.use.split(t.in, t.thread, t.cell, 4).gpu_blocks(t.block).gpu_threads(t.thread);
  t.make.split(t.x, t.thread, t.cell, 4).unroll(t.cell).gpu_threads(t.thread);
  CHECK(t.refusal().find("not indexed by constants") != std::string::npos);
}
