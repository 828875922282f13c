// SPDX-License-Identifier: BSL-1.0
// check K: compiled code against the reference, on random inputs.
#include <fmt/format.h>
#include <qkv/run.hpp>

#include <algorithm>
#include <cmath>

#include "tool/commands.hpp"
#include "tool/json.hpp"
#include "tool/other_tool.hpp"

namespace qkv::tool {
namespace {

// Where the library brings no comparison of its own: a fixed tolerance, relative to the largest
// value.
verdict compare_plainly(const std::vector<array> &want, const std::vector<array> &got) {
  verdict v;
  v.right = true;
  double scale = 1;
  for (const array &a : want) {
    for (double x : a.data) scale = std::max(scale, std::isfinite(x) ? std::abs(x) : 0);
  }
  v.allowed = 1e-5 * scale;
  for (std::size_t o = 0; o < want.size(); ++o) {
    for (std::size_t i = 0; i < want[o].data.size(); ++i) {
      const double a = want[o].data[i], b = got[o].data[i];
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      const double error = same ? 0 : std::isfinite(a - b) ? std::abs(a - b) : INFINITY;
      v.error = std::max(v.error, error);
      if (error > v.allowed && v.right) {
        v.right = false;
        v.text = fmt::format("output {} element {}: {} instead of {}", o, i, b, a);
      }
    }
  }
  return v;
}

// Prints a line for each argument: the last direction in which it was compared.
bool check_slopes(const request &r, const arrays &inputs, const kernel_sizes &s) {
  bool right = true;
  for (const slope &x : r.spec->slopes(inputs, s.by_name(), r.seed)) {
    right &= x.wrong.empty();
    if (r.json) {
      fmt::print("{}\n", json::object()
                             .add("kernel", json::text(r.kernel->name))
                             .add("sizes", json::sizes(s.by_name()))
                             .add("argument", json::text(x.argument))
                             .add("by_differences", json::number(x.by_differences))
                             .add("by_gradient", json::number(x.by_gradient))
                             .add("right", x.wrong.empty() ? "true" : "false")
                             .text());
      continue;
    }
    fmt::print("{}  {}  d{}: {:.9g} by differences, {:.9g} by its formula  {}\n", r.kernel->name,
               s.text(), x.argument, x.by_differences, x.by_gradient,
               x.wrong.empty() ? "ok" : "WRONG: " + x.wrong);
  }
  return right;
}

void report(const request &r, const kernel_sizes &s, const verdict &v) {
  if (!r.json) {
    fmt::print("{}  {}  error {:.2e}  allowed {:.2e}  {}\n", r.kernel->name, s.text(), v.error,
               v.allowed, v.right ? "ok" : "WRONG: " + v.text);
    return;
  }
  fmt::print("{}\n", json::object()
                         .add("kernel", json::text(r.kernel->name))
                         .add("sizes", json::sizes(s.by_name()))
                         .add("error", json::number(v.error))
                         .add("allowed", json::number(v.allowed))
                         .add("right", v.right ? "true" : "false")
                         .add("text", json::text(v.text))
                         .text());
}

// True if it is the machine that refuses the call, whatever its sizes.
bool cannot_run(const status &s) {
  return s.code() == status_code::unsupported || s.code() == status_code::no_device;
}

// Leaves the inputs of the call in `inputs`, nothing if the call failed.
verdict check_once(const request &r, const kernel_sizes &s, arrays &inputs) {
  const qkv_kernel &k = *r.kernel;
  std::vector<value> all = random_arguments(k, s, r.seed);
  if (!r.compared.tool.empty())
    run_by_tool(r, s, all);
  else if (status done = qkv::run(k, descriptors(all), r.how()); cannot_run(done))
    throw refusal(done.text());
  else if (!done)
    return {false, INFINITY, 0, done.text()};
  std::vector<array> results;
  for (int i = 0; i < k.n_arguments; ++i) {
    array numbers = all[static_cast<std::size_t>(i)].numbers();
    if (k.arguments[i].role == QKV_OUT) {
      results.push_back(std::move(numbers));
    } else {
      inputs[k.arguments[i].name] = std::move(numbers);
    }
  }
  if (r.spec->compare) return r.spec->compare(inputs, s.by_name(), results);
  return compare_plainly(r.spec->reference(inputs, s.by_name()), results);
}

// Sizes around the edges of tiles for the axes that the call decides. Column 0 is for the first of
// several axes, usually the batch: two rows make it large and keep the other axes small. One set
// where the user gave some sizes, or where none is left to choose.
std::vector<kernel_sizes> sizes_to_try(const request &r) {
  constexpr std::int64_t sizes[][4] = {
      {1, 1, 1, 1},  {2, 17, 33, 5}, {1, 64, 64, 64}, {3, 97, 40, 130}, {2, 128, 257, 16},
      {33, 5, 5, 5}, {70, 19, 2, 3}, {0, 5, 5, 5},    {2, 0, 9, 3},     {2, 9, 0, 3}};
  const qkv_kernel &k = *r.kernel;
  std::vector<int> open;
  for (int a = 0; a < k.n_axes; ++a)
    if (k.axes[a].root == a && k.axes[a].size < 0) open.push_back(a);
  std::vector<kernel_sizes> all;
  for (std::size_t t = r.size.empty() ? 0 : 1; t < std::size(sizes); ++t) {
    kernel_sizes s = r.sizes_asked();
    s.complete();
    bool chosen = false;
    const std::size_t skipped = open.size() == 1 ? 1 : 0;  // a single one is not the batch
    for (std::size_t place = 0; place < open.size(); ++place) {
      if (s.known(open[place])) continue;
      const std::size_t column = place + skipped;
      s.set(open[place], sizes[t][column < 4 ? column : 1 + (column - 1) % 3]);
      s.complete();  // derived sizes are not chosen
      chosen = true;
    }
    all.push_back(s);
    if (!r.size.empty() || !chosen) break;
  }
  return all;
}

}  // namespace

bool check(const request &r) {
  if (!r.spec || !(r.spec->compare || r.spec->reference))
    throw refusal(fmt::format("{}: this tool was built without its reference", r.kernel->name));
  if (r.compared.by_differences && !r.spec->slopes)
    throw refusal(fmt::format("{} is not a gradient", r.kernel->name));
  constexpr int most_with_differences = 2;  // sizes: the interpreter takes long
  bool right = true;
  int turn = 0;
  for (const kernel_sizes &s : sizes_to_try(r)) {
    arrays inputs;
    const verdict v = check_once(r, s, inputs);
    report(r, s, v);
    right &= v.right;
    if (r.compared.by_differences && !inputs.empty() && turn++ < most_with_differences)
      right &= check_slopes(r, inputs, s);
  }
  return right;
}

}  // namespace qkv::tool
