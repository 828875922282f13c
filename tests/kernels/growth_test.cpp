// How memory and time grow with the number of positions: linearly, wherever the formula allows it.
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

namespace {

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

const qkv_kernel &kernel_called(const char *name) { return *qkv::kernels(name).at(0); }

std::size_t bytes(const char *name, const sizes &of) {
  const arguments all(kernel_called(name), of);
  qkv::options how;
  how.threads = 1;
  std::size_t size = 0;
  REQUIRE(qkv::workspace_bytes(kernel_called(name), all.tensors, size, how).ok());
  return size;
}

// Measures CPU time; wall time would include other programs.
std::pair<double, double> seconds(const char *name, const sizes &a, const sizes &b) {
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

}  // namespace

TEST_CASE("memory grows with positions, never with their pairs") {
  const std::vector<std::pair<const char *, std::vector<const char *>>> kernels = {
      {"full", {"seq", "mem"}},
      {"causal_self", {"seq"}},
      {"biased", {"seq", "mem"}},
      {"softcapped", {"seq", "mem"}},
      {"grouped", {"seq", "mem"}},
      {"bahdanau", {"seq", "mem"}},
      {"with_lse", {"seq", "mem"}},
      {"low_rank", {"seq", "mem"}},
      {"sigmoid_weights", {"seq", "mem"}},
      {"gated_difference", {"seq", "mem"}},
      {"linear_either_way", {"seq", "mem"}},
      {"absorbed", {"seq", "mem"}},
      {"linear_causal", {"seq"}},
      {"gated_delta", {"seq"}}};
  for (const auto &[name, axes] : kernels) {
    const auto at = [&](std::int64_t n) {
      sizes s = {{"batch", 1}};
      for (const char *a : axes) s[a] = n;
      return bytes(name, s);
    };
    const std::size_t few = at(512), many = at(2048);
    INFO(name << ": " << few << " bytes for 512 positions, " << many << " for 2048");
    CHECK(many <= 4 * few + 65536);
  }
}

TEST_CASE("the time of linear attention and of values of low rank grows with positions") {
  struct growing {
    const char *name;
    sizes few, many;  // four times the positions
  };
  for (const growing &g :
       {growing{"linear_either_way",
                {{"batch", 1}, {"seq", 2048}, {"mem", 2048}},
                {{"batch", 1}, {"seq", 8192}, {"mem", 8192}}},
        growing{"linear_causal", {{"batch", 1}, {"seq", 1024}}, {{"batch", 1}, {"seq", 4096}}},
        growing{"low_rank",
                {{"batch", 1}, {"seq", 1024}, {"mem", 256}},
                {{"batch", 1}, {"seq", 4096}, {"mem", 256}}}}) {
    const auto [few, many] = seconds(g.name, g.few, g.many);
    INFO(g.name << ": " << few * 1e3 << " ms, " << many * 1e3
                << " ms for four times the positions");
    CHECK(many < 7 * few);  // sixteen times, if every pair took part
  }
}

TEST_CASE("few queries do not pay for what all keys would need") {
  // one query: keys and values of few numbers are read as they are, in place of being widened for every head
  const auto [one, many] = seconds("absorbed", {{"batch", 1}, {"seq", 1}, {"mem", 4096}},
                                   {{"batch", 1}, {"seq", 256}, {"mem", 4096}});
  INFO(one * 1e3 << " ms for one query, " << many * 1e3 << " ms for 256");
  CHECK(one < many / 4);
}
