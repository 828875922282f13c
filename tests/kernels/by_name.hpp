#pragma once
// Kernels called by name on tensors of given sizes, for what memory and time they take.
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <qkv/workspace.hpp>

#include <algorithm>
#include <bit>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace qkv::testing {

using sizes = std::map<std::string, std::int64_t>;

// Dense tensors of small numbers for every argument of a kernel; lengths beyond every position.
class arguments {
 public:
  arguments(const qkv_kernel &kernel, const sizes &of) {
    for (int k = 0; k < kernel.n_arguments; ++k) {
      const qkv_argument &a = kernel.arguments[k];
      qkv_tensor t{};
      t.dtype = a.dtype;
      t.rank = a.rank;
      std::int64_t elements = 1;
      for (int d = a.rank; d-- > 0;) {
        const qkv_axis &axis = kernel.axes[kernel.axes[a.axes[d]].root];
        t.extent[d] = axis.size >= 0 ? axis.size : of.at(axis.name);
        t.stride[d] = elements;
        elements *= t.extent[d];
      }
      numbers_.emplace_back(static_cast<std::size_t>(elements));
      float x = 0.1f;
      for (float &y : numbers_.back())
        y = a.dtype == QKV_I32 ? std::bit_cast<float>(1 << 20) : x = x > 1 ? x - 1.9f : x + 0.37f;
      t.data = numbers_.back().data();
      tensors.push_back(t);
    }
  }
  std::vector<qkv_tensor> tensors;

 private:
  std::vector<std::vector<float>> numbers_;
};

inline const qkv_kernel &kernel_called(const char *name) { return *qkv::kernels(name).at(0); }

// Of the workspace, with one thread.
inline std::size_t bytes(const char *name, const sizes &of) {
  const arguments all(kernel_called(name), of);
  qkv::options how;
  how.threads = 1;
  std::size_t size = 0;
  REQUIRE(qkv::workspace_bytes(kernel_called(name), all.tensors, size, how).ok());
  return size;
}

// Measures CPU time; wall time would include other programs.
// Processor time of one thread, in turns: the best of seven calls each.
inline std::pair<double, double> seconds(const char *name, const sizes &a, const sizes &b) {
  arguments of_a(kernel_called(name), a), of_b(kernel_called(name), b);
  qkv::options how;
  how.threads = 1;
  const auto once = [&](const arguments &all) {
    const std::clock_t start = std::clock();
    REQUIRE(qkv::run(kernel_called(name), all.tensors, how).ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  std::pair<double, double> best = {1e9, 1e9};
  for (int turn = 0; turn < 7; ++turn)
    best = {std::min(best.first, once(of_a)), std::min(best.second, once(of_b))};
  return best;
}

}  // namespace qkv::testing
