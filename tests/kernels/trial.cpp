// SPDX-License-Identifier: BSL-1.0
#include "tests/kernels/trial.hpp"

#include <fmt/format.h>
#include <qkv/core/half.hpp>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "codegen/program/sizes.hpp"
#include "codegen/reference/compare.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/kernels/guarded_opencl.hpp"

namespace qkv::testing {
namespace {

using codegen::array;
using codegen::axis_id;
using codegen::node_id;

#ifdef __GLIBC__
// The interpreter allocates the value of each step and frees it soon. The heap keeps what was
// freed: getting cleared pages from the system again took a tenth of the time.
const bool heap_keeps_memory = [] {
  return mallopt(M_MMAP_THRESHOLD, 32 << 20) == 1 && mallopt(M_TRIM_THRESHOLD, 1 << 30) == 1;
}();
#endif

std::int64_t size_of_axis(const trial &t, axis_id a) {
  return codegen::all_sizes(t.p, t.sizes)[static_cast<std::size_t>(a)];
}

std::vector<std::int64_t> extents(const trial &t, node_id n) {
  std::vector<std::int64_t> e;
  for (axis_id a : t.p[n].shape) e.push_back(size_of_axis(t, a));
  return e;
}

std::int64_t elements(const std::vector<std::int64_t> &extent) {
  std::int64_t n = 1;
  for (std::int64_t e : extent) n *= e;
  return n;
}

// The largest length that makes sense: of the longest axis decided at the call.
std::int64_t longest(const trial &t) {
  std::int64_t n = 0;
  for (axis_id a = 0; a < static_cast<axis_id>(t.p.axes.size()); ++a)
    if (!t.p.axes[a].batch) n = std::max(n, t.p.axes[a].size < 0 ? size_of_axis(t, a) : 0);
  return n;
}

}  // namespace

codegen::size_map sizes_for(const codegen::program &p, two_sizes length, unsigned seed) {
  codegen::size_map sizes;
  int next = 0;
  for (codegen::axis_id id = 0; id < static_cast<int>(p.axes.size()); ++id) {
    const auto &a = p.axes[static_cast<std::size_t>(id)];
    if (a.size >= 0 || a.root != id || is_decided(p, id)) continue;
    if (a.batch)
      sizes[a.name] = 1 + seed % 3;
    else if (a.name == "any_k")
      sizes[a.name] = 1 + (length.first * 7 + 3) % 40;
    else if (a.name == "any_v")
      sizes[a.name] = 1 + (length.second * 5 + 2) % 70;
    else
      sizes[a.name] = next++ == 0 ? length.first : length.second;
  }
  return sizes;
}

bool is_decided(const codegen::program &p, axis_id a) {
  return std::any_of(p.conditions.begin(), p.conditions.end(), [&](const codegen::condition &c) {
    return c.what != codegen::condition::same_size && p.axes[c.a].root == p.axes[a].root;
  });
}

codegen::arrays random_arguments(const trial &t) {
  std::mt19937 random(t.seed);
  std::normal_distribution<float> normal(0, static_cast<float>(t.scale));
  std::normal_distribution<double> normal_f64(0, t.scale);
  codegen::arrays all;
  for (node_id n : t.p.arguments) {
    array a{extents(t, n), {}};
    a.data.resize(static_cast<std::size_t>(elements(a.shape)));
    const dtype type = t.p[n].type;
    const bool length = t.p[n].name == "len" || t.p[n].name == "width";
    const std::int64_t most = length ? longest(t) + 1 : 3;
    using i32_limits = std::numeric_limits<std::int32_t>;
    const double from = t.p[n].name == "far"   ? i32_limits::max() - 2
                        : t.p[n].name == "low" ? i32_limits::min()
                                               : 0;
    // params as in a trained model: what a contraction sums over stays of the size of its inputs
    const bool weights = t.p[n].kind == core::op::param && a.shape.size() > 1;
    const double shrink = weights ? 1 / std::sqrt(static_cast<double>(a.shape[0])) : 1;
    for (double &x : a.data)
      x = type == f64                 ? normal_f64(random) * shrink
          : type != i32 && type != b8 ? stored(type, normal(random) * shrink)
          : type == i32 ? from + static_cast<double>(random() % static_cast<unsigned>(most))
                        : random() % 4 != 0;
    all[t.p[n].name] = std::move(a);
  }
  return all;
}

std::string text_of(const trial &t) {
  std::string sizes;
  for (const auto &[name, n] : t.sizes) sizes += fmt::format(" {}={}", name, n);
  return fmt::format("{}{} {} {} seed={}", t.p.name, sizes,
                     t.how == layout::dense    ? "dense"
                     : t.how == layout::padded ? "padded"
                                               : "permuted",
                     t.where == guard::after ? "after" : "before", t.seed) +
         (t.on == device::opencl ? " opencl"
          : t.on == device::cuda ? " cuda"
                                 : "");
}

std::string again(const trial &t) { return fmt::format("again: QKV_TRIAL=\"{}\"", text_of(t)); }

bool asked_for(const trial &t) {
  const char *only = std::getenv("QKV_TRIAL");
  return !only || text_of(t) == only;
}

namespace {

// The tensors of a trial in guarded memory: arguments filled in, outputs as they come.
struct tensors_of {
  explicit tensors_of(const trial &t, const codegen::arrays &arguments) : random(t.seed) {
    for (node_id n : t.p.arguments) {
      add(t, n);
      memory.back()->write(arguments.at(t.p[n].name).data);
    }
    for (node_id n : t.p.outputs) add(t, n);
  }
  void add(const trial &t, node_id n) {
    memory.push_back(std::make_unique<guarded>(t.p[n].type, extents(t, n), t.how, t.where, random));
    tensors.push_back(memory.back()->descriptor());
  }
  status call(const trial &t) const {
    const auto linked = kernels(t.p.name);
    if (linked.empty()) return status_code::not_linked;
    options how;
    how.on = t.on;
    how.workspace = &guarded_workspace(t.where);
    if (t.on == device::opencl) guard_opencl(t.where);
    return qkv::run(*linked[0], tensors, how);
  }

  std::mt19937 random;
  std::vector<std::unique_ptr<guarded>> memory;
  std::vector<qkv_tensor> tensors;
};

}  // namespace

status try_device(const trial &t) { return tensors_of(t, random_arguments(t)).call(t); }

status results_of(const trial &t, const codegen::arrays &arguments, codegen::arrays &results) {
  const tensors_of made(t, arguments);
  const status s = made.call(t);
  for (std::size_t k = 0; k < t.p.outputs.size(); ++k)
    results[t.p[t.p.outputs[k]].name] = {extents(t, t.p.outputs[k]),
                                         made.memory[t.p.arguments.size() + k]->read()};
  return s;
}

std::string run(const trial &t) {
  const codegen::arrays arguments = random_arguments(t);
  const tensors_of made(t, arguments);
  if (const status s = made.call(t); !s.ok())
    return fmt::format("{}: {}; {}", t.p.name, s.text(), again(t));

  if (const std::string damage = guarded_memory_of(t.where).damage(); !damage.empty())
    return fmt::format("{}: {}; {}", t.p.name, damage, again(t));

  codegen::arrays results;
  for (std::size_t k = 0; k < t.p.outputs.size(); ++k) {
    const guarded &m = *made.memory[t.p.arguments.size() + k];
    const std::string &name = t.p[t.p.outputs[k]].name;
    if (!m.untouched_between())
      return fmt::format("{}: wrote between the rows of {} or around it; {}", t.p.name, name,
                         again(t));
    results[name] = {extents(t, t.p.outputs[k]), m.read()};
  }
  const codegen::program computed = codegen::simplified(t.p);
  for (const codegen::expectation &e :
       codegen::doubtful(t.p, arguments, t.sizes, results, &computed)) {
    const codegen::verdict v = compare(e, results.at(e.name).data);
    if (!v.right) return fmt::format("{}: {}; {}", t.p.name, v.text, again(t));
  }
  return "";
}

}  // namespace qkv::testing
