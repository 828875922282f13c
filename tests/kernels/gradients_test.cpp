// SPDX-License-Identifier: BSL-1.0
// Compiled gradients against the double gradient, on the host, through OpenCL and through CUDA.
#include <qkv/call.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gradients_everywhere.hpp"
#include "gradients_on_host.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/by_name.hpp"
#include "tests/kernels/device_trials.hpp"
#include "tests/kernels/gradient_specs.hpp"
#include "tests/kernels/trial.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

namespace {

const std::vector<program> everywhere = gradients_everywhere(), on_host = gradients_on_host();

// Edges of registers, tiles and blocks, one beyond each, and none. The first are tried on OpenCL,
// too.
const std::vector<two_sizes> lengths = {{1, 1},     {2, 3},    {17, 5},   {16, 16},
                                        {31, 33},   {33, 129}, {100, 70}, {1, 300},
                                        {150, 257}, {0, 5},    {5, 0}};

void check(const std::vector<program> &all, qkv::device on, std::size_t n_lengths) {
  std::size_t trials = 0;
  for (const program &p : all) {
    for (unsigned seed = 1; seed <= n_lengths; ++seed) {
      const trial t = trial_on_device(p, on, lengths[seed - 1], seed);
      if (!asked_for(t)) continue;
      ++trials;
      INFO(text_of(t));
      const std::string wrong = run(t);
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  CHECK((trials == all.size() * n_lengths || std::getenv("QKV_TRIAL")));
}

}  // namespace

TEST_CASE("compiled gradients agree with the interpreter") {
  check(everywhere, qkv::device::host, lengths.size());
  check(on_host, qkv::device::host, lengths.size());
}

TEST_CASE("the memory of gradients grows with positions, never with their pairs") {
  for (const char *name :
       {"full", "causal_self", "grouped", "softcapped", "relative_table", "linear_attention",
        "document", "dropped_weights", "multi_head", "itself", "key_bias", "packed", "biased",
        "trained_biases", "hidden_bias", "hidden_table"}) {
    const auto at = [&](std::int64_t n) {
      sizes s;
      const std::string gradient = std::string(name) + "_gradient";
      const qkv_kernel &k = kernel_called(gradient.c_str());
      for (int a = 0; a < k.n_axes; ++a) s[k.axes[a].name] = n;
      s["batch"] = 1;
      return bytes(gradient.c_str(), s);
    };
    const std::size_t few = at(512), more = at(1024), many = at(2048);
    INFO(name << ": " << few << ", " << more << ", " << many << " bytes for 512, 1024, 2048");
    CHECK(more <= 2 * few + 65536);
    CHECK(many <= 4 * few + 65536);
  }
}

TEST_CASE("gradients of recurrences do not store the states at all positions") {
  for (const auto &[name, state] :
       {std::pair{"gated_delta", 3 * 16 * 24}, {"selective", 20 * 16}}) {
    const std::string gradient = std::string(name) + "_gradient";
    const std::size_t states = 4096 * static_cast<std::size_t>(state) * sizeof(float),
                      taken = bytes(gradient.c_str(), {{"batch", 1}, {"seq", 4096}});
    INFO(name << ": " << taken << " bytes, all states are " << states);
    CHECK(taken < states / 2);  // and as much for their adjoints, and copies
  }
}

TEST_CASE("gradients are called like any kernel") {
  using namespace specs;
  constexpr auto &step = gradients::of_pooling;
  qkv::tensor<qkv::f32, batch, seq, d_model> X({2, 9}), dX({2, 9}), prepared_dX({2, 9});
  qkv::tensor<qkv::f32, d_model> q;
  qkv::tensor<qkv::i32, batch> len({2});
  qkv::tensor<qkv::f32, batch, d_model> dO({2});
  for (std::int64_t k = 0; k < X.elements(); ++k) X.data()[k] = static_cast<float>(k % 7) / 4;
  for (std::int64_t k = 0; k < q.elements(); ++k) q.data()[k] = static_cast<float>(k % 3);
  for (std::int64_t k = 0; k < dO.elements(); ++k) dO.data()[k] = static_cast<float>(k % 5) - 2;
  len.data()[0] = 4, len.data()[1] = 9;
  REQUIRE(qkv::call<step>(X, q, len, dO, dX).ok());
  REQUIRE(qkv::prepare<step>(q)(X, len, dO, prepared_dX).ok());
  float largest = 0, behind = 0;
  for (std::int64_t k = 0; k < X.elements(); ++k) {
    CHECK(dX.data()[k] == prepared_dX.data()[k]);
    const bool hidden = k < 9 * 48 && k / 48 >= 4;
    (hidden ? behind : largest) = std::max(hidden ? behind : largest, std::fabs(dX.data()[k]));
  }
  CHECK(largest > 0);
  CHECK(behind == 0);
  // The compiler refuses other arguments, as of any kernel.
  using qkv::detail::callable, qkv::detail::part;
  static_assert(callable<"call", step, part::all, decltype(X) &, decltype(q) &, decltype(len) &,
                         decltype(dO) &, decltype(dX) &>);
  static_assert(!callable<"call", step, part::all, decltype(X) &, decltype(q) &, decltype(len) &,
                          decltype(dX) &, decltype(dX) &>);
}

namespace {

// Where there is such a device.
void check_on(qkv::device on) {
  const program &any = everywhere[0];
  const trial first{any, sizes_for(any, {1, 1}, 1), layout::dense, guard::after, 1, 1, on};
  if (const qkv::status s = try_device(first); s.code() == qkv::status_code::no_device)
    WARN("[SKIP] " << s.text());
  else
    check(everywhere, on, 6);
}

}  // namespace

TEST_CASE("compiled gradients agree with the interpreter on OpenCL") {
  check_on(qkv::device::opencl);
}

#if QKV_LONG  // otherwise they have no code for CUDA
TEST_CASE("compiled gradients agree with the interpreter through CUDA") {
  check_on(qkv::device::cuda);
}
#endif
