// SPDX-License-Identifier: BSL-1.0
// Stages that loops of C++ compute, beside those by Halide: the same numbers, threads, memory and
// statuses.
#include <qkv/call.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "plain_programs.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/plain_specs.hpp"
#include "tests/kernels/trial.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

namespace {

// Every task on the calling thread; counts them.
struct counting : qkv::executor {
  int tasks = 0, loops = 0;
  void run(int count, void (*task)(void *, int), void *data) override {
    ++loops;
    tasks += count;
    for (int k = 0; k < count; ++k) task(data, k);
  }
};

using namespace specs;
using matrix = qkv::tensor<qkv::f32, batch, seq, d_model>;

struct feed_forward_arguments {
  matrix X{{2, 33}}, Y{{2, 33}};
  qkv::tensor<qkv::f32, d_model, hidden> W1;
  qkv::tensor<qkv::f32, hidden> b1;
  qkv::tensor<qkv::f32, hidden, d_model> W2;
  qkv::tensor<qkv::f32, d_model> b2;

  feed_forward_arguments() {
    float x = 0;
    for (float &e : X) e = std::sin(x += 1.f);
    for (float &e : W1) e = 0.1f * std::sin(x += 1.f);
    for (float &e : W2) e = 0.1f * std::sin(x += 1.f);
  }
  template <auto &Kernel>
  qkv::status call(const qkv::options &how = {}) {
    return qkv::call<Kernel>(how, X, W1, b1, W2, b2, Y);
  }
};

}  // namespace

TEST_CASE("stages by loops agree with the interpreter") {
  int count = 0;
  for (const program &p : plain_programs()) {
    unsigned seed = 0;
    for (const std::int64_t n : {0, 1, 7, 33})
      for (const std::int64_t m : {1, 5, 64, 131}) {
        ++seed;
        const guard where = guard_or(seed % 2 ? guard::after : guard::before);
        const std::string wrong =
            run({p, sizes_for(p, {n, m}, seed), static_cast<layout>(seed % 3), where, seed, 1});
        CHECK(wrong == "");
        ++count;
      }
  }
  CHECK(count == 17 * 16);
}

TEST_CASE("stages by loops take the caller's threads, and give the same bits on any number") {
  feed_forward_arguments a;
  counting threads;
  REQUIRE(a.call<plain::plain_feed_forward>({.executor = &threads}).ok());
  CHECK(threads.loops >= 2);
  CHECK(threads.tasks > threads.loops);
  const std::vector<float> Y(a.Y.begin(), a.Y.end());
  for (const int n : {1, 2, 3}) {
    REQUIRE(a.call<plain::plain_feed_forward>({.threads = n}).ok());
    CHECK(std::memcmp(Y.data(), a.Y.data(), Y.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("stages by loops take the caller's memory") {
  feed_forward_arguments a;
  qkv::workspace counted;
  REQUIRE(a.call<plain::plain_feed_forward>({.workspace = &counted}).ok());
  CHECK(counted.peak() >= 2 * 33 * 96 * sizeof(float));  // the hidden layer
  CHECK(counted.in_use() == 0);
  qkv::workspace none(std::size_t{0});
  const qkv::status by_loops = a.call<plain::plain_feed_forward>({.workspace = &none}),
                    by_halide = a.call<specs::feed_forward>({.workspace = &none});
  CHECK_FALSE(by_loops.ok());
  CHECK(by_loops.code() == by_halide.code());
}

TEST_CASE("stages by loops refuse the same calls") {
  feed_forward_arguments a;
  const auto text = [&](const qkv::status &s) {
    const std::string t = s.text();
    return t.substr(t.find("feed_forward"));
  };
  a.Y(0, 0, 0) = 5;
  qkv::tensor_view<qkv::f32, batch, seq, d_model> shorter(a.Y.data(), {2, 32});
  const qkv::status by_loops =
                        qkv::call<plain::plain_feed_forward>(a.X, a.W1, a.b1, a.W2, a.b2, shorter),
                    by_halide =
                        qkv::call<specs::feed_forward>(a.X, a.W1, a.b1, a.W2, a.b2, shorter);
  CHECK(text(by_loops) == text(by_halide));
  CHECK(a.Y(0, 0, 0) == 5);
}

TEST_CASE("of two orders of contraction by loops, the call computes one") {
  const auto loops_of = [](std::int64_t queries, std::int64_t keys) {
    using namespace orders;
    qkv::tensor<qkv::f32, orders::batch, orders::heads, orders::seq, orders::d_k> Q({1, queries});
    qkv::tensor<qkv::f32, orders::batch, orders::heads, orders::mem, orders::d_k> K({1, keys});
    qkv::tensor<qkv::f32, orders::batch, orders::heads, orders::mem, orders::d_v> V({1, keys});
    qkv::tensor<qkv::f32, orders::batch, orders::heads, orders::seq, orders::d_v> O({1, queries});
    counting threads;
    REQUIRE(qkv::call<plain::plain_linear_either_way>({.executor = &threads}, Q, K, V, O).ok());
    return threads.loops;
  };
  CHECK(loops_of(1, 1000) == 2);     // scores, O
  CHECK(loops_of(1000, 1000) == 3);  // dot(K, V), dot(Q, dot(K, V)), O
}
