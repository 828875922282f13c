// SPDX-License-Identifier: BSL-1.0
#include "codegen/reference/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <qkv/core/half.hpp>
#include <stdexcept>

#include "codegen/program/scans.hpp"
#include "codegen/reference/noise.hpp"
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
  interpreter(const program &p, const arrays &arguments, std::vector<std::int64_t> size, order how,
              alteration altered = {})
      : p_(p),
        arguments_(arguments),
        altered_(std::move(altered)),
        size_(size),
        steps_(p, std::move(size), how),
        values_(p.nodes.size()),
        noise_(p.nodes.size()),
        walked_(walked_axes(p)) {}

  arrays run() {
    const std::vector<node_id> last = last_uses();
    for (node_id k = 0; k < count(); ++k) {
      const node &n = p_[k];
      if (walked_[k] >= 0) continue;  // computed by its scan, position by position
      if (n.kind == op::input || n.kind == op::param)
        values_[k] = argument(n);
      else if (n.kind == op::scan || n.kind == op::last)
        scan(k);
      else
        step(k);
      for (node_id used = 0; used < k; ++used)
        if (last[used] == k) values_[used] = {}, noise_[used] = {};
    }
    return outputs(values_);
  }

  measured run_and_measure() {
    meter_.emplace(p_, steps_);
    measured m;
    m.values = run();
    for (node_id n : p_.outputs)
      if (noise_[n].data.empty()) noise_[n] = steps_.blank(p_[n].shape);
    m.noise = outputs(noise_);
    return m;
  }

 private:
  using value = detail::tensor_value<T>;

  arrays outputs(const std::vector<value> &of) const {
    arrays results;
    for (node_id n : p_.outputs) {
      array &r = results[p_[n].name];
      r.shape = of[n].extent;
      for (const T x : of[n].data) r.data.push_back(static_cast<double>(x));
    }
    return results;
  }

  value argument(const node &n) const {
    const array &from = argument_called(p_, arguments_, n.name);
    value v = steps_.blank(n.shape);
    for (std::size_t k = 0; k < v.data.size(); ++k)
      v.data[k] = n.type == i32   ? stored(i32, from.data[k])
                  : n.type == f32 ? static_cast<T>(from.data[k])
                                  : static_cast<T>(stored(n.type, from.data[k]));
    return v;
  }

  node_id count() const { return static_cast<node_id>(p_.nodes.size()); }

  // Steps that a scan reads from outside stay alive until the last result of that scan.
  std::vector<node_id> last_uses() const {
    std::vector<node_id> last(p_.nodes.size(), -1);
    for (node_id k = count(); k-- > 0;)
      for (node_id operand : p_[k].in)
        last[operand] = std::max(last[operand], walked_[k] >= 0 ? last[k] : k);
    return last;
  }

  // A value of a scan and its noise, in the same layout.
  struct state {
    value number, noise;
  };

  // Every step inside, for each position in turn.
  void scan(node_id result) {
    const node &n = p_[result];
    const node_id carried = n.in[0], next = n.in[1], wanted = n.in.back(),
                  start = p_[carried].in[0];
    std::vector<bool> needed(p_.nodes.size(), false);
    needed[next] = needed[wanted] = true;
    for (node_id k = result; k-- > 0;)
      if (needed[k] && walked_[k] >= 0 && k != carried)
        for (node_id operand : p_[k].in) needed[operand] = true;
    const axis_id axis = n.over[0];
    state all{steps_.blank(n.shape), {}}, now{steps_.without_states(values_[start]), noise_[start]};
    if (meter_) all.noise = all.number;
    for (std::int64_t t = 0; t < size_[axis]; ++t) {
      values_[carried] = now.number, noise_[carried] = now.noise;
      for (node_id k = 0; k < result; ++k)
        if (needed[k] && walked_[k] >= 0 && k != carried) {
          if (p_[k].kind == op::element)
            element(k, axis, t);
          else
            step(k);
          if (k == next) {
            state kept = carried_on({std::move(values_[k]), std::move(noise_[k])}, now);
            values_[k] = std::move(kept.number), noise_[k] = std::move(kept.noise);
          }
        }
      if (n.kind == op::scan) {
        steps_.put_position(all.number, values_[wanted], axis, t);
        if (!noise_[wanted].data.empty()) {
          noise_[wanted].states.clear();
          steps_.put_position(all.noise, noise_[wanted], axis, t);
        }
      }
      now = carried_on({values_[next], noise_[next]}, now);
    }
    values_[result] = n.kind == op::scan ? std::move(all.number) : std::move(now.number);
    noise_[result] = n.kind == op::scan ? std::move(all.noise) : std::move(now.noise);
  }

  // Keeps the old state where the next one is absent.
  state carried_on(state next, const state &now) const {
    if (meter_) next.noise = meter_->carried_on(next.number, std::move(next.noise), now.noise);
    steps_.keep_where_absent(next.number, now.number);
    return next;
  }

  void element(node_id k, axis_id axis, std::int64_t t) {
    const node_id whole = p_[k].in[0];
    values_[k] = steps_.at_position(values_[whole], p_[k].shape, axis, t);
    if (meter_ && !noise_[whole].data.empty())
      noise_[k] = steps_.at_position(noise_[whole], p_[k].shape, axis, t);
  }

  void step(node_id k) {
    std::vector<const value *> operands, noises;
    for (node_id operand : p_[k].in) {
      operands.push_back(&values_[operand]);
      noises.push_back(&noise_[operand]);
    }
    value v = steps_.run(p_[k], operands);
    if constexpr (std::is_same_v<typename value::number, double>)
      if (altered_) altered_(p_[k], v.data);
    if (meter_) noise_[k] = meter_->of(k, operands, noises, v);
    values_[k] = std::move(v);
  }

  const program &p_;
  const arrays &arguments_;
  const alteration altered_;
  const std::vector<std::int64_t> size_;
  detail::steps<T> steps_;
  std::optional<detail::noise_meter<T>> meter_;
  std::vector<value> values_, noise_;
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

namespace {

bool has_f64(const program &p) {
  return std::any_of(p.nodes.begin(), p.nodes.end(), [](const node &n) { return n.type == f64; });
}

}  // namespace

arrays interpret(const program &p, const arrays &arguments, const size_map &sizes) {
  const std::vector<std::int64_t> size = sizes_of(p, arguments, sizes);
  if (has_f64(p)) return interpreter<long double>(p, arguments, size, order::in_sequence).run();
  return interpreter<double>(p, arguments, size, order::in_sequence).run();
}

measured interpret_and_measure(const program &p, const arrays &arguments, const size_map &sizes) {
  const std::vector<std::int64_t> size = sizes_of(p, arguments, sizes);
  if (has_f64(p))
    return interpreter<long double>(p, arguments, size, order::in_sequence).run_and_measure();
  return interpreter<double>(p, arguments, size, order::in_sequence).run_and_measure();
}

arrays interpret_as_float(const program &p, const arrays &arguments, const size_map &sizes,
                          order how, const alteration &altered) {
  return interpreter<float>(p, arguments, sizes_of(p, arguments, sizes), how, altered).run();
}

arrays interpret_as_double(const program &p, const arrays &arguments, const size_map &sizes,
                           order how, const alteration &altered) {
  return interpreter<double>(p, arguments, sizes_of(p, arguments, sizes), how, altered).run();
}

}  // namespace qkv::codegen
