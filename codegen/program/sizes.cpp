// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/sizes.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace qkv::codegen {
namespace {

class solver {
 public:
  solver(const program &p, const size_map &given) : p_(p), size_(static_sizes(p)) {
    for (axis_id a = 0; a < static_cast<axis_id>(p.axes.size()); ++a)
      if (auto it = given.find(p.axes[a].name); it != given.end()) set(a, it->second);
    // Every condition that decides something decides for good, so as many rounds as conditions are
    // enough.
    for (std::size_t round = 0; round < p.conditions.size(); ++round)
      for (const condition &c : p.conditions) follow(c);
    for (axis_id a = 0; a < static_cast<axis_id>(p.axes.size()); ++a) size_[a] = get(a);
    for (const condition &c : p.conditions)
      if (known(c) && !holds(c, size_))
        throw std::invalid_argument(p.name + ": " + explain(p, c, size_));
  }

  std::vector<std::int64_t> result() && { return std::move(size_); }

 private:
  std::int64_t get(axis_id a) const { return size_[a] >= 0 ? size_[a] : size_[p_.axes[a].root]; }

  void set(axis_id a, std::int64_t n) {
    if (n < 0)
      throw std::invalid_argument(
          fmt::format("{}: axis {} cannot be {}", p_.name, p_.axes[a].name, n));
    if (get(a) >= 0 && get(a) != n)
      throw std::invalid_argument(
          fmt::format("{}: axis {} is {}, not {}", p_.name, p_.axes[a].name, get(a), n));
    size_[a] = size_[p_.axes[a].root] = n;
  }

  bool known(const condition &c) const {
    return get(c.a) >= 0 && get(c.b) >= 0 && (c.what == condition::same_size || get(c.c) >= 0);
  }

  void follow(const condition &c) {
    const std::int64_t a = get(c.a), b = get(c.b);
    if (c.what == condition::same_size) {
      if (a >= 0 && b < 0) set(c.b, a);
      if (b >= 0 && a < 0) set(c.a, b);
      return;
    }
    const std::int64_t d = get(c.c);
    if (c.what == condition::sum) {
      if (a < 0 && b >= 0 && d >= 0) set(c.a, b + d);
      if (a >= b && b >= 0 && d < 0) set(c.c, a - b);
      if (a >= d && d >= 0 && b < 0) set(c.b, a - d);
      return;
    }
    if (a < 0 && b >= 0 && d >= 0) set(c.a, b * d);
    if (a >= 0 && b > 0 && d < 0 && a % b == 0) set(c.c, a / b);
    if (a >= 0 && d > 0 && b < 0 && a % d == 0) set(c.b, a / d);
  }

  const program &p_;
  std::vector<std::int64_t> size_;
};

}  // namespace

std::vector<axis_id> run_time_axes(const program &p) {
  std::vector<axis_id> roots;
  for (axis_id a = 0; a < static_cast<axis_id>(p.axes.size()); ++a)
    if (p.axes[a].root == a && p.axes[a].size < 0) roots.push_back(a);
  return roots;
}

std::vector<std::int64_t> static_sizes(const program &p) {
  std::vector<std::int64_t> size;
  for (const axis &a : p.axes) size.push_back(a.size);
  return size;
}

std::vector<std::int64_t> resolve_sizes(const program &p, const size_map &given) {
  return solver(p, given).result();
}

std::vector<std::int64_t> all_sizes(const program &p, const size_map &given) {
  std::vector<std::int64_t> size = resolve_sizes(p, given);
  for (std::size_t a = 0; a < size.size(); ++a)
    if (size[a] < 0)
      throw std::invalid_argument(
          fmt::format("{}: the size of axis {} is not known", p.name, p.axes[a].name));
  return size;
}

void require_sizes(const program &p) {
  std::vector<bool> known(p.axes.size());  // indexed by root axis
  const auto root = [&](axis_id a) { return static_cast<std::size_t>(p.axes[a].root); };
  for (const axis &a : p.axes)
    if (a.size >= 0) known[static_cast<std::size_t>(a.root)] = true;
  for (const std::vector<node_id> *list : {&p.arguments, &p.outputs})
    for (node_id n : *list)
      for (axis_id a : p[n].shape) known[root(a)] = true;
  for (std::size_t round = 0; round < p.conditions.size(); ++round)
    for (const condition &c : p.conditions) {
      std::vector<axis_id> all = {c.a, c.b};
      if (c.what != condition::same_size) all.push_back(c.c);
      std::erase_if(all, [&](axis_id a) { return known[root(a)]; });
      if (all.size() == 1) known[root(all[0])] = true;
    }
  for (const axis &a : p.axes)
    if (!known[static_cast<std::size_t>(a.root)])
      throw std::runtime_error(
          fmt::format("{}: axis {} has no size: no argument carries it", p.name, a.name));
}

bool holds(const condition &c, const std::vector<std::int64_t> &size) {
  if (c.what == condition::same_size) return size[c.a] == size[c.b];
  if (c.what == condition::sum) return size[c.a] == size[c.b] + size[c.c];
  return size[c.a] == size[c.b] * size[c.c];
}

std::string explain(const program &p, const condition &c, const std::vector<std::int64_t> &size) {
  const auto name = [&](axis_id a) { return p.axes[a].name; };
  if (c.what == condition::same_size)
    return fmt::format("{}: {} is {} but {} is {}", c.text, name(c.a), size[c.a], name(c.b),
                       size[c.b]);
  return fmt::format("{0}: {1} is {2} but {3} {7} {4} is {5} {7} {6}", c.text, name(c.a), size[c.a],
                     name(c.b), name(c.c), size[c.b], size[c.c],
                     c.what == condition::sum ? '+' : '*');
}

std::int64_t elements(const std::vector<axis_id> &shape, const std::vector<std::int64_t> &size) {
  std::int64_t n = 1;
  for (axis_id a : shape) n *= size[a];
  return n;
}

}  // namespace qkv::codegen
