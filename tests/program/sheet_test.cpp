// SPDX-License-Identifier: BSL-1.0
// The sheet: shape trace, cost formulas, masks that leave only some pairs, what the tool receives.
#include <qkv/dsl.hpp>

#include <limits>
#include <sstream>
#include "codegen/program/text.hpp"

#include "codegen/rewrites/rewrites.hpp"
#include "codegen/sheets/attention_map.hpp"
#include "codegen/sheets/cost.hpp"
#include "codegen/sheets/describe.hpp"
#include "codegen/sheets/oracle.hpp"
#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {
namespace {

using codegen::make_program;
using codegen::program;

constexpr batch_axis<"batch"> batch;
constexpr batch_axis<"heads", 8> heads;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"d_model", 512> d_model;
constexpr axis<"d_k", 64> d_k;
constexpr axis<"d_v", 64> d_v;

constexpr auto mha =
    kernel<"mha">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                     param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
                     param<"Wo", heads, d_v, d_model> Wo,
                     param<"bo", d_model> bo) -> out<"Y", batch, seq, d_model> {
      auto M = rename<seq, kv>(X);
      auto Q = dot<d_model>(X, Wq);
      auto K = dot<d_model>(M, Wk);
      auto V = dot<d_model>(M, Wv);
      auto scores = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      return dot<heads, d_v>(dot<kv>(softmax<kv>(scores), V), Wo) + bo;
    });

constexpr auto plain_attention = kernel<"plain_attention">(
    [](in<"Q", seq, d_k> Q, in<"K", kv, d_k> K, in<"V", kv, d_v> V) -> out<"O", seq, d_v> {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K)), V);
    });

std::string describe(const program &p, const codegen::size_map &sizes = {}) {
  return codegen::describe(p, codegen::plan_of(p), sizes);
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("sheet: the shape trace of multi-head attention") {
  CHECK(contains(describe(make_program(mha), {{"batch", 1}, {"seq", 4}}),
                 "X (1,4,512) -> (1,8,4,64) -> scores (1,8,4,4) -> (1,8,4,64) -> Y (1,4,512)\n"));
  CHECK(contains(
      describe(make_program(mha)),
      "X (batch,seq,512) -> (batch,8,seq,64) -> scores (batch,8,seq,kv) -> (batch,8,seq,64)\n"
      "                 -> Y (batch,seq,512)\n"));
}

TEST_CASE("sheet: scores of as many keys as features are shown") {
  const std::string text = describe(make_program(mha), {{"batch", 1}, {"seq", 64}});
  CHECK(contains(text, "(1,8,64,64) -> scores (1,8,64,64) -> Y (1,64,512)"));
}

TEST_CASE("sheet: unnamed steps are labelled from their operands") {
  const std::string text = describe(make_program(mha));
  CHECK(contains(text, "  dot(X, Wq) "));
  CHECK(contains(text, "  rename<seq, kv>(X) "));
}

TEST_CASE("cost: formulas in axis names, and numbers") {
  const program p = make_program(plain_attention);
  const codegen::cost_sheet c =
      codegen::cost_of(p, codegen::simplified(p), codegen::resolve_sizes(p, {}));
  CHECK(c.flops.text(p) == "2*seq*d_k*kv + 2*seq*kv*d_v + 4*seq*kv");
  CHECK(c.read.text(p) == "4*seq*d_k + 4*d_k*kv + 4*kv*d_v");
  CHECK(c.written.text(p) == "4*seq*d_v");
  const auto size = codegen::all_sizes(p, {{"seq", 1000}});
  CHECK(*c.flops.value(size) == 2 * 128e6 + 4e6);
  CHECK_FALSE(c.flops.value(codegen::resolve_sizes(p, {})));
}

TEST_CASE("cost: pairs that a causal mask removes are not counted") {
  const program p = make_program(mha);
  const auto size = codegen::all_sizes(p, {{"batch", 1}, {"seq", 4096}});
  const program computed = codegen::simplified(p);
  const double all = *codegen::cost_of(p, computed, size).flops.value(size),
               left = *codegen::flops_left_by_masks(computed, size);
  const double pairs = 8.0 * 4096 * 4096 * (2 * 64 + 2 * 64 + 4) + 4096.0 * 4096;
  CHECK(std::fabs((all - left) - pairs / 2) < 0.01 * pairs);
}

TEST_CASE("cost: of a mask, what positions decide counts beside what the call decides") {
  constexpr static axis<"rows"> rows;
  constexpr static axis<"keys"> keys;
  const program p = make_program(
      kernel<"k">([](in<"S", rows, keys> S, in<"V", keys> V, in<"n", i32> n) -> out<"O", rows> {
        auto near = index(keys) <= index(rows) and index(keys) < n;
        return dot<keys>(softmax<keys>(mask(S, near)), V);
      }));
  const auto size = codegen::all_sizes(p, {{"rows", 1000}, {"keys", 1000}});
  const program computed = codegen::simplified(p);
  const double all = *codegen::cost_of(p, computed, size).flops.value(size),
               left = *codegen::flops_left_by_masks(computed, size);
  CHECK(std::fabs(left / all - 0.5) < 0.01);
}

TEST_CASE("cost: bytes of keys that a mask hides from every query are not read") {
  constexpr static axis<"rows"> rows;
  constexpr static axis<"keys"> keys;
  const auto share = [](const auto &spec, std::int64_t queries) {
    const program computed = codegen::simplified(make_program(spec));
    const auto size = codegen::all_sizes(computed, {{"rows", queries}, {"keys", 65'536}});
    return *codegen::bytes_moved(computed, size) / (4 * 65'536. * (64 + 64));
  };
  constexpr static auto near = [] {
    return index(rows) + size(keys) - size(rows) - index(keys) < 512;
  };
  constexpr auto window = kernel<"window">(
      [](in<"Q", rows, d_k> Q, in<"K", keys, d_k> K, in<"V", keys, d_v> V) -> out<"O", rows, d_v> {
        return dot<keys>(softmax<keys>(mask(dot<d_k>(Q, K), near())), V);
      });
  CHECK(std::fabs(share(window, 1) - 512. / 65'536) < 1e-4);
  CHECK(share(window, 100) < 0.02);
  CHECK(share(window, 65'536) >= 1);
  constexpr auto with_sum = kernel<"with_sum">(
      [](in<"Q", rows, d_k> Q, in<"K", keys, d_k> K, in<"V", keys, d_v> V) -> out<"O", rows, d_v> {
        return dot<keys>(softmax<keys>(mask(dot<d_k>(Q, K), near())), V) + sum<keys>(V);
      });
  CHECK(share(with_sum, 1) >= 1);
  // A narrow window, beside a condition of the call's data.
  constexpr auto narrow = kernel<"narrow">(
      [](in<"Q", batch, rows, d_k> Q, in<"K", batch, keys, d_k> K, in<"V", batch, keys, d_v> V,
         in<"len", i32, batch> len) -> out<"O", batch, rows, d_v> {
        auto last = index(rows) + size(keys) - size(rows) - index(keys) < 60;
        return dot<keys>(softmax<keys>(mask(dot<d_k>(Q, K), last and index(keys) < len)), V);
      });
  const program p = codegen::simplified(make_program(narrow));
  const auto size = codegen::all_sizes(p, {{"batch", 2}, {"rows", 1}, {"keys", 65'536}});
  CHECK(std::fabs(*codegen::bytes_moved(p, size) / (2 * 4 * 65'536. * 128) - 60. / 65'536) < 1e-3);
  // The second attention sees all keys, the first one some of them.
  constexpr auto two_hops = kernel<"two_hops">(
      [](in<"Q", rows, d_k> Q, in<"K", keys, d_k> K, in<"V", keys, d_k> V) -> out<"O", rows, d_k> {
        auto first = dot<keys>(softmax<keys>(mask(dot<d_k>(Q, K), near())), V);
        return dot<keys>(softmax<keys>(dot<d_k>(first, K)), V);
      });
  CHECK(share(two_hops, 1) >= 1);
  const program without_sizes = codegen::simplified(make_program(window));
  CHECK_FALSE(codegen::bytes_moved(without_sizes, codegen::resolve_sizes(without_sizes, {})));
}

TEST_CASE("cost: of a table, rows that are looked up are read") {
  constexpr static axis<"word", 30'000> word;
  const program p = codegen::simplified(make_program(kernel<"embedded">(
      [](param<"table", word, d_k> table, in<"id", i32, seq> id) -> out<"O", seq, d_k> {
        return take<word>(table, id);
      })));
  CHECK(codegen::bytes_moved(p, codegen::all_sizes(p, {{"seq", 10}})) == 4 * 10. * (64 + 1 + 64));
  CHECK(codegen::bytes_moved(p, codegen::all_sizes(p, {{"seq", 100'000}})) ==
        4 * (30'000. * 64 + 100'000. * (1 + 64)));
}

TEST_CASE("cost: the order of contractions that runs is counted") {
  constexpr static axis<"m"> m;
  constexpr static axis<"r", 16> r;
  const program p = make_program(kernel<"low_rank">(
      [](in<"P", seq, m> P, in<"U", m, r> U, in<"A", r, d_v> A) -> out<"O", seq, d_v> {
        return dot<m>(P, dot<r>(U, A));
      }));
  const auto flops = [&](std::int64_t queries) {
    const program computed = codegen::simplified(p);
    const auto size = codegen::all_sizes(computed, {{"seq", queries}, {"m", 4096}});
    return *codegen::flops_left_by_masks(computed, size);
  };
  CHECK(flops(4096) == 2. * 4096 * 4096 * 16 + 2. * 4096 * 16 * 64);  // (P U) A
  CHECK(flops(1) == 2. * 4096 * 16 + 2. * 16 * 64);
}

TEST_CASE("cost: where sizes choose an order, the other one is unused") {
  constexpr static axis<"m"> m;
  const program either = make_program(kernel<"either">(
      [](in<"Q", seq, d_k> Q, in<"K", m, d_k> K, in<"V", m, d_v> V) -> out<"O", seq, d_v> {
        return dot<m>(dot<d_k>(Q, K), V);
      }));
  for (const std::int64_t n : {8, 8192}) {
    const std::string text = describe(either, {{"seq", n}, {"m", n}});
    INFO(text);
    CHECK(contains(text, "unused"));
    CHECK(contains(text, n == 8 ? "flops          2*seq*d_k*m + 2*seq*m*d_v = 16.4 k"
                                : "flops          2*seq*d_k*d_v + 2*d_k*m*d_v = 134 M"));
  }
}

TEST_CASE("sheet: stages and what is never stored") {
  const std::string text = describe(make_program(plain_attention));
  CHECK(contains(text, "stages\n  attention            "));
  CHECK(contains(text, "never stored\n  dot(Q, K)\n  softmax<kv>(dot(Q, K))\n"));
  CHECK(contains(text, "stored         nothing between stages"));
}

TEST_CASE("sheet: what is stored between stages") {
  const program p = make_program(mha);
  const std::string text = describe(p, {{"batch", 1}, {"seq", 4}});
  INFO(text);
  CHECK(contains(text, "4*batch*heads*d_v*kv = 32.8 kB between stages\n"));
  CHECK(contains(text, "stages\n  contraction  24.9 %  dot(rename<seq, kv>(X), Wk)\n"));
  CHECK(text.find("\nstages\n") < text.find("\nsteps\n"));
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) CHECK(one.size() <= 100);
}

TEST_CASE("oracle: what the tool is told") {
  const tool::entry e = codegen::oracle(make_program(plain_attention));
  CHECK(e.name == "plain_attention");
  const program p = make_program(plain_attention);
  const arrays a = random_arguments(p, {{"seq", 5}}, 1);
  tool::arrays given;
  for (const auto &[name, x] : a) given[name] = {x.shape, x.data};
  std::vector<tool::array> r = e.reference(given, {});
  REQUIRE(r.size() == 1);
  CHECK(r[0].shape == std::vector<std::int64_t>{5, 64});
  CHECK(e.compare(given, {}, r).right);
  r[0].data[7] += 1;
  const tool::verdict v = e.compare(given, {}, r);
  CHECK_FALSE(v.right);
  CHECK(contains(v.text, "O[seq=0, d_v=7]"));
  CHECK(e.cost({{"seq", 1000}}).argument_bytes.value == 4 * 4 * 64e3);
}

TEST_CASE("oracle: the numbers of all steps, in order") {
  const auto spec =
      kernel<"causal">([](in<"S", seq, kv> S, in<"V", kv, d_v> V) -> out<"O", seq, d_v> {
        auto scores = let<"scores">(mask(S, causal<seq, kv>));
        auto sums = cumsum<seq>(let<"step">(dot<kv>(let<"weights">(softmax<kv>(scores)), V)));
        return let<"step">(sums);
      });
  const tool::entry e = codegen::oracle(make_program(spec));
  tool::arrays given = {{"S", {{2, 2}, {1, 2, 3, 3}}},
                        {"V", {{2, 64}, std::vector<double>(128, 2)}}};
  const std::vector<tool::step> steps = e.trace(given, {});
  std::vector<std::string> names;
  for (const tool::step &s : steps) names.push_back(s.name);
  CHECK(names == std::vector<std::string>{"S", "V", "index(kv) <= index(seq)", "scores", "weights",
                                          "step", "step", "O"});
  CHECK(steps[3].axes == std::vector<std::string>{"seq", "kv"});
  CHECK(steps[3].values.shape == std::vector<std::int64_t>{2, 2});
  CHECK(steps[3].values.data[1] == -std::numeric_limits<double>::infinity());
  CHECK(steps[4].values.data == std::vector<double>{1, 0, 0.5, 0.5});
  CHECK(steps[7].values.data[64] == 4);
  const std::string svg = e.heat_maps(steps);
  CHECK(contains(svg, ">weights [seq=2, kv=2]<"));
  CHECK(contains(svg, "fill=\"#bbb\""));  // hidden
  CHECK(contains(svg, "<title>0.5</title>"));
  CHECK(contains(e.heat_maps({}), "<svg "));
}

TEST_CASE("oracle: steps inside a scan have no numbers of their own") {
  const auto spec =
      kernel<"running">([](in<"H", d_v> H, in<"X", seq, d_v> X) -> out<"Y", seq, d_v> {
        return scan<seq>(H, [](auto h, auto x) { return let<"next">(h * 0.5f + x); }, X).result;
      });
  std::vector<std::string> names;
  const tool::arrays given = {{"H", {{64}, std::vector<double>(64, 1)}},
                              {"X", {{3, 64}, std::vector<double>(192, 1)}}};
  for (const tool::step &s : codegen::oracle(make_program(spec)).trace(given, {}))
    names.push_back(s.name);
  CHECK(names == std::vector<std::string>{"H", "X", "scan<seq>(carried<seq>(H), next, next)", "Y"});
}

TEST_CASE("pictures: an attention map") {
  const std::vector<float> weights = {1, 0, 0.25f, 0.75f};
  const std::string svg = attention_map_svg(weights, {"a<b", "it"}, "layer 0");
  CHECK(contains(svg, "a&lt;b"));
  std::size_t lines = 0;
  for (std::size_t k = svg.find("<line"); k != std::string::npos; k = svg.find("<line", k + 1))
    ++lines;
  CHECK(lines == 3);
  CHECK(attention_map_svg(weights, {"one"}).empty());
}

}  // namespace qkv::testing
