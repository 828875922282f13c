// SPDX-License-Identifier: BSL-1.0
// Compiled gradients that read what their kernels saved.
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <qkv/registry.hpp>
#include <qkv/saved.hpp>
#include <qkv/tensor.hpp>
#include <qkv/threads.hpp>
#include <qkv/workspace.hpp>
#include <random>
#include <thread>
#include <utility>

#include "tests/catch.hpp"
#include "tests/gradient/saved_specs.hpp"
#include "tests/support/random.hpp"

using namespace saved_kernels;
using qkv::extent;
using qkv::extents;
using qkv::status;
using qkv::status_code;

namespace {

using queries = qkv::tensor<batch, heads, seq, d_k>;
using keys = qkv::tensor<batch, heads, kv, d_k>;
using values = qkv::tensor<batch, heads, kv, d_v>;
using results = qkv::tensor<batch, heads, seq, d_v>;

template <class Tensor>
Tensor drawn(Tensor t, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(bits);
  return t;
}

// The arguments of attention and of its gradient, for two sequences of n positions.
struct arguments {
  explicit arguments(std::int64_t n)
      : Q(drawn(queries({2, n}), 1)),
        K(drawn(keys({2, n}), 2)),
        V(drawn(values({2, n}), 3)),
        dO(drawn(results({2, n}), 4)),
        O({2, n}),
        dQ({2, n}),
        dK({2, n}),
        dV({2, n}) {}
  queries Q;
  keys K;
  values V;
  results dO, O;
  queries dQ;
  keys dK;
  values dV;
};

template <class Tensor>
double distance(const Tensor &a, const Tensor &b) {
  double most = 0;
  for (std::int64_t k = 0; k < a.elements(); ++k)
    most = std::max(most, std::fabs(static_cast<double>(a.data()[k]) - b.data()[k]));
  return most;
}
template <class Tensor>
bool same_bits(const Tensor &a, const Tensor &b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.elements()) * sizeof(float)) ==
         0;
}

void require_ok(const status &s) {
  INFO(s.text());
  REQUIRE(s.ok());
}

// Another call with what is saved, from the threads of a call that uses it.
class meddling : public qkv::executor {
 public:
  explicit meddling(std::function<void()> once) : once_(std::move(once)) {}
  void run(int n, void (*task)(void *state, int i), void *state) override {
    if (once_) std::exchange(once_, nullptr)();
    for (int i = 0; i < n; ++i) task(state, i);
  }

 private:
  std::function<void()> once_;
};

}  // namespace

TEST_CASE("gradients from what a kernel saved are those without") {
  for (const std::int64_t n : {1, 7, 65, 200}) {
    arguments with(n), without(n);
    qkv::saved<attention> kept;
    require_ok(qkv::call<attention>(kept, with.Q, with.K, with.V, with.O));
    require_ok(qkv::call<attention>(without.Q, without.K, without.V, without.O));
    CHECK(distance(with.O, without.O) < 1e-5);
    require_ok(qkv::call<attention_step>(kept, with.Q, with.K, with.V, with.dO, with.dQ, with.dK,
                                         with.dV));
    require_ok(qkv::call<attention_step>(without.Q, without.K, without.V, without.dO, without.dQ,
                                         without.dK, without.dV));
    INFO(n << " positions");
    CHECK(distance(with.dQ, without.dQ) < 2e-5);
    CHECK(distance(with.dK, without.dK) < 2e-5);
    CHECK(distance(with.dV, without.dV) < 2e-5);
    arguments two(n);
    require_ok(qkv::call<attention_step>({.threads = 2}, kept, two.Q, two.K, two.V, two.dO, two.dQ,
                                         two.dK, two.dV));
    CHECK(same_bits(with.dQ, two.dQ));
    CHECK(same_bits(with.dV, two.dV));
    require_ok(qkv::call<attention_step>({.accumulate = true}, kept, two.Q, two.K, two.V, two.dO,
                                         two.dQ, two.dK, two.dV));
    for (std::int64_t k = 0; k < two.dK.elements(); ++k)
      CHECK(two.dK.data()[k] == 2 * with.dK.data()[k]);
  }
}

TEST_CASE("a call that adds to its results saves as one that does not") {
  std::size_t bytes = 0;
  require_ok(qkv::saved_bytes<attention>(bytes, extents{extent<batch>(2), extent<seq>(7)}));
  std::vector<float> memory(bytes / sizeof(float), 3.0f);
  qkv::saved<attention> kept(memory.data(), bytes);
  arguments with(7), without(7);
  with.O.fill(1);
  require_ok(qkv::call<attention>(without.Q, without.K, without.V, without.O));
  for (int twice = 0; twice < 2; ++twice)
    require_ok(qkv::call<attention>({.accumulate = true}, kept, with.Q, with.K, with.V, with.O));
  for (std::int64_t k = 0; k < with.O.elements(); ++k)
    CHECK(std::fabs(with.O.data()[k] - 1 - 2 * without.O.data()[k]) < 1e-5);
  require_ok(
      qkv::call<attention_step>(kept, with.Q, with.K, with.V, with.dO, with.dQ, with.dK, with.dV));
  require_ok(qkv::call<attention_step>(without.Q, without.K, without.V, without.dO, without.dQ,
                                       without.dK, without.dV));
  CHECK(distance(with.dQ, without.dQ) < 2e-5);
  CHECK(distance(with.dV, without.dV) < 2e-5);
}

TEST_CASE("a layer saves its projections") {
  const extents sizes{extent<batch>(2), extent<seq>(33)};
  const auto X = drawn(qkv::tensor<batch, seq, d_model>(sizes), 1);
  const auto Wq = drawn(qkv::tensor<d_model, heads, d_k>(), 2), Wk = drawn(Wq, 3);
  const auto Wv = drawn(qkv::tensor<d_model, heads, d_v>(), 4);
  const auto Wo = drawn(qkv::tensor<heads, d_v, d_model>(), 5);
  qkv::tensor<batch, seq, d_model> Y(sizes), dX(sizes), other_dX(sizes);
  qkv::tensor<d_model, heads, d_k> dWq, other_dWq;
  qkv::saved<layer> kept;
  require_ok(qkv::call<layer>(kept, X, Wq, Wk, Wv, Wo, Y));
  require_ok(qkv::call<layer_step>(kept, X, Wq, Wk, Wv, Wo, Y, dX, dWq));
  require_ok(qkv::call<layer_step>(X, Wq, Wk, Wv, Wo, Y, other_dX, other_dWq));
  double largest = 1;
  for (const float x : other_dWq) largest = std::max(largest, std::fabs(static_cast<double>(x)));
  CHECK(distance(dX, other_dX) < 1e-5 * largest);
  CHECK(distance(dWq, other_dWq) < 1e-5 * largest);
}

TEST_CASE("a recurrence saves no states, and its gradient runs by chunks") {
  for (const std::int64_t n : {1, 31, 33, 100}) {
    const extents sizes{extent<batch>(2), extent<seq>(n)};
    const auto S = drawn(qkv::tensor<batch, heads, d_k, d_v>(sizes), 1);
    const auto Q = drawn(queries(sizes), 2), K = drawn(Q, 3);
    const auto V = drawn(results(sizes), 4), dO = drawn(V, 5);
    const auto g = drawn(qkv::tensor<batch, heads, seq>(sizes), 6);
    struct gradients {
      qkv::tensor<batch, heads, d_k, d_v> dS;
      queries dQ, dK;
      results dV;
      qkv::tensor<batch, heads, seq> dg;
    };
    const auto made = [&] {
      return gradients{qkv::tensor<batch, heads, d_k, d_v>(sizes), queries(sizes), queries(sizes),
                       results(sizes), qkv::tensor<batch, heads, seq>(sizes)};
    };
    gradients with = made(), without = made(), two = made();
    results O(sizes);
    qkv::saved<recurrence> kept;
    std::size_t bytes = 0;
    require_ok(qkv::saved_bytes<recurrence>(bytes, sizes));
    INFO(n << " positions, " << bytes << " bytes are saved");
    CHECK(bytes <= 64 + 2 * 2 * static_cast<std::size_t>(n) * 16 * sizeof(float));
    require_ok(qkv::call<recurrence>(kept, S, Q, K, V, g, O));
    require_ok(qkv::call<recurrence_step>(kept, S, Q, K, V, g, dO, with.dS, with.dQ, with.dK,
                                          with.dV, with.dg));
    require_ok(qkv::call<recurrence_step>({.threads = 1}, S, Q, K, V, g, dO, without.dS, without.dQ,
                                          without.dK, without.dV, without.dg));
    require_ok(qkv::call<recurrence_step>({.threads = 2}, S, Q, K, V, g, dO, two.dS, two.dQ, two.dK,
                                          two.dV, two.dg));
    CHECK(distance(with.dQ, without.dQ) < 1e-4);
    CHECK(distance(with.dK, without.dK) < 1e-4);
    CHECK(distance(with.dg, without.dg) < 1e-4);
    CHECK(distance(with.dS, without.dS) < 1e-4);
    CHECK(distance(with.dV, without.dV) < 1e-4);
    CHECK(same_bits(two.dS, without.dS));
    CHECK(same_bits(two.dQ, without.dQ));
    CHECK(same_bits(two.dg, without.dg));
    CHECK(same_bits(two.dK, without.dK));
    CHECK(same_bits(two.dV, without.dV));
    // Without memory, nothing is lost but the results.
    qkv::workspace none(64);
    CHECK(qkv::call<recurrence_step>({.workspace = &none}, S, Q, K, V, g, dO, two.dS, two.dQ,
                                     two.dK, two.dV, two.dg)
              .code() == status_code::out_of_memory);
  }
}

TEST_CASE("a call that is refused leaves memory of the caller as it was") {
  std::size_t bytes = 0;
  require_ok(qkv::saved_bytes<attention>(bytes, extents{extent<batch>(2), extent<seq>(7)}));
  arguments x(7);
  const auto before = x.Q;
  qkv::saved<attention> kept(x.Q.data(), bytes);  // what is saved would lie in an input
  REQUIRE(bytes <= static_cast<std::size_t>(x.Q.elements()) * sizeof(float));
  CHECK(qkv::call<attention>({.accumulate = true}, kept, x.Q, x.K, x.V, x.O).code() ==
        status_code::overlap);
  CHECK(same_bits(x.Q, before));
}

TEST_CASE("memory of the caller") {
  std::size_t bytes = 0;
  require_ok(qkv::saved_bytes<attention>(bytes, extents{extent<batch>(2), extent<seq>(65)}));
  CHECK(bytes > 0);
  std::vector<std::max_align_t> memory((bytes + 64) / sizeof(std::max_align_t) + 8);
  void *aligned = memory.data();
  std::size_t all = bytes + 64;
  REQUIRE(std::align(64, bytes, aligned, all));
  qkv::saved<attention> kept(aligned, bytes), little(aligned, bytes - 64);
  arguments x(65);
  require_ok(qkv::call<attention>(kept, x.Q, x.K, x.V, x.O));
  require_ok(qkv::call<attention_step>(kept, x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV));
  const status s = qkv::call<attention>(little, x.Q, x.K, x.V, x.O);
  CHECK(s.code() == status_code::out_of_memory);
  CHECK(std::string(s.text()) == "attention: " + std::to_string(bytes) +
                                     " bytes are saved, and the memory has " +
                                     std::to_string(bytes - 64));
  CHECK(qkv::call<attention_step>(little, x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV).code() ==
        status_code::null_data);
  CHECK(qkv::saved_bytes<attention>(bytes, extents{extent<batch>(2)}).text() ==
        std::string("attention: the size of seq is missing"));
  const auto refused = [&](std::vector<qkv::axis_size> sizes, status_code code, const char *text) {
    const status no = qkv::saved_bytes(*qkv::kernels("attention").at(0), sizes, bytes);
    CHECK(no.code() == code);
    CHECK(no.text() == std::string("attention: ") + text);
  };
  refused({{"batch", 2}, {"seq", 5}, {"kv", 9}}, status_code::wrong_extent, "axis kv is 5, not 9");
  refused({{"batch", 2}, {"seq", 5}, {"heads", 9}}, status_code::wrong_extent,
          "axis heads is 2, not 9");
  refused({{"batch", 2}, {"sequence", 5}}, status_code::wrong_extent, "it has no axis sequence");
  refused({{"batch", -2}, {"seq", 5}}, status_code::wrong_extent,
          "axis batch is at least 0, not -2");
  refused({{"batch", 2}, {"seq", std::int64_t{1} << 61}}, status_code::too_large,
          "axis seq is 2305843009213693952, more than 2147479552");
  qkv::saved<attention> nowhere(nullptr, bytes);
  CHECK(qkv::call<attention>(nowhere, x.Q, x.K, x.V, x.O).code() == status_code::out_of_memory);
  qkv::saved<attention> odd(static_cast<char *>(aligned) + 4, bytes);
  CHECK(qkv::call<attention>(odd, x.Q, x.K, x.V, x.O).text() ==
        std::string("attention: the memory for what is saved is not aligned to 16"));
  qkv::saved<attention> elsewhere = std::move(kept);
  CHECK(qkv::call<attention>(kept, x.Q, x.K, x.V, x.O).code() == status_code::null_data);  // NOLINT
  require_ok(qkv::call<attention_step>(elsewhere, x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV));
}

TEST_CASE("what is saved is refused where it does not belong") {
  arguments x(20), other(21);
  for (float &v : x.dQ) v = 7;
  qkv::saved<attention> kept;
  const auto refused = [&](const status &s, status_code code, const std::string &text) {
    CHECK(s.code() == code);
    CHECK(s.text() == text);
    CHECK(x.dQ.data()[5] == 7);  // as it was
  };
  refused(qkv::call<attention_step>(kept, x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV),
          status_code::null_data,
          "attention_gradient: nothing is saved: call the kernel with it first");
  require_ok(qkv::call<attention>(kept, other.Q, other.K, other.V, other.O));
  refused(qkv::call<attention_step>(kept, x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV),
          status_code::wrong_extent, "attention_gradient: axis seq is 20 but 21 in what is saved");
  const qkv_kernel &of_layer = *qkv::kernels("layer_gradient").at(0);
  refused(kept.use(of_layer, {}), status_code::wrong_version,
          "layer_gradient: what is saved is of attention");
  qkv::saved<squares> of_squares;
  qkv::tensor<seq> X({5});
  qkv::tensor<> S;
  refused(qkv::call<squares>(of_squares, X, S), status_code::not_linked,
          "squares: its library was built without what saves steps: SAVED of qkv_add_kernels");
  // A call that fails saves nothing.
  queries bad = x.Q;
  qkv_tensor list[] = {bad.descriptor(), x.K.descriptor(), x.V.descriptor(), x.O.descriptor()};
  list[1].extent[2] = 3;
  CHECK(!kept.save(*qkv::kernels("attention").at(0), list).ok());
  refused(qkv::call<attention_step>(kept, x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV),
          status_code::null_data,
          "attention_gradient: nothing is saved: call the kernel with it first");
}

// Every task on a thread of its own; no task may call run().
struct one_thread_each : qkv::executor {
  int tasks = 0;
  std::atomic<bool> was_nested{false};
  void run(int n, void (*task)(void *, int), void *state) override {
    thread_local bool is_task = false;
    if (is_task) was_nested = true;
    tasks += n;
    std::vector<std::thread> all;
    for (int i = 0; i < n; ++i)
      all.emplace_back([=] {
        is_task = true;
        task(state, i);
      });
    for (std::thread &t : all) t.join();
  }
};

TEST_CASE("loops inside tasks stay on the threads of the caller's executor") {
  arguments x(100), y(100);
  require_ok(qkv::call<attention_step>(x.Q, x.K, x.V, x.dO, x.dQ, x.dK, x.dV));
  one_thread_each mine;
  require_ok(qkv::call<attention_step>({.executor = &mine}, y.Q, y.K, y.V, y.dO, y.dQ, y.dK, y.dV));
  CHECK(mine.tasks > 1);
  CHECK(!mine.was_nested);
  CHECK(distance(x.dQ, y.dQ) == 0);
  CHECK(distance(x.dK, y.dK) == 0);
}

TEST_CASE("what is saved is not written while it is in use") {
  arguments x(200), other(200);
  qkv::saved<attention> kept;
  require_ok(qkv::call<attention>(kept, x.Q, x.K, x.V, x.O));
  std::vector<std::string> heard;
  meddling reads([&] {
    heard.emplace_back(qkv::call<attention>(kept, other.Q, other.K, other.V, other.O).text());
    heard.emplace_back(qkv::call<attention_step>(kept, other.Q, other.K, other.V, other.dO,
                                                 other.dQ, other.dK, other.dV)
                           .text());
  });
  require_ok(qkv::call<attention_step>({.threads = 2, .executor = &reads}, kept, x.Q, x.K, x.V,
                                       x.dO, x.dQ, x.dK, x.dV));
  REQUIRE(heard.size() == 2);
  CHECK(heard[0] == "attention: what is saved is in use by another call");
  CHECK(heard[1] == "ok");
}

TEST_CASE("what is saved, from C") {
  arguments x(20), plain(20);
  qkv_saved *kept = qkv_saved_new();
  REQUIRE(kept);
  const qkv_kernel *forward = qkv::kernels("attention").at(0),
                   *step = qkv::kernels("attention_gradient").at(0);
  const qkv_tensor list[] = {x.Q.descriptor(), x.K.descriptor(), x.V.descriptor(),
                             x.O.descriptor()};
  const qkv_tensor of_step[] = {x.Q.descriptor(),  x.K.descriptor(),  x.V.descriptor(),
                                x.dO.descriptor(), x.dQ.descriptor(), x.dK.descriptor(),
                                x.dV.descriptor()};
  char text[200];
  CHECK(qkv_call_saved(step, of_step, 7, 0, kept, text, sizeof text) == QKV_NULL_DATA);
  CHECK(std::string(text) == "attention_gradient: nothing is saved: call the kernel with it first");
  CHECK(qkv_call_saving(forward, list, 4, 0, nullptr, text, sizeof text) == QKV_NULL_DATA);
  CHECK(std::string(text) == "attention: no qkv_saved given");
  REQUIRE(qkv_call_saving(forward, list, 4, 0, kept, text, sizeof text) == QKV_OK);
  REQUIRE(qkv_call_saved(step, of_step, 7, 0, kept, text, sizeof text) == QKV_OK);
  require_ok(
      qkv::call<attention_step>(plain.Q, plain.K, plain.V, plain.dO, plain.dQ, plain.dK, plain.dV));
  CHECK(distance(x.dQ, plain.dQ) < 2e-5);
  qkv_saved_free(kept);
  qkv_saved_free(nullptr);
}
