// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/calls.hpp"

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <qkv/run.hpp>
#include <random>

#include "tests/kernels/guarded.hpp"
#include "tests/support/judge.hpp"

namespace qkv::fuzz {

using codegen::node_id;
using testing::guard;
using testing::guarded;

namespace {

struct outcome {
  std::string wrong;  // a failure before results can be compared
  codegen::arrays results;
};

outcome run_on(const qkv_kernel &k, const codegen::program &p, const call &c, int threads) {
  std::mt19937 random(static_cast<unsigned>(c.seed));
  const guard where = guard_of(c);
  const auto how = static_cast<testing::layout>(c.seed / 2 % 3);
  const auto size = codegen::all_sizes(p, c.sizes);
  std::vector<std::unique_ptr<guarded>> memory;
  std::vector<qkv_tensor> tensors;
  const auto add = [&](node_id n) {
    std::vector<std::int64_t> extent;
    for (codegen::axis_id a : p[n].shape) extent.push_back(size[a]);
    memory.push_back(std::make_unique<guarded>(p[n].type, extent, how, where, random));
    if (p[n].kind != core::op::output) memory.back()->write(c.arguments.at(p[n].name).data);
    tensors.push_back(memory.back()->descriptor());
    return extent;
  };
  for (node_id n : p.arguments) add(n);
  outcome out;
  for (node_id n : p.outputs) out.results[p[n].name].shape = add(n);
  options o;
  o.on = c.on;
  o.threads = threads;
  o.workspace = &testing::guarded_workspace(where);
  if (const status s = qkv::run(k, tensors, o); !s.ok()) {
    out.wrong = "status: " + std::string(s.text());
    return out;
  }
  if (const std::string damage = testing::guarded_memory_of(where).damage(); !damage.empty()) {
    out.wrong = "memory: " + damage;
    return out;
  }
  for (std::size_t i = 0; i < p.outputs.size(); ++i) {
    const guarded &m = *memory[p.arguments.size() + i];
    const std::string &name = p[p.outputs[i]].name;
    if (!m.untouched_between()) out.wrong = "memory: wrote between the rows of " + name;
    out.results[name].data = m.read();
  }
  return out;
}

bool same_bits(const codegen::arrays &a, const codegen::arrays &b, std::string &where) {
  for (const auto &[name, x] : a) {
    const auto &y = b.at(name);
    for (std::size_t k = 0; k < x.data.size(); ++k)
      if (std::bit_cast<std::uint64_t>(x.data[k]) != std::bit_cast<std::uint64_t>(y.data[k])) {
        where = fmt::format("{}[{}] is {} with one, {} with two", name, k, x.data[k], y.data[k]);
        return false;
      }
  }
  return true;
}

std::string sizes_text(const call &c) {
  std::string text;
  for (const auto &[name, n] : c.sizes) text += fmt::format(" {}={}", name, n);
  return text.empty() ? text : "; sizes" + text;
}

}  // namespace

guard guard_of(const call &c) { return c.seed % 2 ? guard::after : guard::before; }

std::string wrong_call(const qkv_kernel &k, const codegen::program &p, const call &c) {
  const outcome one = run_on(k, p, c, 1);
  if (!one.wrong.empty()) return one.wrong + sizes_text(c);
  if (c.on == device::host) {
    const outcome two = run_on(k, p, c, 2);
    if (!two.wrong.empty()) return two.wrong + sizes_text(c);
    if (std::string where; !same_bits(one.results, two.results, where))
      return "threads: " + where + sizes_text(c);
  }
  const std::string wrong = testing::wrong_results(p, c.arguments, c.sizes, one.results);
  return wrong.empty() ? wrong : "wrong: " + wrong + sizes_text(c);
}

std::string wrong_special(const qkv_kernel &k, const codegen::program &p, const call &c) {
  const outcome one = run_on(k, p, c, 1);
  if (!one.wrong.empty()) return one.wrong + sizes_text(c);
  const std::string wrong = testing::wrong_special_results(p, c.arguments, c.sizes, one.results);
  return wrong.empty() ? wrong : "special: " + wrong + sizes_text(c);
}

}  // namespace qkv::fuzz
