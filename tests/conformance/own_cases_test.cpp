// SPDX-License-Identifier: BSL-1.0
// Cases of our own where ONNX has none that would notice a mistake: masks that hide something, rows
// with nothing left, large scores, NaN in what is hidden, sizes that no tile divides. Held against
// plain loops in double precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <qkv/call.hpp>
#include <string>
#include <vector>

#include "onnx_rotary_specs.hpp"
#include "own_specs.hpp"
#include "tests/catch.hpp"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using Q_ = qkv::tensor<onnx::batch, onnx::heads, onnx::seq, onnx::d_k>;
using K_ = qkv::tensor<onnx::batch, onnx::heads, onnx::kv, onnx::d_k>;
using V_ = qkv::tensor<onnx::batch, onnx::heads, onnx::kv, onnx::d_v>;
using Y_ = qkv::tensor<onnx::batch, onnx::heads, onnx::seq, onnx::d_v>;
using scores_ = qkv::tensor<onnx::batch, onnx::heads, onnx::seq, onnx::kv>;
using lengths_ = qkv::tensor<qkv::i32, onnx::batch>;
using keep_ = qkv::tensor<qkv::b8, onnx::batch, onnx::heads, onnx::seq, onnx::kv>;

// The same numbers on every machine, from -1 to 1.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  float uniform() { return static_cast<float>(bits() >> 40) * 0x1p-23f - 1; }
  bool chance(int of) { return bits() % static_cast<unsigned>(of) == 0; }

 private:
  std::uint64_t state_;
};

template <class Tensor>
void fill(Tensor &t, random_numbers &random, float scale) {
  for (auto &x : t) x = scale * random.uniform();
}

// Attention by its definition. Positions with -inf in the bias are not read: neither keys nor
// values.
struct question {
  std::int64_t batches, heads, group, n, m, d_k, d_v;
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t g, std::int64_t i,
                       std::int64_t c)>
      Q;
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t j, std::int64_t c)> K, V;
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> bias;
  std::optional<double> scale, cap;
};

// Row by row: the result for a query, [d_v], and its weights and scores of each key.
struct row {
  std::int64_t b, h, g, i;
  std::vector<double> scores, capped, biased, weights, y;
};

row answer(const question &q, std::int64_t b, std::int64_t h, std::int64_t g, std::int64_t i) {
  const double scale = q.scale.value_or(1 / std::sqrt(static_cast<double>(q.d_k)));
  row r{b, h, g, i, {}, {}, {}, {}, std::vector<double>(static_cast<std::size_t>(q.d_v), 0)};
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t j = 0; j < q.m; ++j) {
    const double bias = q.bias ? q.bias(b, h, i, j) : 0;
    double s = 0;
    for (std::int64_t c = 0; c < q.d_k; ++c) s += q.Q(b, h, g, i, c) * q.K(b, h, j, c);
    r.scores.push_back(s *= scale);
    r.capped.push_back(s = q.cap ? *q.cap * std::tanh(s / *q.cap) : s);
    r.biased.push_back(s = std::isinf(bias) ? bias : s + bias);
    most = std::max(most, s);
  }
  for (double u : r.biased) {
    r.weights.push_back(std::isinf(u) ? 0 : std::exp(u - most));
    sum += r.weights.back();
  }
  for (std::int64_t j = 0; j < q.m; ++j) {
    double &w = r.weights[static_cast<std::size_t>(j)];
    if (w == 0) continue;
    w /= sum;
    for (std::int64_t c = 0; c < q.d_v; ++c)
      r.y[static_cast<std::size_t>(c)] += w * q.V(b, h, j, c);
  }
  return r;
}

// One number of a result: empty when right. Zeros and infinities are exact.
std::string judge(const std::string &what, const row &r, std::size_t at, double got, double want,
                  double tolerance) {
  if (got == want) return {};
  const bool exact = want == 0 || std::isinf(want);
  if (!exact && std::abs(got - want) <= tolerance * std::max(1., std::abs(want))) return {};
  return what + " of sequence " + std::to_string(r.b) + ", head " + std::to_string(r.h) + "." +
         std::to_string(r.g) + ", query " + std::to_string(r.i) + " is " + std::to_string(got) +
         " where " + std::to_string(want) + " is expected, at " + std::to_string(at);
}

// Compares every row: `check` returns a description of an error in it.
std::string each_row(const question &q, const std::function<std::string(const row &)> &check) {
  for (std::int64_t b = 0; b < q.batches; ++b)
    for (std::int64_t h = 0; h < q.heads; ++h)
      for (std::int64_t g = 0; g < q.group; ++g)
        for (std::int64_t i = 0; i < q.n; ++i)
          if (std::string wrong = check(answer(q, b, h, g, i)); !wrong.empty()) return wrong;
  return {};
}

template <class Element>
std::string along(const std::string &what, const row &r, const std::vector<double> &want,
                  Element got, double tolerance) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    const double is = got(static_cast<std::int64_t>(k));
    if (std::string wrong = judge(what, r, k, is, want[k], tolerance); !wrong.empty()) return wrong;
  }
  return {};
}

// Queries, keys, values and room for a result; sizes that no tile divides.
struct setting {
  explicit setting(std::uint64_t seed, std::int64_t n = 129, std::int64_t m = 257,
                   std::int64_t d_k = 24, std::int64_t d_v = 33, float scale = 2)
      : random(seed),
        Q({2, 2, n, d_k}),
        K({2, 2, m, d_k}),
        V({2, 2, m, d_v}),
        Y({2, 2, n, d_v}),
        scores({2, 2, n, m}),
        q{2, 2, 1, n, m, d_k, d_v, {}, {}, {}, {}, {}, {}} {
    fill(Q, random, scale);
    fill(K, random, scale);
    fill(V, random, 1);
    Y.fill(not_a_number);
    scores.fill(not_a_number);
    q.Q = [this](auto b, auto h, auto, auto i, auto c) { return Q(b, h, i, c); };
    q.K = [this](auto b, auto h, auto j, auto c) { return K(b, h, j, c); };
    q.V = [this](auto b, auto h, auto j, auto c) { return V(b, h, j, c); };
  }
  setting(const setting &) = delete;

  // Describes an error in Y; empty if there is none.
  std::string differs(double tolerance = 1e-5) const {
    return each_row(q, [&](const row &r) {
      return along("Y", r, r.y, [&](auto c) { return Y(r.b, r.h, r.i, c); }, tolerance);
    });
  }
  // The same of the scores, where `want` is one of the row's: scores, capped, biased, weights.
  std::string scores_differ(std::vector<double> row::*want) const {
    return each_row(q, [&](const row &r) {
      return along("score", r, r.*want, [&](auto j) { return scores(r.b, r.h, r.i, j); }, 1e-5);
    });
  }

  random_numbers random;
  Q_ Q;
  K_ K;
  V_ V;
  Y_ Y;
  scores_ scores;
  question q;
};

// True and False by chance; query 5 of every head sees nothing, query 6 the last key only.
keep_ some_keys(setting &s) {
  keep_ keep({s.q.batches, s.q.heads, s.q.n, s.q.m});
  for (auto &k : keep) k = s.random.chance(3) ? 0 : 1;
  for (std::int64_t b = 0; b < s.q.batches; ++b)
    for (std::int64_t h = 0; h < s.q.heads; ++h)
      for (std::int64_t j = 0; j < s.q.m; ++j) {
        keep(b, h, 5, j) = 0;
        keep(b, h, 6, j) = j == s.q.m - 1;
      }
  return keep;
}

// Calls a kernel; returns the error, or an empty text.
template <auto Kernel, class... Tensor>
std::string run(Tensor &&...tensor) {
  const qkv::status s = qkv::call<Kernel>(tensor...);
  return s ? "" : s.text();
}

double hidden_unless(bool seen, double bias = 0) { return seen ? bias : -infinity; }

}  // namespace

TEST_CASE("own: sizes that no tile divides") {
  setting s(1);
  SECTION("plain") { REQUIRE(run<onnx::plain>(s.Q, s.K, s.V, s.Y) == ""); }
  SECTION("scaled") {
    qkv::tensor<> scale;
    scale() = 0.07f;
    s.q.scale = 0.07f;
    REQUIRE(run<onnx::scaled>(s.Q, s.K, s.V, scale, s.Y) == "");
  }
  SECTION("softcap") {
    qkv::tensor<> cap;
    cap() = 1.5f;
    s.q.cap = 1.5f;
    REQUIRE(run<onnx::softcap>(s.Q, s.K, s.V, cap, s.Y) == "");
  }
  SECTION("causal, from the first key on") {
    s.q.bias = [](auto, auto, auto i, auto j) { return hidden_unless(j <= i); };
    REQUIRE(run<onnx::causal>(s.Q, s.K, s.V, s.Y) == "");
  }
  CHECK(s.differs() == "");
}

TEST_CASE("own: causal with fewer keys than queries") {
  setting s(2, 257, 129);
  s.q.bias = [](auto, auto, auto i, auto j) { return hidden_unless(j <= i); };
  REQUIRE(run<onnx::causal>(s.Q, s.K, s.V, s.Y) == "");
  CHECK(s.differs() == "");
}

TEST_CASE("own: masks of True and False, rows with nothing left") {
  setting s(3);
  SECTION("of every head") {
    const keep_ keep = some_keys(s);
    s.q.bias = [&](auto b, auto h, auto i, auto j) { return hidden_unless(keep(b, h, i, j)); };
    REQUIRE(run<onnx::keep_4d>(s.Q, s.K, s.V, keep, s.Y) == "");
    CHECK(s.differs() == "");
    CHECK(s.Y(1, 1, 5, 7) == 0);
  }
  SECTION("of all heads") {
    const keep_ all = some_keys(s);
    const qkv::const_tensor_view<qkv::b8, onnx::seq, onnx::kv> keep(all.data(), {s.q.n, s.q.m});
    s.q.bias = [&](auto, auto, auto i, auto j) { return hidden_unless(keep(i, j)); };
    REQUIRE(run<onnx::keep_2d>(s.Q, s.K, s.V, keep, s.Y) == "");
    CHECK(s.differs() == "");
  }
  SECTION("the weights as a result, 0 where nothing is left") {
    const keep_ keep = some_keys(s);
    s.q.bias = [&](auto b, auto h, auto i, auto j) { return hidden_unless(keep(b, h, i, j)); };
    REQUIRE(run<onnx::own_keep_softmax>(s.Q, s.K, s.V, keep, s.Y, s.scores) == "");
    CHECK(s.differs() == "");
    CHECK(s.scores_differ(&row::weights) == "");
    CHECK(s.scores(1, 1, 5, 7) == 0);
  }
  SECTION("NaN in keys and values that no query sees") {
    const std::int64_t hidden = 100;
    keep_ keep = some_keys(s);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t i = 0; i < s.q.n; ++i) keep(b, h, i, hidden) = 0;
        for (std::int64_t c = 0; c < s.q.d_k; ++c) s.K(b, h, hidden, c) = not_a_number;
        for (std::int64_t c = 0; c < s.q.d_v; ++c) s.V(b, h, hidden, c) = not_a_number;
      }
    s.q.bias = [&](auto b, auto h, auto i, auto j) { return hidden_unless(keep(b, h, i, j)); };
    REQUIRE(run<onnx::keep_4d>(s.Q, s.K, s.V, keep, s.Y) == "");
    CHECK(s.differs() == "");
  }
}

TEST_CASE("own: masks that are added, with -inf and with rows of it") {
  setting s(4);
  scores_ M({2, 2, s.q.n, s.q.m});
  for (auto &x : M) x = s.random.chance(3) ? -infinity : 2 * s.random.uniform();
  for (std::int64_t j = 0; j < s.q.m; ++j) M(0, 0, 5, j) = M(1, 1, 128, j) = -infinity;
  const qkv::const_tensor_view<onnx::seq, onnx::kv> two(M.data(), {s.q.n, s.q.m});
  s.q.bias = [&](auto, auto, auto i, auto j) { return two(i, j); };
  SECTION("for all heads") { REQUIRE(run<onnx::mask_2d>(s.Q, s.K, s.V, two, s.Y) == ""); }
  SECTION("after a cap") {
    qkv::tensor<> cap;
    cap() = 0.5f;
    s.q.cap = 0.5;
    REQUIRE(run<onnx::softcap_mask>(s.Q, s.K, s.V, two, cap, s.Y) == "");
  }
  SECTION("the biased scores as a result") {
    REQUIRE(run<onnx::scores_biased>(s.Q, s.K, s.V, two, s.Y, s.scores) == "");
    CHECK(s.scores_differ(&row::biased) == "");
  }
  SECTION("the weights as a result: 0 where nothing is left") {
    REQUIRE(run<onnx::scores_softmax>(s.Q, s.K, s.V, two, s.Y, s.scores) == "");
    CHECK(s.scores_differ(&row::weights) == "");
    CHECK(s.scores(1, 1, 5, 7) == 0);
  }
  SECTION("of each sequence and head, with a causal mask") {
    s.q.bias = [&](auto b, auto h, auto i, auto j) { return hidden_unless(j <= i, M(b, h, i, j)); };
    REQUIRE(run<onnx::mask_4d_causal>(s.Q, s.K, s.V, M, s.Y) == "");
  }
  SECTION("of each head, the same for every sequence") {
    using view = qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::seq, onnx::kv>;
    const view of_head(M.data(), {2, 2, s.q.n, s.q.m}, {0, s.q.n * s.q.m, s.q.m, 1});
    s.q.bias = [&](auto, auto h, auto i, auto j) { return M(0, h, i, j); };
    REQUIRE(run<onnx::mask_4d>(s.Q, s.K, s.V, of_head, s.Y) == "");
  }
  SECTION("of each key, the same for every query") {
    using view = qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::seq, onnx::kv>;
    const view of_key(M.data(), {2, 2, s.q.n, s.q.m}, {0, 0, 0, 1});
    s.q.bias = [&](auto, auto, auto, auto j) { return M(0, 0, 0, j); };
    REQUIRE(run<onnx::mask_4d>(s.Q, s.K, s.V, of_key, s.Y) == "");
  }
  CHECK(s.differs() == "");
}

TEST_CASE("own: the raw scores as a result are those before the cap") {
  setting s(5);
  qkv::tensor<> cap;
  cap() = 0.5f;
  s.q.cap = 0.5;
  REQUIRE(run<onnx::own_raw_capped>(s.Q, s.K, s.V, cap, s.Y, s.scores) == "");
  CHECK(s.differs() == "");
  CHECK(s.scores_differ(&row::scores) == "");
}

TEST_CASE("own: a mask that is shorter than the keys hides the others") {
  setting s(6);
  const std::int64_t reach = 200;
  qkv::tensor<onnx::batch, onnx::heads, onnx::seq, onnx::masked> M({2, 2, s.q.n, reach});
  for (auto &x : M) x = s.random.chance(3) ? -infinity : 2 * s.random.uniform();
  lengths_ lengths({2});
  SECTION("by itself") { lengths(0) = lengths(1) = static_cast<std::int32_t>(s.q.m); }
  SECTION("with lengths, one of them beyond the mask") {
    lengths(0) = 131;
    lengths(1) = 222;
  }
  SECTION("with an empty sequence") {
    lengths(0) = 0;
    lengths(1) = 1;
  }
  s.q.bias = [&](auto b, auto h, auto i, auto j) {
    return hidden_unless(j < reach && j < lengths(b), j < reach ? M(b, h, i, j) : 0);
  };
  REQUIRE(run<onnx::padded>(s.Q, s.K, s.V, M, lengths, s.Y) == "");
  CHECK(s.differs() == "");
}

TEST_CASE("own: causal with lengths, NaN in the padding") {
  setting s(7, 257, 257);
  lengths_ lengths({2});
  lengths(0) = 100;
  SECTION("long and short") { lengths(1) = 257; }
  SECTION("an empty sequence") { lengths(1) = 0; }
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t j = lengths(b); j < s.q.m; ++j)
      for (std::int64_t h = 0; h < 2; ++h) s.K(b, h, j, 3) = s.V(b, h, j, 4) = not_a_number;
  s.q.bias = [&](auto b, auto, auto i, auto j) { return hidden_unless(j <= i && j < lengths(b)); };
  REQUIRE(run<onnx::own_ragged_causal>(s.Q, s.K, s.V, lengths, s.Y) == "");
  CHECK(s.differs() == "");
}

TEST_CASE("own: scores of ten thousand") {
  // Whole numbers and a scale of 1/4: the scores are exact. Their exponents are known to 1e-3 in
  // float32, and so are the weights.
  setting s(8, 129, 257, 16, 33);
  for (auto *t : {&s.Q(0, 0, 0, 0), &s.K(0, 0, 0, 0)}) {
    const std::int64_t n = t == s.Q.data() ? s.Q.elements() : s.K.elements();
    for (std::int64_t k = 0; k < n; ++k) t[k] = std::nearbyint(42 * t[k]);
  }
  double most = 0;
  REQUIRE(each_row(s.q, [&](const row &r) {
            for (double x : r.scores) most = std::max(most, std::abs(x));
            return std::string();
          }) == "");
  REQUIRE(most > 10000);
  SECTION("plain") { REQUIRE(run<onnx::plain>(s.Q, s.K, s.V, s.Y) == ""); }
  SECTION("causal") {
    s.q.bias = [](auto, auto, auto i, auto j) { return hidden_unless(j <= i); };
    REQUIRE(run<onnx::causal>(s.Q, s.K, s.V, s.Y) == "");
  }
  CHECK(s.differs(3e-3) == "");
}

TEST_CASE("own: groups of query heads, and keys of before") {
  random_numbers random(9);
  const std::int64_t n = 129, before = 128, m = before + n, d_k = 24, d_v = 33;
  qkv::tensor<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::d_k> Q({2, 2, 3, n, d_k});
  qkv::tensor<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::d_v> Y({2, 2, 3, n, d_v});
  K_ K({2, 2, m, d_k});
  V_ V({2, 2, m, d_v});
  fill(Q, random, 2);
  fill(K, random, 2);
  fill(V, random, 1);
  Y.fill(not_a_number);
  qkv::tensor<onnx::seq, onnx::kv> M({n, m});
  for (auto &x : M) x = random.chance(3) ? -infinity : 2 * random.uniform();
  const qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::kv>
      of_all_heads(M.data(), {2, 2, 3, n, m}, {0, 0, 0, m, 1});

  question q{2, 2, 3, n, m, d_k, d_v, {}, {}, {}, {}, {}, {}};
  q.Q = [&](auto b, auto h, auto g, auto i, auto c) { return Q(b, h, g, i, c); };
  q.K = [&](auto b, auto h, auto j, auto c) { return K(b, h, j, c); };
  q.V = [&](auto b, auto h, auto j, auto c) { return V(b, h, j, c); };
  q.bias = [&](auto, auto, auto i, auto j) { return M(i, j); };

  SECTION("all keys at once") { REQUIRE(run<onnx::grouped_mask>(Q, K, V, M, Y) == ""); }
  SECTION("causal") {
    q.bias = [](auto, auto, auto i, auto j) { return hidden_unless(j <= i); };
    REQUIRE(run<onnx::grouped_causal>(Q, K, V, Y) == "");
  }
  SECTION("with a past") {
    // The keys and values of before and of now are parts of the same memory.
    using past_k = qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::past, onnx::d_k>;
    using past_v = qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::past, onnx::d_v>;
    using now_k = qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::now, onnx::d_k>;
    using now_v = qkv::const_tensor_view<onnx::batch, onnx::heads, onnx::now, onnx::d_v>;
    const past_k PK(K.data(), {2, 2, before, d_k}, {2 * m * d_k, m * d_k, d_k, 1});
    const past_v PV(V.data(), {2, 2, before, d_v}, {2 * m * d_v, m * d_v, d_v, 1});
    const now_k NK(&K(0, 0, before, 0), {2, 2, n, d_k}, {2 * m * d_k, m * d_k, d_k, 1});
    const now_v NV(&V(0, 0, before, 0), {2, 2, n, d_v}, {2 * m * d_v, m * d_v, d_v, 1});
    K_ present_K({2, 2, m, d_k});
    V_ present_V({2, 2, m, d_v});
    qkv::tensor<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::kv> scores({2, 2, 3, n, m});
    SECTION("any key") {
      REQUIRE(run<onnx::with_past>(Q, NK, NV, of_all_heads, PK, PV, Y, present_K, present_V) == "");
    }
    SECTION("causal, the query after all of the past") {
      q.bias = [&](auto, auto, auto i, auto j) { return hidden_unless(j <= i + before, M(i, j)); };
      REQUIRE(run<onnx::past_biased_causal>(Q, NK, NV, of_all_heads, PK, PV, Y, present_K,
                                            present_V, scores) == "");
      CHECK(each_row(q, [&](const row &r) {
              return along(
                  "score", r, r.biased, [&](auto j) { return scores(r.b, r.h, r.g, r.i, j); },
                  1e-5);
            }) == "");
    }
    CHECK(std::equal(K.begin(), K.end(), present_K.begin(), present_K.end()));
    CHECK(std::equal(V.begin(), V.end(), present_V.begin(), present_V.end()));
  }
  CHECK(each_row(q, [&](const row &r) {
          return along("Y", r, r.y, [&](auto c) { return Y(r.b, r.h, r.g, r.i, c); }, 1e-5);
        }) == "");
}

TEST_CASE("own: an empty past") {
  random_numbers random(10);
  qkv::tensor<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::d_k> Q({1, 2, 1, 3, 8});
  qkv::tensor<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::d_v> Y({1, 2, 1, 3, 5});
  qkv::tensor<onnx::batch, onnx::heads, onnx::now, onnx::d_k> K({1, 2, 7, 8});
  qkv::tensor<onnx::batch, onnx::heads, onnx::now, onnx::d_v> V({1, 2, 7, 5});
  const qkv::tensor<onnx::batch, onnx::heads, onnx::past, onnx::d_k> PK({1, 2, 0, 8});
  const qkv::tensor<onnx::batch, onnx::heads, onnx::past, onnx::d_v> PV({1, 2, 0, 5});
  const qkv::tensor<onnx::batch, onnx::heads, onnx::group, onnx::seq, onnx::kv> M({1, 2, 1, 3, 7});
  K_ present_K({1, 2, 7, 8});
  V_ present_V({1, 2, 7, 5});
  fill(Q, random, 2);
  fill(K, random, 2);
  fill(V, random, 1);
  question q{1, 2, 1, 3, 7, 8, 5, {}, {}, {}, {}, {}, {}};
  q.Q = [&](auto b, auto h, auto g, auto i, auto c) { return Q(b, h, g, i, c); };
  q.K = [&](auto b, auto h, auto j, auto c) { return K(b, h, j, c); };
  q.V = [&](auto b, auto h, auto j, auto c) { return V(b, h, j, c); };
  REQUIRE(run<onnx::with_past>(Q, K, V, M, PK, PV, Y, present_K, present_V) == "");
  CHECK(each_row(q, [&](const row &r) {
          return along("Y", r, r.y, [&](auto c) { return Y(r.b, r.h, r.g, r.i, c); }, 1e-5);
        }) == "");
  CHECK(std::equal(K.begin(), K.end(), present_K.begin(), present_K.end()));
  CHECK(std::equal(V.begin(), V.end(), present_V.begin(), present_V.end()));
}

TEST_CASE("own: rotary embeddings of odd sizes") {
  random_numbers random(11);
  const std::int64_t n = 129, places = 300, pairs = 17, rest = 5, d = 2 * pairs + rest;
  qkv::tensor<onnx::batch, onnx::heads, onnx::seq, onnx::features> X({2, 3, n, d}), Y({2, 3, n, d});
  qkv::tensor<onnx::positions, onnx::pairs> cos({places, pairs}), sin({places, pairs});
  qkv::tensor<onnx::batch, onnx::seq, onnx::pairs> cos_of({2, n, pairs}), sin_of({2, n, pairs});
  qkv::tensor<qkv::i32, onnx::batch, onnx::seq> at({2, n});
  fill(X, random, 1);
  fill(cos, random, 1);
  fill(sin, random, 1);
  Y.fill(not_a_number);
  for (auto &p : at) p = static_cast<std::int32_t>(random.bits() % places);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t p = 0; p < pairs; ++p) {
        cos_of(b, i, p) = cos(at(b, i), p);
        sin_of(b, i, p) = sin(at(b, i), p);
      }

  bool interleaved = false;
  SECTION("halves, by position") { REQUIRE(run<onnx::rotary>(X, cos, sin, at, Y) == ""); }
  SECTION("halves, by token") { REQUIRE(run<onnx::rotary_by_token>(X, cos_of, sin_of, Y) == ""); }
  SECTION("neighbours, by position") {
    interleaved = true;
    REQUIRE(run<onnx::rotary_interleaved>(X, cos, sin, at, Y) == "");
  }
  SECTION("neighbours, by token") {
    interleaved = true;
    REQUIRE(run<onnx::rotary_by_token_interleaved>(X, cos_of, sin_of, Y) == "");
  }

  int wrong = 0;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t i = 0; i < n; ++i) {
        const auto is = [&](std::int64_t feature, double want) {
          wrong += !(std::abs(Y(b, h, i, feature) - want) <= 1e-6);
        };
        for (std::int64_t p = 0; p < pairs; ++p) {
          const std::int64_t one = interleaved ? 2 * p : p,
                             other = interleaved ? one + 1 : p + pairs;
          const double x = X(b, h, i, one), y = X(b, h, i, other);
          const double c = cos(at(b, i), p), s = sin(at(b, i), p);
          is(one, c * x - s * y);
          is(other, s * x + c * y);
        }
        for (std::int64_t k = 2 * pairs; k < d; ++k) wrong += Y(b, h, i, k) != X(b, h, i, k);
      }
  CHECK(wrong == 0);
}

TEST_CASE("own: more features to turn than there are") {
  qkv::tensor<onnx::batch, onnx::heads, onnx::seq, onnx::features> X({1, 1, 2, 7}), Y({1, 1, 2, 7});
  const qkv::tensor<onnx::batch, onnx::seq, onnx::pairs> cos({1, 2, 4}), sin({1, 2, 4});
  Y.fill(5);
  CHECK(run<onnx::rotary_by_token>(X, cos, sin, Y) ==
        "rotary_by_token: concat<features, turned, rest>: features is 7, less than turned = 8");
  CHECK(std::all_of(Y.begin(), Y.end(), [](float y) { return y == 5; }));
}
