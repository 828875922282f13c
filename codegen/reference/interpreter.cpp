#include "codegen/reference/interpreter.hpp"

#include <fmt/format.h>

#include <qkv/core/half.hpp>
#include <stdexcept>

#include "codegen/reference/steps.hpp"

namespace qkv::codegen {
namespace {

const array &argument_called(const program &p, const arrays &arguments, const std::string &name) {
  auto it = arguments.find(name);
  if (it == arguments.end())
    throw std::invalid_argument(fmt::format("{}: {} is missing", p.name, name));
  return it->second;
}

template <class T>
class interpreter {
 public:
  interpreter(const program &p, const arrays &arguments, std::vector<std::int64_t> size, order how)
      : p_(p), arguments_(arguments), steps_(p, std::move(size), how), values_(p.nodes.size()) {}

  arrays run() {
    std::vector<int> uses(p_.nodes.size(), 0);
    for (const node &n : p_.nodes)
      for (node_id operand : n.in) ++uses[operand];
    for (std::size_t k = 0; k < p_.nodes.size(); ++k) {
      const node &n = p_.nodes[k];
      values_[k] = n.kind == op::input || n.kind == op::param ? argument(n) : step(n);
      for (node_id operand : n.in)
        if (--uses[operand] == 0) values_[operand] = {};
    }
    arrays results;
    for (node_id n : p_.outputs) {
      const auto &v = values_[n];
      results[p_[n].name] = {v.extent, {v.data.begin(), v.data.end()}};
    }
    return results;
  }

 private:
  detail::tensor_value<T> argument(const node &n) const {
    const array &from = argument_called(p_, arguments_, n.name);
    detail::tensor_value<T> v = steps_.blank(n.shape);
    for (std::size_t k = 0; k < v.data.size(); ++k)
      v.data[k] = static_cast<T>(n.type == f32 ? from.data[k] : stored(n.type, from.data[k]));
    return v;
  }

  detail::tensor_value<T> step(const node &n) const {
    std::vector<const detail::tensor_value<T> *> operands;
    for (node_id operand : n.in) operands.push_back(&values_[operand]);
    return steps_.run(n, operands);
  }

  const program &p_;
  const arrays &arguments_;
  detail::steps<T> steps_;
  std::vector<detail::tensor_value<T>> values_;
};

}  // namespace

std::vector<std::int64_t> sizes_of(const program &p, const arrays &arguments,
                                   const size_map &sizes) {
  size_map all = sizes;
  for (node_id id : p.arguments) {
    const node &n = p[id];
    const array &from = argument_called(p, arguments, n.name);
    if (from.shape.size() != n.shape.size())
      throw std::invalid_argument(fmt::format("{}: {} has {} axes, not {}", p.name, n.name,
                                              from.shape.size(), n.shape.size()));
    for (std::size_t d = 0; d < n.shape.size(); ++d) {
      const axis &a = p.axes[n.shape[d]];
      auto [at, is_new] = all.emplace(a.name, from.shape[d]);
      const std::int64_t expected = a.size >= 0 ? a.size : at->second;
      if (expected != from.shape[d])
        throw std::invalid_argument(fmt::format("{}: axis {} is {} in {} but {} is expected",
                                                p.name, a.name, from.shape[d], n.name, expected));
    }
    if (static_cast<std::int64_t>(from.data.size()) != detail::product(from.shape))
      throw std::invalid_argument(
          fmt::format("{}: {} has {} elements", p.name, n.name, from.data.size()));
  }
  return all_sizes(p, all);
}

arrays interpret(const program &p, const arrays &arguments, const size_map &sizes) {
  return interpreter<double>(p, arguments, sizes_of(p, arguments, sizes), order::in_sequence).run();
}

arrays interpret_as_float(const program &p, const arrays &arguments, const size_map &sizes,
                          order how) {
  return interpreter<float>(p, arguments, sizes_of(p, arguments, sizes), how).run();
}

}  // namespace qkv::codegen
