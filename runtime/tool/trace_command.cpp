// SPDX-License-Identifier: BSL-1.0
// trace K: the numbers of every step, by the reference interpreter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tool/inputs.hpp"

namespace qkv::tool {
namespace {

constexpr std::int64_t most_rows = 8, most_columns = 8;

arrays numbers_of(const qkv_kernel &k, const std::vector<value> &all) {
  arrays inputs;
  for (int i = 0; i < k.n_arguments; ++i)
    if (k.arguments[i].role != QKV_OUT)
      inputs[k.arguments[i].name] = all[static_cast<std::size_t>(i)].numbers();
  return inputs;
}

// The arguments of the call: files, or random numbers at small sizes.
arrays arguments(const request &r, kernel_sizes &s) {
  if (!r.in.empty()) {
    std::string words;
    return numbers_of(*r.kernel, inputs_from_files(r, s, words));
  }
  constexpr std::int64_t few = 4;
  s.complete_with(few);
  return numbers_of(*r.kernel, random_arguments(*r.kernel, s, r.seed));
}

// "scores [heads=2, seq=4, kv=4]  -1.2 to 3.4, mean 0.1, 6 hidden"
std::string headline(const step &x) {
  double least = INFINITY, most = -INFINITY, sum = 0;
  std::int64_t finite = 0, other = 0;
  for (const double v : x.values.data) {
    if (!std::isfinite(v)) {
      ++other;
      continue;
    }
    least = std::min(least, v), most = std::max(most, v), sum += v, ++finite;
  }
  std::string text = x.title();
  if (finite > 0)
    text += fmt::format("  {:.4g} to {:.4g}, mean {:.4g}", least, most,
                        sum / static_cast<double>(finite));
  if (other > 0) text += fmt::format(", {} hidden, infinite or NaN", other);
  return text + "\n";
}

// The first matrix of the last two axes.
std::string matrix(const step &x) {
  const std::vector<std::int64_t> &n = x.values.shape;
  if (x.values.data.empty()) return "";
  const std::int64_t columns = n.empty() ? 1 : n.back(), rows = n.size() < 2 ? 1 : n[n.size() - 2];
  std::string text;
  for (std::int64_t i = 0; i < std::min(rows, most_rows); ++i) {
    text += "   ";
    for (std::int64_t j = 0; j < std::min(columns, most_columns); ++j)
      text += fmt::format(" {:>9.4g}", x.values.data[static_cast<std::size_t>(i * columns + j)]);
    text += columns > most_columns ? "  ..\n" : "\n";
  }
  return text + (rows > most_rows ? "    ..\n" : "");
}

}  // namespace

void trace(const request &r) {
  if (!r.spec || !r.spec->trace)
    throw refusal(fmt::format("{}: this tool was built without its reference", r.kernel->name));
  kernel_sizes s = r.sizes_asked();
  const arrays inputs = arguments(r, s);
  const std::vector<step> steps = r.spec->trace(inputs, s.by_name());
  for (const step &x : steps) fmt::print("{}{}", headline(x), matrix(x));
  if (r.svg.empty()) return;
  if (!r.spec->heat_maps) throw refusal("this tool has no pictures");
  write_text(r.svg, r.spec->heat_maps(steps));
}

}  // namespace qkv::tool
