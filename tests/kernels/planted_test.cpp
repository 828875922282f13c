// SPDX-License-Identifier: BSL-1.0
// The comparer refuses planted errors: kernels of the attention zoo with one mistake each, computed
// by the interpreter in float32. planted_errors.txt lists which case refuses which mistake: under
// this rule, under the rule before it (two loops, no noise), both or none. QKV_UPDATE=1 rewrites
// it.
#include <qkv/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>

#include "codegen/reference/compare.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "planted_programs.hpp"
#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {

namespace {

using codegen::node;
using codegen::program;

const std::vector<program> &programs() {
  static const std::vector<program> chosen = [] {
    const std::vector<program> all = planted_programs();
    std::vector<program> some;
    for (const char *name :
         {"sink_and_window", "turned_in_part", "t5_and_cap",      "documents",
          "luong",           "additive",       "pooled",          "sigmoids",
          "two_softmaxes",   "talking",        "linear",          "linear_causal",
          "landmarks",       "compressed",     "three_widths",    "full",
          "widths_and_lse",  "causal_self",    "padding",         "biased",
          "softcapped",      "grouped",        "softplus_causal", "sink_by_hand",
          "weights_out",     "gated_by_lse"}) {
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const program &p) { return p.name == name; });
      INFO(name);
      REQUIRE(found != all.end());
      some.push_back(*found);
    }
    return some;
  }();
  return chosen;
}

// Queries, keys of another sequence, and the magnitude of random numbers.
struct setting {
  std::int64_t queries, keys;
  double scale;
};
constexpr setting settings[] = {{16, 17, 1}, {64, 130, 1}, {64, 130, 3}, {8, 1000, 1}};

struct example {
  const program &p;
  std::string name;
  codegen::size_map sizes;
  arrays arguments;
};

example make_example(const program &p, const setting &s) {
  example e{p, fmt::format("{} {}x{} scale {}", p.name, s.queries, s.keys, s.scale), {}, {}};
  for (const codegen::axis &a : p.axes)
    if (a.size < 0) e.sizes[a.name] = a.batch ? 1 : s.queries;
  for (const auto &[name, size] : codegen::size_map{{"mem", s.keys}, {"any_k", 24}, {"any_v", 24}})
    if (e.sizes.contains(name)) e.sizes[name] = size;
  if (e.sizes.contains("segment")) e.sizes["segment"] = s.queries / 4;
  e.arguments = random_arguments(p, e.sizes, 7);
  for (codegen::node_id n : p.arguments) {
    array &a = e.arguments[p[n].name];
    const bool weights = p[n].kind == core::op::param && a.shape.size() > 1;
    const double by = weights ? 1 / std::sqrt(static_cast<double>(a.shape[0])) : s.scale;
    for (double &x : a.data)
      if (p[n].type == f32) x = static_cast<float>(x * by);
    if (p[n].name == "len") a.data.assign(a.data.size(), static_cast<double>(s.keys - 1));
  }
  return e;
}

// ---- mistakes -----------------------------------------------------------------------------------
using row = std::vector<double>;

// Changes the rows of softmax or normalize in place; each keeps its sum.
void each_row(const example &e, const node &n, std::vector<double> &data,
              const std::function<void(row &)> &change) {
  const std::vector<std::int64_t> size = codegen::all_sizes(e.p, e.sizes);
  std::size_t step = 1;
  for (std::size_t d = n.shape.size(); d-- > 0 && n.shape[d] != n.over[0];)
    step *= static_cast<std::size_t>(size[n.shape[d]]);
  const auto along = static_cast<std::size_t>(size[n.over[0]]);
  const auto sum = [](const row &r) { return std::accumulate(r.begin(), r.end(), 0.); };
  for (std::size_t k = 0; along > 0 && k < data.size() / along; ++k) {
    double *const first = data.data() + k / step * step * along + k % step;
    row r;
    for (std::size_t j = 0; j < along; ++j) r.push_back(first[j * step]);
    const double before = sum(r);
    change(r);
    const double after = sum(r);
    for (std::size_t j = 0; j < along; ++j)
      first[j * step] = after > 0 ? static_cast<float>(r[j] * (before / after)) : 0;
  }
}

bool has_weights(const program &p) {
  return std::any_of(p.nodes.begin(), p.nodes.end(),
                     [](const node &n) { return makes_weights(n.kind); });
}

// Changes each exponential by up to this relative error.
codegen::alteration inexact_exp(const example &e, arrays &) {
  constexpr double most = 1.2e-6;
  auto random = std::make_shared<random_numbers>(3);
  return [&e, random](const node &n, std::vector<double> &data) {
    const auto off = [&] { return random->uniform(-most, most); };
    if (n.kind == core::op::softmax)
      each_row(e, n, data, [&](row &r) {
        for (double &w : r) w *= 1 + off();
      });
    for (double &y : data) {
      if (n.kind == core::op::exp) y *= 1 + off();
      if (n.kind == core::op::logsumexp) y += off() / 8;
      if (n.kind == core::op::sigmoid) y += y * (1 - y) * off();
      if (n.kind == core::op::tanh) y += (1 - y * y) / 2 * off();
      if (n.kind == core::op::elu && y < 0) y += (1 + y) * off();
      y = static_cast<float>(y);
    }
  };
}

// Leaves out the values of one key in the middle, and its weight if weights are normalised.
codegen::alteration dropped_key(const example &e, arrays &arguments) {
  if (has_weights(e.p))
    return [&e](const node &n, std::vector<double> &data) {
      if (makes_weights(n.kind))
        each_row(e, n, data, [](row &r) {
          if (!r.empty()) r[r.size() / 2] = 0;
        });
    };
  array &V = arguments.at("V");
  const auto columns = static_cast<std::size_t>(V.shape.back()),
             keys = static_cast<std::size_t>(V.shape[V.shape.size() - 2]);
  for (std::size_t k = 0; k < V.data.size(); ++k)
    if (k / columns % keys == keys / 2) V.data[k] = 0;
  return {};
}

// Forgets to rescale, in one row, the weights before the block with its maximum.
codegen::alteration wrong_maximum(const example &e, arrays &) {
  constexpr std::size_t block = 16;
  return [&e](const node &n, std::vector<double> &data) {
    if (n.kind != core::op::softmax) return;
    bool done = false;
    each_row(e, n, data, [&](row &r) {
      const auto at = std::max_element(r.begin(), r.end());
      const auto before = r.begin() + (at - r.begin()) / block * block;
      if (done || before == r.begin() || at == r.end()) return;
      const double largest = *std::max_element(r.begin(), before);
      if (largest == 0) return;
      done = true;
      for (auto w = r.begin(); w != before; ++w) *w *= *at / largest;
    });
  };
}

// Scales the scores by 1 + 1e-5.
codegen::alteration wrong_scale(const example &e, arrays &arguments) {
  constexpr double by = 1 + 1e-5;
  if (has_weights(e.p))
    return [&e](const node &n, std::vector<double> &data) {
      if (makes_weights(n.kind))
        each_row(e, n, data, [](row &r) {
          for (double &w : r) w = w > 0 ? std::pow(w, by) : w;
        });
    };
  for (double &q : arguments.at("Q").data) q *= by;
  return {};
}

codegen::alteration wrong_bias(const example &, arrays &) {
  return [](const node &n, std::vector<double> &data) {
    if (n.kind == core::op::output)
      for (double &y : data) y += 1e-5;
  };
}

struct mistake {
  std::string name;
  codegen::alteration (*plant)(const example &, arrays &);
};
const mistake mistakes[] = {{"exp", inexact_exp},
                            {"key", dropped_key},
                            {"maximum", wrong_maximum},
                            {"scale", wrong_scale},
                            {"bias", wrong_bias}};

bool refused(const std::vector<codegen::expectation> &expected, const arrays &results) {
  return std::any_of(expected.begin(), expected.end(), [&](const codegen::expectation &e) {
    return !codegen::compare(e, results.at(e.name).data).right;
  });
}

// The previous rule: two loops, no noise.
std::vector<codegen::expectation> without_noise(std::vector<codegen::expectation> all) {
  for (codegen::expectation &e : all) {
    e.fused = e.in_sequence;
    e.noise.assign(e.noise.size(), 0);
  }
  return all;
}

// "full 16x17 scale 1: exp both, key both, maximum before, scale -, bias both"
std::string line_of(const example &e) {
  const codegen::program computed = codegen::simplified(e.p);
  const auto now = codegen::expected(e.p, e.arguments, e.sizes, &computed),
             before = without_noise(now);
  std::string line = e.name + ":";
  for (const mistake &m : mistakes) {
    arrays arguments = e.arguments;
    const codegen::alteration planted = m.plant(e, arguments);
    const arrays wrong =
        codegen::interpret_as_float(e.p, arguments, e.sizes, codegen::order::in_eights, planted);
    const bool was = refused(before, wrong), is = refused(now, wrong);
    line += fmt::format(" {} {}", m.name, was && is ? "both" : was ? "before" : is ? "now" : "-");
  }
  return line;
}

}  // namespace

TEST_CASE("planted errors are refused as often as the list says") {
  const std::string path = QKV_ROOT "/tests/kernels/planted_errors.txt";
  std::string now;
  for (const program &p : programs())
    for (const setting &s : settings) now += line_of(make_example(p, s)) + '\n';
  if (std::getenv("QKV_UPDATE")) std::ofstream(path) << now;
  std::stringstream listed;
  listed << std::ifstream(path).rdbuf();
  CHECK(now == listed.str());
  const auto count = [&](const std::string &words) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = now.find(words, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(count("exp both") >= 10);
  CHECK(count("key both") == 104);
  CHECK(count("maximum before") == 0);
  CHECK(count("scale both") >= 100);
  CHECK(count("bias before") == 0);
}

}  // namespace qkv::testing
