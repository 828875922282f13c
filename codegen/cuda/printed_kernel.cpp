// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/printed_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <stdexcept>

namespace qkv::codegen {

std::string variable_of_number(const printed_kernel &k, std::size_t number) {
  return fmt::format("{}.n{}", k.name, number);
}

std::string text_of(const printed_kernel &k, const printed_code &code,
                    const std::vector<entry_parameter> &parameters) {
  std::map<std::string, std::string> members;  // by Halide's names
  std::string fields;
  for (std::size_t t = 0; t < k.tensors.size(); ++t) {
    const printed_tensor &x = k.tensors[t];
    members[x.halide_name] = fmt::format("b{}", t);
    fields += fmt::format("  {}{} *b{};\n", x.written ? "" : "const ", x.type, t);
  }
  for (std::size_t n = 0; n < k.numbers.size(); ++n) {
    if (const auto c = Halide::Internal::as_const_int(k.numbers[n])) {
      fields += fmt::format("  static constexpr int n{} = {};\n", n, *c);
    } else {
      members[variable_of_number(k, n)] = fmt::format("n{}", n);
      fields += fmt::format("  int n{};\n", n);
    }
  }
  std::vector<std::string> list;
  std::string set;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto it = members.find(parameters[p].halide_name);
    if (it == members.end())
      throw std::logic_error(k.name + ": Halide passes " + parameters[p].halide_name);
    const bool tensor = parameters[p].is_buffer;
    list.push_back(fmt::format("{} p{}", tensor ? "void *" : "int", p));
    set += fmt::format("  a.{0} = {1}p{2};\n", it->second,
                       tensor ? "static_cast<decltype(a." + it->second + ")>(" : "(", p);
    set.insert(set.size() - 2, ")");
    members.erase(it);
  }
  if (!members.empty())
    throw std::logic_error(k.name + ": Halide does not pass " + members.begin()->first);
  const auto entry = [&](const std::string &name, const std::string &body, int threads) {
    return fmt::format(
        "\nextern \"C\" __global__ void __launch_bounds__({}, 1) {}({}) {{\n"
        "  arguments a;\n{}  {}<spec>(a);\n}}\n",
        threads, name, fmt::join(list, ", "), set, body);
  };
  std::string text = fmt::format("struct arguments {{\n{}}};\nstruct spec {{\n{}{}}};\n", fields,
                                 code.constants, k.spec) +
                     entry(k.name, code.skeleton, code.threads);
  if (code.merge_threads > 0) text += entry(k.name + "_merge", "merge", code.merge_threads);
  return text;
}

}  // namespace qkv::codegen
