// SPDX-License-Identifier: BSL-1.0
// The typed call: what fits compiles and runs, what does not fit is named by the compiler.
#include <qkv/core/says.hpp>

#include "fake.hpp"
#include "tests/catch.hpp"
#include "typed.hpp"

namespace {

using namespace spec;
using qkv::status_code;

const fake::loaded registered("fake", {&fake::blend().table, &fake::project().table});

template <auto... Spec>
tensor<Spec...> &some();

template <auto K, class... A>
using called = decltype(qkv::call<K>(std::declval<A>()...));

using T_q = tensor<batch, seq, d>;
using T_k = tensor<batch, kv, d>;

static_assert(std::is_same_v<called<blend, T_q &, T_k &, T_k &, T_q &>, qkv::status>);
static_assert(std::is_same_v<called<blend, const T_q &, const T_k &, tensor_view<batch, kv, d>,
                                    const tensor_view<batch, seq, d>>,
                             qkv::status>);
static_assert(
    says<called<blend, T_q &, T_k &, T_q &>>("call<blend>: 3 given, 4 needed blend(Q, K, V, O)"));
static_assert(says<called<blend, T_q &, T_q &, T_k &, T_q &>>(
    "call<blend>: argument 2: what Q takes, where K belongs K[batch, kv, d=4] given[batch, seq, "
    "d=4]"));
static_assert(says<called<blend, T_q &, T_k &, T_k &, const T_q &>>(
    "call<blend>: O is written, but const is given"));
static_assert(says<called<blend, T_q &, T_k &, T_k &, const_tensor_view<batch, seq, d>>>(
    "call<blend>: O is written, but const is given"));
static_assert(says<called<blend, T_q &, int, T_k &, T_q &>>(
    "call<blend>: argument 2 is not a tensor K[batch, kv, d=4]"));
static_assert(says<called<blend, T_q &, tensor<f64, batch, kv, d> &, T_k &, T_q &>>(
    "call<blend>: argument 2: K is f32 but f64 is given K[batch, kv, d=4] given[batch, kv, d=4] of "
    "f64"));
static_assert(says<called<blend, T_q &, tensor<batch, d, kv> &, T_k &, T_q &>>(
    "call<blend>: argument 2: this is not K K[batch, kv, d=4] given[batch, d=4, kv]"));
static_assert(says<decltype(qkv::call<blend>(std::declval<qkv::options>(), some<batch, seq, d>()))>(
    "call<blend>: 1 given, 4 needed blend(Q, K, V, O)"));
static_assert(says<decltype(qkv::prepare<spec::project>())>(
    "prepare<project>: 0 given, 1 needed project(W)"));
static_assert(says<decltype(qkv::prepare<spec::project>(some<seq, k>()))>(
    "prepare<project>: argument 1: what X takes, where W belongs W[k, n, m=3] given[seq, k]"));
static_assert(says<decltype(std::declval<qkv::prepared_kernel<spec::project>>()(some<seq, k>()))>(
    "prepared<project>: 1 given, 2 needed project(X, Y)"));

}  // namespace

TEST_CASE("a typed call") {
  const extents sizes(extent<batch>(2), extent<seq>(3), extent<kv>(5));
  T_q Q(sizes), O(sizes);
  T_k K(sizes), V(sizes);
  Q.fill(1);
  K.fill(2);
  V.fill(3);
  REQUIRE(qkv::call<blend>(Q, K, V, O).ok());
  CHECK(std::all_of(O.begin(), O.end(), [](float x) { return x == 31; }));
  REQUIRE(qkv::call<blend>(qkv::options{.threads = 2}, Q, K.view(),
                           const_tensor_view<batch, kv, d>(V.view()), O.view())
              .ok());
}

TEST_CASE("an axis may share its size with one of fixed size") {
  int calls = 0;
  static int *count = &calls;
  fake::library l("aliased", {{"seq"}, {"d", 4}, {"e", 4}},
                  {{"X", QKV_IN, QKV_F32, {0, 1}},
                   {"Z", QKV_IN, QKV_F32, {0, 2}},
                   {"Y", QKV_OUT, QKV_F32, {0, 1}}},
                  [](void **) { return ++*count, 0; });
  const fake::loaded loaded("aliased", {&l.table});
  tensor<seq, d> X({3}), Y({3});
  tensor<seq, e> Z({3});
  CHECK(qkv::call<aliased>(X, Z, Y).ok());
  CHECK(calls == 1);
}

TEST_CASE("sizes are checked by the call") {
  T_q Q({2, 3}), O({2, 3});
  T_k K({2, 5}), V({2, 4});
  O.fill(-7);
  const qkv::status s = qkv::call<blend>(Q, K, V, O);
  CHECK(s.code() == status_code::wrong_extent);
  CHECK(s.text() == std::string("blend: axis kv is 4 in V but 5 in K"));
  CHECK(std::all_of(O.begin(), O.end(), [](float x) { return x == -7; }));
}

TEST_CASE("tensors that cannot be") {
  T_q Q({2, 3}), O({2, 3});
  T_k K({-2, 5}), V({2, std::int64_t{1} << 40});
  CHECK(K.data() == nullptr);
  CHECK(V.data() == nullptr);
  CHECK(qkv::call<blend>(Q, K, V, O).text() ==
        std::string("blend: axis batch is -2 in K but must be at least 0"));
  T_q huge({std::int64_t{1} << 62, std::int64_t{1} << 62});
  CHECK(huge.data() == nullptr);
  T_k none;
  CHECK(none.elements() == 0);
}

TEST_CASE("strided views") {
  std::vector<float> memory(2 * 5 * 12, 2);
  tensor_view<batch, kv, d> K(memory.data(), {2, 5}, {60, 12, 1}),
      V(memory.data() + 4, {2, 5}, {60, 12, 1});
  T_q Q({2, 3}), O({2, 3});
  REQUIRE(qkv::call<blend>(Q, K, V, O).ok());
  CHECK(O(1, 2, 3) == 20);
  CHECK(K.stride<kv>() == 12);
  CHECK(K.extent<kv>() == 5);
  CHECK(&K(1, 2, 3) == memory.data() + 60 + 24 + 3);
}

TEST_CASE("views under other names") {
  T_q Q({2, 5}), O({2, 5});
  REQUIRE(qkv::call<blend>(Q, view_as<batch, kv, d>(Q), view_as<batch, kv, d>(Q), O).ok());
}

TEST_CASE("copies of tensors are deep") {
  T_q a({1, 2});
  a.fill(1);
  T_q b = a;
  b.fill(2);
  CHECK(a(0, 1, 3) == 1);
  a = b;
  CHECK(a(0, 1, 3) == 2);
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
}

TEST_CASE("kernels that are not there") {
  T_k K({2, 5});
  tensor<seq, k> X({3, 5});
  qkv::status s = qkv::call<absent>(X, tensor<seq, k>(X));
  CHECK(s.code() == status_code::not_linked);
  CHECK(s.text() ==
        std::string("absent: no library with this kernel is linked in: link the target that "
                    "qkv_add_kernels made for it"));
  tensor<batch, seq, m> other({2, 3});
  s = qkv::call<newer::blend>(other, K, K, tensor<batch, seq, m>(other));
  CHECK(s.code() == status_code::wrong_version);
  CHECK(s.text() ==
        std::string(
            "blend: the library that is linked in was built from another version of the spec: "
            "Q is [f32 batch seq d=4] there, [f32 batch seq m=3] here"));
}

TEST_CASE("params are packed once") {
  const extents sizes(extent<seq>(2), extent<k>(5), extent<n>(3));
  tensor<seq, k> X(sizes);
  tensor<k, n, m> W(sizes);
  tensor<seq, n, m> Y(sizes), Z(sizes);
  for (int i = 0; i < 45; ++i) W.data()[i] = float(i);
  for (int i = 0; i < 10; ++i) X.data()[i] = float(i % 4);
  REQUIRE(qkv::call<spec::project>(X, W, Z).ok());
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < 9; ++i) {
      float sum = 0;
      for (int r = 0; r < 5; ++r) sum += X(s, r) * W(r, i / 3, i % 3);
      CHECK(Z(s, i / 3, i % 3) == sum);
    }
  }
  auto prepared = qkv::prepare<spec::project>(W);
  REQUIRE(prepared.ok());
  W.fill(0);  // the copy counts
  REQUIRE(prepared(X, Y).ok());
  CHECK(std::equal(Y.begin(), Y.end(), Z.begin()));
  const auto copy = prepared;
  prepared = qkv::prepare<spec::project>(W);
  REQUIRE(copy(qkv::options{}, X, Y).ok());
  CHECK(std::equal(Y.begin(), Y.end(), Z.begin()));
  tensor<seq, k> wrong({2, 6});
  CHECK(copy(wrong, Y).text() == std::string("project: axis k is 5 in W but 6 in X"));
}

TEST_CASE("params that are wrong") {
  const tensor_view<k, n, m> W(nullptr, {5, 3});
  const auto prepared = qkv::prepare<spec::project>(W);
  CHECK(!prepared.ok());
  tensor<seq, k> X({2, 5});
  tensor<seq, n, m> Y({2, 3});
  CHECK(prepared(X, Y).text() == std::string("project: W has no data"));
  const tensor_view<k, n, m> full(X.data(), {5, 3, 4});
  CHECK(qkv::prepare<spec::project>(full).status().text() ==
        std::string("project: axis m is 4 in W but must be 3"));
}

TEST_CASE("a workspace of the right size") {
  const extents sizes(extent<seq>(2), extent<k>(5), extent<n>(3));
  tensor<seq, k> X(sizes);
  tensor<k, n, m> W(sizes);
  tensor<seq, n, m> Y(sizes);
  Y.fill(-7);
  std::size_t bytes = 0;
  REQUIRE(qkv::workspace_bytes<spec::project>(bytes, qkv::options{.threads = 1}, X, W, Y).ok());
  CHECK(std::all_of(Y.begin(), Y.end(), [](float x) { return x == -7; }));
  std::vector<char> memory(bytes);
  qkv::workspace mine(memory.data(), memory.size()), small(memory.data(), 64);
  CHECK(qkv::call<spec::project>(qkv::options{.workspace = &mine}, X, W, Y).ok());
  const qkv::status s = qkv::call<spec::project>(qkv::options{.workspace = &small}, X, W, Y);
  CHECK(s.code() == status_code::out_of_memory);
  CHECK(s.text() == std::string("project: no memory for packed params (240 bytes)"));
}

TEST_CASE("empty tensors") {
  T_q Q({2, 3}), O({2, 3}), no_q({2, 0});
  T_k K({2, 0});
  Q.fill(4);
  REQUIRE(qkv::call<blend>(Q, K, K, O).ok());
  CHECK(O(1, 2, 3) == 4);
  K = T_k({2, 5});
  CHECK(qkv::call<blend>(no_q, K, K, T_q({2, 0})).ok());
  const tensor_view<batch, kv, d> null(nullptr, {2, 0});
  REQUIRE(qkv::call<blend>(Q, null, null, O).ok());
}

TEST_CASE("a call may add to its outputs") {
  const extents sizes(extent<batch>(2), extent<seq>(3), extent<kv>(5));
  T_q Q(sizes), O(sizes);
  T_k K(sizes), V(sizes);
  Q.fill(1);
  K.fill(2);
  V.fill(3);
  O.fill(0.5f);
  const qkv::options adds{.accumulate = true};
  REQUIRE(qkv::call<blend>(adds, Q, K, V, O).ok());
  REQUIRE(qkv::call<blend>(adds, Q, K, V, O).ok());
  CHECK(std::all_of(O.begin(), O.end(), [](float x) { return x == 62.5f; }));
}

TEST_CASE("a call that adds leaves its outputs as they were where it fails") {
  T_q Q({2, 3}), O({2, 3});
  T_k K({2, 5}), V({2, 5});
  O.fill(-7);
  qkv::workspace small(64);
  const qkv::status s =
      qkv::call<blend>(qkv::options{.workspace = &small, .accumulate = true}, Q, K, V, O);
  CHECK(s.code() == status_code::out_of_memory);
  CHECK(s.text() == std::string("blend: no memory for O (96 bytes)"));
  CHECK(std::all_of(O.begin(), O.end(), [](float x) { return x == -7; }));
}
