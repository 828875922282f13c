// SPDX-License-Identifier: BSL-1.0
// Operations and bytes of six ways to attend, as formulas and for two numbers of tokens. Compares
// each kernel with loops.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <qkv/reference.hpp>
#include <string>
#include <vector>

#include "loops.hpp"

std::vector<qkv::codegen::traceable> qkv_specs_costs_kernels();  // the spec, traced

namespace {

constexpr int few = 1024, many = 8192;  // tokens

struct way {
  const char *kernel, *computes;
  bool (*is_right)();
};
constexpr way ways[] = {
    {"full_attention", "softmax(Q K' / sqrt(d_k)) V", costs::full_attention_is_right},
    {"low_rank", "the same, V = U A", costs::low_rank_is_right},
    {"linear", "phi(Q) (phi(K)' V) / phi(Q) sum phi(K)", costs::linear_is_right},
    {"landmarks", "softmax(Q L' / sqrt(d_k)) softmax(L K' / sqrt(d_k)) V, L of means of Q",
     costs::landmarks_is_right},
    {"cached", "softmax(q K' / sqrt(d_k)) V, one query q of each head", costs::cached_is_right},
    {"multi_query", "the same, one K and V for all heads", costs::multi_query_is_right},
};

// A formula after its name, broken between terms.
void print(const char *name, const std::string &formula) {
  constexpr std::size_t most = 80;
  std::string rest = formula;
  for (const char *label = name; !rest.empty(); label = "") {
    std::size_t end = rest.size() <= most ? rest.npos : rest.rfind(" + ", most);
    fmt::print("  {:<12} {}\n", label, rest.substr(0, end));
    rest = end == rest.npos ? "" : rest.substr(end + 1);
  }
}

std::string short_number(double x) {
  const char *unit = "";
  for (const char *larger : {"k", "M", "G", "T"})
    if (x >= 999.5) x /= 1000, unit = larger;
  return fmt::format("{:.3g}{}", x, unit);
}

}  // namespace

int main() try {
  const std::vector<qkv::tool::entry> kernels = qkv::oracles_of(qkv_specs_costs_kernels());
  const auto cost = [&](const way &w, int n) {
    const auto k = std::find_if(kernels.begin(), kernels.end(),
                                [&](const auto &entry) { return entry.name == w.kernel; });
    return k->cost({{"seq", n}});
  };

  for (const way &w : ways) {
    const qkv::tool::cost c = cost(w, few);
    fmt::print("{}: {}\n", w.kernel, w.computes);
    print("operations", c.flops.formula);
    print("bytes", c.argument_bytes.formula);
    print("every step", c.intermediate_bytes.formula);
    print("stored", c.stored_bytes.formula);
  }

  fmt::print("\n{:>26} tokens {:>36} tokens\n{:14}", few, many, "");
  for (int table = 0; table < 2; ++table)
    fmt::print("{:>11}{:>8}{:>12}{:>8}", "operations", "bytes", "every step", "stored");
  fmt::print("\n");
  for (const way &w : ways) {
    fmt::print("{:14}", w.kernel);
    for (int n : {few, many}) {
      const qkv::tool::cost c = cost(w, n);
      fmt::print("{:>11}{:>8}{:>12}{:>8}", short_number(c.flops.value),
                 short_number(c.argument_bytes.value), short_number(c.intermediate_bytes.value),
                 short_number(c.stored_bytes.value));
    }
    fmt::print("\n");
  }

  fmt::print("\n");
  bool all_right = true;
  for (const way &w : ways) {
    const bool right = w.is_right();
    fmt::print("{:14} {}\n", w.kernel,
               right ? fmt::format("equal to the loops within {:.0e}", costs::tolerance) : "WRONG");
    all_right &= right;
  }
  return all_right ? 0 : 1;
} catch (const std::exception &e) {
  fmt::print("{}\n", e.what());
  return 1;
}
