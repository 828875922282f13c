#include "codegen/reference/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <qkv/core/half.hpp>
#include <stdexcept>

#include "codegen/program/scans.hpp"
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
      : p_(p),
        arguments_(arguments),
        size_(size),
        steps_(p, std::move(size), how),
        values_(p.nodes.size()),
        walked_(walked_axes(p)) {}

  arrays run() {
    const std::vector<node_id> last = last_uses();
    for (node_id k = 0; k < count(); ++k) {
      const node &n = p_[k];
      if (walked_[k] >= 0) continue;  // computed by its scan, position by position
      values_[k] = n.kind == op::input || n.kind == op::param ? argument(n)
                   : n.kind == op::scan || n.kind == op::last ? scan(k)
                                                              : step(n);
      for (node_id used = 0; used < k; ++used)
        if (last[used] == k) values_[used] = {};
    }
    arrays results;
    for (node_id n : p_.outputs) {
      const auto &v = values_[n];
      array &r = results[p_[n].name];
      r.shape = v.extent;
      for (const T x : v.data) r.data.push_back(static_cast<double>(x));
    }
    return results;
  }

 private:
  detail::tensor_value<T> argument(const node &n) const {
    const array &from = argument_called(p_, arguments_, n.name);
    detail::tensor_value<T> v = steps_.blank(n.shape);
    for (std::size_t k = 0; k < v.data.size(); ++k)
      v.data[k] = n.type == i32   ? stored(i32, from.data[k])
                  : n.type == f32 ? static_cast<T>(from.data[k])
                                  : static_cast<T>(stored(n.type, from.data[k]));
    return v;
  }

  node_id count() const { return static_cast<node_id>(p_.nodes.size()); }

  // What a step inside of a scan reads is read until the last result of that scan.
  std::vector<node_id> last_uses() const {
    std::vector<node_id> last(p_.nodes.size(), -1);
    for (node_id k = count(); k-- > 0;)
      for (node_id operand : p_[k].in)
        last[operand] = std::max(last[operand], walked_[k] >= 0 ? last[k] : k);
    return last;
  }

  // Every step inside, for each position in turn.
  detail::tensor_value<T> scan(node_id result) {
    const node &n = p_[result];
    const node_id carried = n.in[0], next = n.in[1], wanted = n.in.back();
    std::vector<bool> needed(p_.nodes.size(), false);
    needed[next] = needed[wanted] = true;
    for (node_id k = result; k-- > 0;)
      if (needed[k] && walked_[k] >= 0 && k != carried)
        for (node_id operand : p_[k].in) needed[operand] = true;
    const axis_id axis = n.over[0];
    detail::tensor_value<T> all = steps_.blank(n.shape),
                            state = steps_.without_states(values_[p_[carried].in[0]]);
    for (std::int64_t t = 0; t < size_[axis]; ++t) {
      values_[carried] = state;
      for (node_id k = 0; k < result; ++k)
        if (needed[k] && walked_[k] >= 0 && k != carried) {
          values_[k] = p_[k].kind == op::element
                           ? steps_.at_position(values_[p_[k].in[0]], p_[k].shape, axis, t)
                           : step(p_[k]);
          if (k == next) steps_.keep_where_absent(values_[k], state);
        }
      if (n.kind == op::scan) steps_.put_position(all, values_[wanted], axis, t);
      detail::tensor_value<T> after = values_[next];
      steps_.keep_where_absent(after, state);
      state = std::move(after);
    }
    return n.kind == op::scan ? all : state;
  }

  detail::tensor_value<T> step(const node &n) const {
    std::vector<const detail::tensor_value<T> *> operands;
    for (node_id operand : n.in) operands.push_back(&values_[operand]);
    return steps_.run(n, operands);
  }

  const program &p_;
  const arrays &arguments_;
  const std::vector<std::int64_t> size_;
  detail::steps<T> steps_;
  std::vector<detail::tensor_value<T>> values_;
  const std::vector<axis_id> walked_;
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
  const std::vector<std::int64_t> size = sizes_of(p, arguments, sizes);
  const bool wide =
      std::any_of(p.nodes.begin(), p.nodes.end(), [](const node &n) { return n.type == f64; });
  if (wide) return interpreter<long double>(p, arguments, size, order::in_sequence).run();
  return interpreter<double>(p, arguments, size, order::in_sequence).run();
}

arrays interpret_as_float(const program &p, const arrays &arguments, const size_map &sizes,
                          order how) {
  return interpreter<float>(p, arguments, sizes_of(p, arguments, sizes), how).run();
}

arrays interpret_as_double(const program &p, const arrays &arguments, const size_map &sizes,
                           order how) {
  return interpreter<double>(p, arguments, sizes_of(p, arguments, sizes), how).run();
}

}  // namespace qkv::codegen
