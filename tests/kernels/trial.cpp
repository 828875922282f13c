#include "tests/kernels/trial.hpp"

#include <fmt/format.h>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace qkv::testing {
namespace {

using codegen::array;
using codegen::axis_id;
using codegen::node_id;

std::int64_t size_of_axis(const trial &t, axis_id a) {
  const auto &root = t.p.axes[t.p.axes[a].root];
  return root.size >= 0 ? root.size : t.sizes.at(root.name);
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

double largest_error(const std::vector<double> &got, const std::vector<double> &want) {
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k)
    if (std::isfinite(got[k]) && std::isfinite(want[k]))
      worst = std::max(worst, std::fabs(got[k] - want[k]));
  return worst;
}

std::string compare(const std::string &name, const std::vector<double> &got,
                    const std::vector<double> &want, double yardstick) {
  double scale = 0, worst = 0;
  std::size_t at = 0;
  for (double x : want)
    if (std::isfinite(x)) scale = std::max(scale, std::fabs(x));
  for (std::size_t k = 0; k < got.size(); ++k) {
    const bool same_kind =
        std::isnan(got[k]) == std::isnan(want[k]) && std::isinf(got[k]) == std::isinf(want[k]);
    if (!same_kind || (std::isinf(want[k]) && got[k] != want[k]))
      return fmt::format("{}[{}] is {}, expected {}", name, k, got[k], want[k]);
    if (want[k] == 0 && got[k] != 0 && yardstick == 0)
      return fmt::format("{}[{}] is {}, expected exactly 0", name, k, got[k]);
    const double error = std::isfinite(want[k]) ? std::fabs(got[k] - want[k]) : 0;
    if (error > worst) worst = error, at = k;
  }
  const double allowed = 2 * yardstick + scale * 4 * 0x1p-24;
  if (worst > allowed)
    return fmt::format("{}[{}] is {:.9g}, expected {:.9g}: off by {:.3g}, allowed {:.3g}", name, at,
                       got[at], want[at], worst, allowed);
  return "";
}

}  // namespace

codegen::arrays random_arguments(const trial &t) {
  std::mt19937 random(t.seed);
  std::normal_distribution<float> normal(0, static_cast<float>(t.scale));
  codegen::arrays all;
  for (node_id n : t.p.arguments) {
    array a{extents(t, n), {}};
    a.data.resize(static_cast<std::size_t>(elements(a.shape)));
    const dtype type = t.p[n].type;
    const std::int64_t most = t.p[n].name == "len" ? longest(t) + 1 : 3;
    for (double &x : a.data)
      x = type == f32   ? normal(random)
          : type == i32 ? static_cast<double>(random() % static_cast<unsigned>(most))
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
    return qkv::run(*linked[0], tensors, how);
  }

  std::mt19937 random;
  std::vector<std::unique_ptr<guarded>> memory;
  std::vector<qkv_tensor> tensors;
};

}  // namespace

status try_device(const trial &t) { return tensors_of(t, random_arguments(t)).call(t); }

std::string run(const trial &t) {
  const std::string again = fmt::format("; again: QKV_TRIAL=\"{}\"", text_of(t));
  const codegen::arrays arguments = random_arguments(t);
  const tensors_of made(t, arguments);
  if (const status s = made.call(t); !s.ok())
    return fmt::format("{}: {}{}", t.p.name, s.text(), again);

  const auto want = codegen::interpret(t.p, arguments, t.sizes);
  const auto in_order =
      codegen::interpret_as_float(t.p, arguments, t.sizes, codegen::order::in_sequence);
  const auto by_eights =
      codegen::interpret_as_float(t.p, arguments, t.sizes, codegen::order::in_eights);
  for (std::size_t k = 0; k < t.p.outputs.size(); ++k) {
    const guarded &m = *made.memory[t.p.arguments.size() + k];
    const std::string &name = t.p[t.p.outputs[k]].name;
    const std::vector<double> &right = want.at(name).data;
    const double yardstick = std::max(largest_error(in_order.at(name).data, right),
                                      largest_error(by_eights.at(name).data, right));
    if (std::string wrong = compare(name, m.read(), right, yardstick); !wrong.empty())
      return t.p.name + ": " + wrong + again;
    if (!m.untouched_between())
      return fmt::format("{}: wrote between the rows of {}{}", t.p.name, name, again);
  }
  return "";
}

}  // namespace qkv::testing
