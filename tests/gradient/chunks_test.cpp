// SPDX-License-Identifier: BSL-1.0
// Gradients of scans by chunks: the parts of a plan, called as the runtime calls them, give what
// the program gives.
#include "codegen/plan/chunks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <qkv/dsl.hpp>
#include <set>

#include "codegen/plan/plan.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/reference/interpreter.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/programs.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using namespace qkv::codegen;

namespace {

// Some positions of a tensor: first[d] .. first[d] + shape[d] along each axis.
struct window {
  std::vector<std::int64_t> first, shape;
};

void visit(const window &w, const std::vector<std::int64_t> &whole,
           const std::function<void(std::size_t inside, std::size_t in_whole)> &use) {
  std::size_t count = 1;
  for (std::int64_t n : w.shape) count *= static_cast<std::size_t>(n);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t rest = k, at = 0, stride = 1;
    for (std::size_t d = w.shape.size(); d-- > 0;) {
      const auto n = static_cast<std::size_t>(w.shape[d]);
      at += (static_cast<std::size_t>(w.first[d]) + rest % n) * stride;
      stride *= static_cast<std::size_t>(whole[d]);
      rest /= n;
    }
    use(k, at);
  }
}

// Calls the parts by the interpreter.
class driver {
 public:
  driver(const program &p, const chunks &c, const arrays &arguments,
         const std::vector<std::int64_t> &size)
      : p_(p), c_(c), size_(size) {
    for (node_id n : p.arguments) values_.push_back(arguments.at(p[n].name));
    for (node_id n : p.outputs) values_.push_back(blank(p[n].shape, 1));
    for (const temporary &t : c.temporaries)
      values_.push_back(blank(t.shape, t.is_at_bounds ? count() + 1 : 1));
  }

  arrays run() {
    call(c_.parts[0], 0);
    std::int64_t tasks = 1;
    for (axis_id a : c_.outer) tasks *= size_[a];
    for (task_ = 0; task_ < tasks; ++task_)
      for (std::int64_t k = 0; k + !c_.has_last_state < count(); ++k) call(c_.parts[1], k);
    call(c_.parts[2], 0);
    for (task_ = 0; task_ < tasks; ++task_)
      for (std::int64_t k = count(); k-- > 0;) call(c_.parts[3], k);
    call(c_.parts[4], 0);
    arrays results;
    for (std::size_t k = 0; k < p_.outputs.size(); ++k)
      results[p_[p_.outputs[k]].name] = values_[p_.arguments.size() + k];
    return results;
  }

 private:
  std::int64_t count() const {
    return (size_[c_.along] + positions_of_chunk - 1) / positions_of_chunk;
  }
  array blank(const std::vector<axis_id> &shape, std::int64_t times) const {
    array x;
    if (times > 1) x.shape.push_back(times);
    std::size_t n = static_cast<std::size_t>(times);
    for (axis_id a : shape) x.shape.push_back(size_[a]), n *= static_cast<std::size_t>(size_[a]);
    x.data.assign(n, 0);
    return x;
  }
  const std::vector<axis_id> &shape_of(int value) const {
    const auto v = static_cast<std::size_t>(value), in = p_.arguments.size(),
               out = p_.outputs.size();
    if (v < in) return p_[p_.arguments[v]].shape;
    if (v < in + out) return p_[p_.outputs[v - in]].shape;
    return c_.temporaries[v - in - out].shape;
  }

  window window_of(const kernel_part &part, const part_argument &a, std::int64_t chunk) const {
    window w;
    const array &whole = values_[static_cast<std::size_t>(a.value)];
    const std::vector<axis_id> &shape = shape_of(a.value);
    if (whole.shape.size() > shape.size()) {
      w.first.push_back(part.is_of_chunk ? chunk + a.is_later : a.is_later ? count() : 0);
      w.shape.push_back(1);
    }
    std::int64_t rest = task_;
    std::map<axis_id, std::int64_t> position;
    for (axis_id x : c_.outer) position[x] = rest % size_[x], rest /= size_[x];
    for (axis_id x : shape) {
      const bool is_along = part.is_of_chunk && x == c_.along;
      const bool is_outer = part.is_of_chunk && position.count(x) > 0;
      const std::int64_t first = is_along ? chunk * positions_of_chunk : 0;
      w.first.push_back(is_outer ? position[x] : first);
      w.shape.push_back(is_outer   ? 1
                        : is_along ? std::min<std::int64_t>(positions_of_chunk, size_[x] - first)
                                   : size_[x]);
    }
    return w;
  }

  void call(const kernel_part &part, std::int64_t chunk) {
    if (part.p.outputs.empty()) return;
    arrays in;
    size_map sizes;
    for (axis_id a : run_time_axes(part.p)) sizes[p_.axes[a].name] = size_[a];
    if (part.is_of_chunk)
      sizes[p_.axes[c_.along].name] =
          std::min<std::int64_t>(positions_of_chunk, size_[c_.along] - chunk * positions_of_chunk);
    const std::size_t n = part.p.arguments.size();
    for (std::size_t k = 0; k < n; ++k) {
      const part_argument &from = part.arguments[k];
      const array &whole = values_[static_cast<std::size_t>(from.value)];
      const window w = window_of(part, from, chunk);
      array &x = in[part.p[part.p.arguments[k]].name];
      x.shape.assign(w.shape.end() - static_cast<std::ptrdiff_t>(shape_of(from.value).size()),
                     w.shape.end());
      visit(w, whole.shape, [&](std::size_t, std::size_t at) { x.data.push_back(whole.data[at]); });
    }
    const arrays out = interpret(part.p, in, sizes);
    for (std::size_t k = 0; k < part.p.outputs.size(); ++k) {
      const part_argument &to = part.arguments[n + k];
      array &whole = values_[static_cast<std::size_t>(to.value)];
      const array &x = out.at(part.p[part.p.outputs[k]].name);
      visit(window_of(part, to, chunk), whole.shape,
            [&](std::size_t inside, std::size_t at) { whole.data[at] = x.data[inside]; });
    }
  }

  const program &p_;
  const chunks &c_;
  const std::vector<std::int64_t> size_;
  std::vector<array> values_;
  std::int64_t task_ = 0;
};

std::string difference(const arrays &expected, const arrays &found) {
  for (const auto &[name, x] : expected)
    for (std::size_t k = 0; k < x.data.size(); ++k) {
      const double a = x.data[k], b = found.at(name).data[k];
      if (!(std::isnan(a) && std::isnan(b)) && a != b &&
          !(std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(a))))
        return name + "[" + std::to_string(k) + "] is " + std::to_string(b) + ", not " +
               std::to_string(a);
    }
  return "";
}

// ---- recurrences beyond those of compiled kernels -----------------------------------------------
constexpr qkv::batch_axis<"batch"> batch;
constexpr qkv::batch_axis<"heads", 3> heads;
constexpr qkv::axis<"seq"> seq;
constexpr qkv::axis<"steps", 70> steps;
constexpr qkv::axis<"f", 3> f;
constexpr qkv::axis<"v", 4> v;

constexpr auto written = [](auto s, auto k, auto x) {
  return s + qkv::broadcast<v>(k) * qkv::broadcast<f>(x);
};

// Heads share the keys, and their values the queries.
constexpr auto shared_keys = qkv::kernel<"shared_keys">(
    [](qkv::in<"Q", batch, seq, f> Q, qkv::in<"K", batch, seq, f> K,
       qkv::in<"V", batch, heads, seq, v> V) -> qkv::out<"O", batch, heads, seq, v> {
      auto both = qkv::broadcast<heads>(K);
      return qkv::scan<seq>(
                 qkv::zeros<batch, heads, f, v>(),
                 [](auto s, auto k, auto x, auto q) {
                   auto next = written(s / 2, k, x);
                   return std::pair{next, qkv::dot<f>(next, q)};
                 },
                 both, V, qkv::broadcast<heads>(Q))
          .result;
    });

// Positions whose number the spec gives; the step also reads its position and a flag.
constexpr auto counted = qkv::kernel<"counted">(
    [](qkv::in<"K", steps, f> K, qkv::in<"V", steps, v> V, qkv::in<"flag", qkv::b8, steps> flag,
       qkv::in<"S", f, v> S) -> qkv::outs<qkv::out<"O", steps, v>, qkv::out<"last", f, v>> {
      auto [o, last] = qkv::scan<steps>(
          S,
          [](auto s, auto k, auto x, auto is, auto at) {
            auto next =
                qkv::where(is, written(s, k, x), tanh(s) * (1 + qkv::cast<qkv::f32>(at)) / 70);
            return std::pair{next, qkv::sum<f>(next * next)};
          },
          K, V, flag, index(steps));
      return {o, last};
    });

// Masked positions leave the state as it is; what follows reads all positions.
constexpr auto skipping = qkv::kernel<"skipping">(
    [](qkv::in<"K", batch, seq, f> K, qkv::in<"V", batch, seq, v> V,
       qkv::in<"len", qkv::i32, batch> len, qkv::param<"W", f> W)
        -> qkv::outs<qkv::out<"O", batch, seq, v>, qkv::out<"total", batch, v>> {
      auto x = qkv::mask_rows(V, index(seq) < len);
      auto o = qkv::scan<seq>(
                   qkv::zeros<batch, f, v>(),
                   [&](auto s, auto k, auto x) {
                     auto next = written(s * sigmoid(W), k, x);
                     return std::pair{next, qkv::dot<f>(next, k)};
                   },
                   K, x)
                   .result;
      return {qkv::cumsum<seq>(tanh(o)), qkv::sum<seq>(o * o)};
    });

// From the last position to the first.
constexpr auto backward = qkv::kernel<"backward">([
](qkv::in<"K", batch, seq, f> K, qkv::in<"V", batch, seq, v> V) -> qkv::out<"O", batch, seq, v> {
  auto turned = [](auto x) { return qkv::take<seq>(x, size(seq) - 1 - index(seq)); };
  auto o = qkv::scan<seq>(
               qkv::zeros<batch, f, v>(),
               [](auto s, auto k, auto x) {
                 auto next = written(s / 2, k, x);
                 return std::pair{next, qkv::dot<f>(next, k)};
               },
               turned(K), turned(V))
               .result;
  return turned(o);
});

// Adjoints of the results need all positions: of their sum, of weights over them.
constexpr auto gated = [](auto K, auto V, auto g) {
  return qkv::scan<seq>(
             qkv::zeros<batch, f, v>(),
             [](auto s, auto k, auto x, auto g) {
               auto next = written(s * qkv::sigmoid(g), k, x);
               return std::pair{next, qkv::dot<f>(next, k)};
             },
             K, V, g)
      .result;
};
constexpr auto pooled =
    qkv::kernel<"pooled">([](qkv::in<"K", batch, seq, f> K, qkv::in<"V", batch, seq, v> V,
                             qkv::in<"g", batch, seq> g) -> qkv::out<"L", batch> {
      auto o = gated(K, V, g);
      auto weights = qkv::softmax<seq>(qkv::sum<v>(o));
      auto m = qkv::sum<seq>(o) + qkv::dot<seq>(weights, o);
      return qkv::dot<v>(m, m);
    });

// A projection whose result meets numbers from the other end.
constexpr qkv::axis<"c", 5> c;
constexpr auto projected = qkv::kernel<"projected">(
    [](qkv::param<"W", v, c> W, qkv::param<"U", c> U, qkv::in<"K", batch, seq, f> K,
       qkv::in<"V", batch, seq, v> V, qkv::in<"g", batch, seq> g,
       qkv::in<"X", batch, seq, c> X) -> qkv::out<"O", batch, seq, c> {
      auto turned = qkv::take<seq>(X, size(seq) - 1 - index(seq));
      return qkv::dot<v>(gated(K, V, g), W) * turned + U;
    });

std::vector<program> more_programs() {
  return {make_program(shared_keys), make_program(counted), make_program(skipping),
          make_program(backward),    make_program(pooled),  make_program(projected)};
}

bool has_scan(const program &p) {
  return std::any_of(p.nodes.begin(), p.nodes.end(),
                     [](const node &n) { return n.kind == op::scan || n.kind == op::last; });
}

}  // namespace

TEST_CASE("gradients of scans by chunks are those of all positions") {
  std::set<std::string> found;
  std::vector<program> all;
  std::vector<program> recurrences = differentiable_programs();
  for (program &p : more_programs()) recurrences.push_back(std::move(p));
  for (const program &p : recurrences) {
    if (!has_scan(p)) continue;
    all.push_back(gradient(p));
    all.push_back(gradient(p, {}, true));  // with the results
    for (node_id n : p.arguments)
      if (is_floating(p[n].type)) all.push_back(gradient(p, {p[n].name}));
  }
  for (const program &p : all) {
    const plan made = plan_of(p);
    if (!made.by_chunks) continue;
    found.insert(p.name);
    for (const std::size_t k : {0, 2, 4}) CHECK(!has_scan(made.by_chunks->parts[k].p));
    const axis_id along = made.by_chunks->along;
    constexpr int chunk = positions_of_chunk;
    for (const std::int64_t positions : {1, 2, chunk - 1, chunk, chunk + 1, 2 * chunk + 7, 0}) {
      size_map sizes;
      const axis_id scanned = made.p.axes[along].root;
      for (axis_id a = 0; a < static_cast<axis_id>(made.p.axes.size()); ++a)
        if (made.p.axes[a].size < 0 && made.p.axes[a].root == a)
          sizes[made.p.axes[a].name] = a == scanned ? positions : 2 + a % 3;
      const std::vector<std::int64_t> size = all_sizes(made.p, sizes);
      const arrays arguments = random_arguments(made.p, sizes, seed_or(positions + 1));
      const std::string wrong = difference(interpret(made.p, arguments, sizes),
                                           driver(made.p, *made.by_chunks, arguments, size).run());
      INFO(p.name << ", " << positions << " positions: " << wrong);
      CHECK(wrong.empty());
    }
  }
  for (const char *name : {"counted", "first_of_state", "from_zero", "gated_delta", "linear_causal",
                           "pooled", "positions_innermost", "projected", "selective", "shared_keys",
                           "skipping", "widths_of_call"}) {
    CHECK(found.erase(name + std::string("_gradient")) == 1);
    CHECK(found.erase(name + std::string("_value_and_gradient")) == 1);
  }
  // Vectors as states are as large as what each position reads. Of several recurrences, none is
  // divided; the gradient of one argument may need one alone.
  CHECK(found == std::set<std::string>{"f64_recurrence_gradient"});
}
