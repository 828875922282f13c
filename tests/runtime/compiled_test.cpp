// SPDX-License-Identifier: BSL-1.0
// Compiled code under the runtime: bitwise equal results on any number of threads, failing memory
// as a status, the caller's floating-point state left alone, and the same numbers on a device.
#include "compiled.hpp"

#include <sys/mman.h>

#include <qkv/call.hpp>
#include <qkv/device.hpp>
#include <qkv/registry.hpp>

#include <cerrno>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "in_child.hpp"
#include "tests/catch.hpp"
#include "tests/support/places.hpp"

namespace {

using namespace compiled;
using qkv::options;
using qkv::status_code;
using qkv::testing::places;
using queries = tensor<batch, heads, seq, d>;
using keys = tensor<batch, heads, kv, d>;

template <class Tensor>
Tensor random(Tensor t, unsigned seed) {
  std::mt19937 numbers(seed);
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(numbers);
  return t;
}

template <class Tensor>
bool same_bits(const Tensor &a, const Tensor &b) {
  return a.elements() == b.elements() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.elements()) * sizeof(float)) ==
             0;
}

template <class Tensor>
float distance(const Tensor &a, const Tensor &b) {
  float most = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const float x = std::abs(a.data()[i] - b.data()[i]);
    most = x <= most ? most : x;  // a NaN stays
  }
  return most;
}

// One problem with its result on one thread.
struct problem {
  extents<decltype(extent<batch>(0)), decltype(extent<seq>(0)), decltype(extent<kv>(0))> sizes{
      extent<batch>(2), extent<seq>(131), extent<kv>(97)};
  queries Q = random(queries(sizes), 1), O{sizes};
  keys K = random(keys(sizes), 2), V = random(keys(sizes), 3);

  problem() { REQUIRE(call(O, {.threads = 1}).ok()); }
  qkv::status call(queries &o, const qkv::options &how) const {
    return qkv::call<attend>(how, Q, K, V, o);
  }
};

// Threads of the caller's: every task on a thread of its own.
struct one_thread_each : qkv::executor {
  int tasks = 0;
  void run(int n, void (*task)(void *, int), void *state) override {
    tasks += n;
    std::vector<std::thread> all;
    for (int i = n; i-- > 0;) all.emplace_back(task, state, i);
    for (std::thread &t : all) t.join();
  }
};

struct throwing : qkv::executor {
  void run(int, void (*)(void *, int), void *) override { throw 1; }
};

struct one_too_many : one_thread_each {
  void run(int n, void (*task)(void *, int), void *state) override {
    one_thread_each::run(n, task, state);
    task(state, n);
    task(state, -1);
  }
};

struct idle : qkv::executor {
  void run(int, void (*)(void *, int), void *) override {}
};

}  // namespace

TEST_CASE("the number of threads does not change a bit") {
  const problem p;
  for (int threads : {1, 2, 3, 4, 8, 16}) {
    queries o(p.sizes);
    for (int repeat = 0; repeat < 10; ++repeat) {
      REQUIRE(p.call(o, {.threads = threads}).ok());
      CHECK(same_bits(o, p.O));
    }
  }
}

TEST_CASE("every variant that this processor can run computes the same") {
  const problem p;
  const qkv_kernel &table = *qkv::kernels("attend").at(0);
  int ran = 0;
  for (int i = 0; i < table.n_variants; ++i) {
    const qkv_variant &v = table.variants[i];
    if (v.device != std::string("host")) continue;
    qkv_kernel alone = table;
    alone.n_variants = 1;
    alone.variants = &v;
    queries o(p.sizes);
    const qkv_tensor all[] = {p.Q.descriptor(), p.K.descriptor(), p.V.descriptor(), o.descriptor()};
    const qkv::status s = qkv::run(alone, all);
    if (!s.ok()) {
      CHECK(s.code() == status_code::unsupported);
      CHECK(s.text() ==
            std::string("attend: this processor cannot run what the kernel was built for: ") +
                v.machine);
      continue;
    }
    ++ran;
    CHECK(distance(o, p.O) < 1e-5f);
  }
  CHECK(ran > 0);
}

TEST_CASE("the caller's executor") {
  const problem p;
  one_thread_each mine;
  queries o(p.sizes);
  REQUIRE(p.call(o, {.executor = &mine}).ok());
  CHECK(same_bits(o, p.O));
  CHECK(mine.tasks > 0);
  throwing bad;
  const qkv::status s = p.call(o, {.executor = &bad});
  CHECK(s.code() == status_code::kernel_failed);
  CHECK(std::string(s.text()).find("the caller's executor threw an exception") !=
        std::string::npos);
  one_too_many eager;
  CHECK(std::string(p.call(o, {.executor = &eager}).text()).find(" tasks and others") !=
        std::string::npos);
  CHECK(same_bits(o, p.O));
  idle lazy;
  const qkv::status t = p.call(o, {.executor = &lazy});
  CHECK(t.code() == status_code::kernel_failed);
  CHECK(std::string(t.text()).find("the caller's executor ran 0 of ") != std::string::npos);
}

TEST_CASE("calls from several threads at once") {
  const problem p;
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&, t] {
      queries o(p.sizes);
      for (int i = 0; i < 8; ++i)
        wrong += !p.call(o, {.threads = 1 + t % 3}).ok() || !same_bits(o, p.O);
    });
  }
  for (std::thread &t : callers) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("every allocation may fail") {
  const problem p;
  std::size_t need = 0;
  REQUIRE(qkv::workspace_bytes<attend>(need, {.threads = 2}, p.Q, p.K, p.V, queries(p.sizes)).ok());
  std::vector<char> memory(need + 64);
  qkv::workspace mine(memory.data(), memory.size());
  queries o(p.sizes);
  REQUIRE(p.call(o, {.threads = 2, .workspace = &mine}).ok());
  CHECK(same_bits(o, p.O));
  CHECK(mine.in_use() == 0);
  for (std::size_t most = 0; most < need; most += need / 40 + 1) {
    qkv::workspace small(most);
    const qkv::status s = p.call(o, {.threads = 2, .workspace = &small});
    if (!s.ok()) {
      CHECK(s.code() == status_code::out_of_memory);
      CHECK(s.text() == std::string("attend: the workspace has no more memory"));
    }
    CHECK(small.in_use() == 0);
  }
  REQUIRE(p.call(o, {.threads = 2}).ok());
  CHECK(same_bits(o, p.O));
}

TEST_CASE("extra memory does not grow with the scores") {
  const auto extra = [](int n, int m) {
    const extents sizes(extent<batch>(1), extent<seq>(n), extent<kv>(m));
    qkv::workspace mine;
    queries o(sizes);
    const keys K(sizes);
    REQUIRE(
        qkv::call<attend>(qkv::options{.threads = 1, .workspace = &mine}, queries(sizes), K, K, o)
            .ok());
    return mine.peak();
  };
  const std::size_t least = extra(512, 512);
  CHECK(extra(512, 8192) <= 2 * least);
  CHECK(extra(2048, 2048) <= 8 * least);
}

TEST_CASE("the caller's floating-point state and errno") {
  const problem p;
  queries o(p.sizes);
  errno = 77;
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  const qkv::status s = p.call(o, {.threads = 2});
  const int rounding = std::fegetround(), flags = std::fetestexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_TONEAREST);
  REQUIRE(s.ok());
  CHECK(errno == 77);
  CHECK(rounding == FE_UPWARD);
  CHECK(flags == 0);
  CHECK(same_bits(o, p.O));
}

TEST_CASE("sizes at the ends") {
  for (const auto &[b, n, m] :
       {std::tuple{0, 3, 3}, {2, 0, 3}, {1, 3, 0}, {1, 1, 1}, {3, 1, 257}}) {
    const extents sizes(extent<batch>(b), extent<seq>(n), extent<kv>(m));
    queries o(sizes);
    o.fill(-7);
    REQUIRE(qkv::call<attend>(random(queries(sizes), 1), random(keys(sizes), 2),
                              random(keys(sizes), 3), o)
                .ok());
    if (m == 0) CHECK(std::all_of(o.begin(), o.end(), [](float x) { return x == 0; }));
    if (m > 0) CHECK(std::none_of(o.begin(), o.end(), [](float x) { return x == -7; }));
  }
}

TEST_CASE("growing and shrinking calls") {
  for (int n : {64, 1, 65, 0, 300, 7}) {
    const extents sizes(extent<batch>(1), extent<seq>(n), extent<kv>(n));
    const queries Q = random(queries(sizes), 4);
    queries a(sizes), b(sizes);
    const keys K = random(keys(sizes), 5);
    REQUIRE(qkv::call<attend>(Q, K, K, a).ok());
    REQUIRE(qkv::call<attend>(qkv::options{.threads = 3}, Q, K, K, b).ok());
    CHECK(same_bits(a, b));
  }
}

TEST_CASE("prepared params give the same bits") {
  const extents sizes(extent<batch>(2), extent<seq>(37));
  const auto X = random(tensor<batch, seq, d_model>(sizes), 6);
  auto W = random(tensor<d_model, heads, d>(), 7);
  auto b = random(tensor<heads, d>(), 8);
  queries y(sizes), z(sizes);
  REQUIRE(qkv::call<compiled::project>(X, W, b, y).ok());
  const auto m = qkv::prepare<compiled::project>(W, b);
  W.fill(std::numeric_limits<float>::quiet_NaN());
  b.fill(std::numeric_limits<float>::quiet_NaN());
  REQUIRE(m(X, z).ok());
  CHECK(same_bits(y, z));
}

// Of sums of 96 products in another order, or of products of 22 bits; results are as large as 30.
constexpr float sums_of_96 = 4e-5f;

TEST_CASE("params on a device") {
  const extents sizes(extent<batch>(2), extent<seq>(37));
  const auto X = random(tensor<batch, seq, d_model>(sizes), 6);
  const auto W = random(tensor<d_model, heads, d>(), 7);
  const auto b = random(tensor<heads, d>(), 8);
  queries y(sizes);
  REQUIRE(qkv::call<compiled::project>(X, W, b, y).ok());
  for (const options &how : places()) {
    if (how.on == qkv::device::host) continue;
    const auto uploaded = [&] {
      auto W_copy = W;
      auto b_copy = b;
      auto m = qkv::prepare<compiled::project>(how, W_copy, b_copy);
      W_copy.fill(std::numeric_limits<float>::quiet_NaN());
      b_copy.fill(std::numeric_limits<float>::quiet_NaN());
      return m;
    }();
    queries z(sizes), again(sizes);
    REQUIRE(uploaded(X, z).ok());  // the params decide where
    CHECK(distance(y, z) < sums_of_96);

    const auto packed = qkv::prepare<compiled::project>(W, b);
    again.fill(-7);
    const qkv::status s = packed(how, X, again);
    CHECK(s.code() == status_code::wrong_device);
    CHECK(s.text() ==
          std::string("project: its params were prepared for host but the call runs on ") +
              (how.on == qkv::device::cuda ? "cuda" : "opencl"));
    CHECK(std::all_of(again.begin(), again.end(), [](float x) { return x == -7; }));

    qkv::device_memory memory;
    REQUIRE(qkv::device_memory::make(how, 4, W.elements(), memory).ok());
    REQUIRE(memory.copy_from(W.data()).ok());
    const qkv::device_view<d_model, heads, d> there(how.on, memory.handle());
    again.fill(-7);
    REQUIRE(qkv::call<compiled::project>(X, there, b, again).ok());
    CHECK(same_bits(z, again));

    const qkv::device other = how.on == qkv::device::cuda ? qkv::device::opencl : qkv::device::cuda;
    CHECK(uploaded({.on = other}, X, again).code() == status_code::wrong_device);
    CHECK(qkv::prepare<compiled::project>({.on = other}, there, b).status().code() ==
          status_code::wrong_device);
  }
}

TEST_CASE("params whose strides are too wide for compiled code") {
  const extents sizes(extent<batch>(1), extent<seq>(3));
  const auto X = random(tensor<batch, seq, d_model>(sizes), 6);
  const auto W = random(tensor<d_model, heads, d>(), 7);
  const auto b = random(tensor<heads, d>(), 8);
  queries y(sizes), z(sizes);
  REQUIRE(qkv::call<compiled::project>(X, W, b, y).ok());
  const std::int64_t rows = W.extent(0), row = W.elements() / rows;
  const std::int64_t stride = (std::int64_t{1} << 31) / rows + 1000;  // times rows: above 2^31
  const auto bytes = static_cast<std::size_t>((rows - 1) * stride + row) * sizeof(float);
  void *const sparse = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(sparse != MAP_FAILED);
  auto *const first = static_cast<float *>(sparse);
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(W.data() + r * row, row, first + r * stride);
  const qkv::const_tensor_view<d_model, heads, d> wide(first, {rows, W.extent(1), W.extent(2)},
                                                       {stride, W.extent(2), 1});
  for (const options &how : places()) {
    z.fill(-7);
    REQUIRE(qkv::call<compiled::project>(how, X, wide, b, z).ok());
    CHECK(distance(y, z) < sums_of_96);
    z.fill(-7);
    REQUIRE(qkv::prepare<compiled::project>(how, wide, b)(X, z).ok());
    CHECK(distance(y, z) < sums_of_96);
  }
  munmap(sparse, bytes);
}

TEST_CASE("memory of a device is counted and limited") {
  const problem p;
  for (const options &how : places()) {
    if (how.on == qkv::device::host) continue;
    qkv::device_pool &pool = qkv::pool_of(how.on);
    const std::size_t before = pool.in_use(),
                      tensors = sizeof(float) *
                                static_cast<std::size_t>(2 * p.Q.elements() + 2 * p.K.elements());
    pool.reset_peak();
    queries o(p.sizes);
    REQUIRE(p.call(o, how).ok());
    CHECK(pool.in_use() == before);
    CHECK(pool.peak() >= before + tensors);
    // The pool counts intermediates of compiled code, too.
    tensor<seq> A({600}), S({600});
    tensor<kv> B({600});
    pool.reset_peak();
    REQUIRE(qkv::call<pairs>(how, A, B, S).ok());
    CHECK(pool.peak() >= before + 600 * 600 * sizeof(float));
    {
      qkv::device_memory m;
      REQUIRE(qkv::device_memory::make(how, 4, 100, m).ok());
      CHECK(pool.in_use() == before + 400);
    }
    CHECK(pool.in_use() == before);
    pool.trim();

    const struct unlimited {
      qkv::device_pool &pool;
      ~unlimited() { pool.limit(std::numeric_limits<std::size_t>::max()); }
    } again{pool};
    pool.limit(before + tensors - 4);
    o.fill(-7);
    const qkv::status s = p.call(o, how);
    CHECK(s.code() == status_code::out_of_memory);
    CHECK(std::string(s.text()).starts_with("attend: no memory on "));
    CHECK(std::all_of(o.begin(), o.end(), [](float x) { return x == -7; }));
    pool.limit(before + 600 * 600 * sizeof(float));
    CHECK(qkv::call<pairs>(how, A, B, S).text() ==
          std::string("pairs: the device's memory is at its limit"));
    qkv::device_memory m;
    CHECK(qkv::device_memory::make(how, 4, 1 << 20, m).code() == status_code::out_of_memory);
    CHECK(pool.in_use() == before);
    pool.limit(std::numeric_limits<std::size_t>::max());
    REQUIRE(p.call(o, how).ok());
  }
}

TEST_CASE("a device") {
  const problem p;
  for (const qkv::device on : {qkv::device::opencl, qkv::device::cuda}) {
    queries o(p.sizes);
    o.fill(-7);
    const qkv::status s = p.call(o, {.on = on});
    if (!s.ok()) {
      // Without a GPU, CUDA's driver may be there and fail.
      CHECK((s.code() == status_code::no_device ||
             (on == qkv::device::cuda && s.code() == status_code::device_failed)));
      CHECK(std::all_of(o.begin(), o.end(), [](float x) { return x == -7; }));
      WARN(s.text());
      continue;
    }
    CHECK(distance(o, p.O) < 1e-5f);
    if (on == qkv::device::opencl) {
      queries untouched(p.sizes);
      CHECK(p.call(untouched, {.on = on, .device_stream = &o}).text() ==
            std::string("attend: OpenCL runs in the runtime's own context and queue"));
    }
    const auto upload = [&](const auto &t) {
      qkv::device_memory m;
      REQUIRE(qkv::device_memory::make({.on = on}, 4, t.elements(), m).ok());
      REQUIRE(m.copy_from(t.data()).ok());
      return m;
    };
    const auto Q = upload(p.Q), K = upload(p.K), V = upload(p.V), O = upload(p.Q);
    const qkv::device_view<batch, heads, seq, d> q(on, Q.handle(), p.sizes),
        out(on, O.handle(), p.sizes);
    const qkv::device_view<batch, heads, kv, d> k(on, K.handle(), p.sizes),
        v(on, V.handle(), p.sizes);
    REQUIRE(qkv::call<attend>(q, k, v, out).ok());
    queries back(p.sizes);
    REQUIRE(O.copy_to(back.data()).ok());
    CHECK(same_bits(back, o));
    CHECK(qkv::call<attend>(q, k, v, q).text() == std::string("attend: output O overlaps input Q"));
  }
}

TEST_CASE("children of a process that used threads and a device") {
  const problem p;
  queries O(p.sizes);
  REQUIRE(p.call(O, {.threads = 4}).ok());
  const qkv::status device = p.call(O, {.on = qkv::device::opencl});
  CHECK(in_child([&] {
          O.fill(0);
          return p.call(O, {.threads = 4}).ok() && same_bits(O, p.O);
        }) == "");
  if (device.code() == status_code::no_device) return;
  REQUIRE(device.ok());
  qkv::device_memory memory;
  REQUIRE(qkv::device_memory::make({.on = qkv::device::opencl}, 4, 100, memory).ok());
  CHECK(in_child([&] {
          qkv::device_memory more;
          float x[100];
          return p.call(O, {.on = qkv::device::opencl}).code() == status_code::device_failed &&
                 memory.copy_to(x).code() == status_code::device_failed &&
                 !qkv::device_memory::make({.on = qkv::device::opencl}, 4, 100, more).ok();
        }) == "");
  CHECK(p.call(O, {.on = qkv::device::opencl}).ok());
}
