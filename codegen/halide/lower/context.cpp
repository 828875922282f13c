// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/context.hpp"

#include <algorithm>
#include <stdexcept>

#include "codegen/program/queries.hpp"
#include "codegen/program/sizes.hpp"

namespace qkv::codegen {

using Halide::Expr;

Halide::Type halide_type(dtype t) {
  switch (t) {
    case f32:
      return Halide::Float(32);
    case f64:
      return Halide::Float(64);
    case i32:
      return Halide::Int(32);
    case b8:
      return Halide::UInt(8);
    case bf16:
      return Halide::BFloat(16);
    case f16:
      return Halide::Float(16);
  }
  return {};
}

namespace {

// A name that differs from every other argument's and from the Func through which Halide reads it.
std::string free_name(const program &p, std::string name, node_id own = -1) {
  while (std::any_of(p.arguments.begin(), p.arguments.end(), [&](node_id n) {
    return n != own && (p[n].name == name || p[n].name + "_im" == name);
  }))
    name += "_";
  return name;
}

}  // namespace

context::context(const plan &plan_, const std::vector<pack> &packs)
    : made(plan_),
      p(plan_.p),
      masked(masked_steps(p)),
      may_be_empty(steps_with_empty_weights(p)),
      has_gaps(steps_with_gaps(p)),
      whole(bounds_of_whole_numbers(p)) {
  for (axis_id a : run_time_axes(p)) {
    Halide::Param<int> size(free_name(p, "size__" + p.axes[a].name));
    size.set_min_value(0);
    sizes_.emplace(a, size);
    Halide::Param<int> last(free_name(p, "last__" + p.axes[a].name));
    last.set_min_value(0);
    last_.emplace(a, last);
  }
  for (const pack &k : packs) packs_.emplace(k.param, k);
  for (node_id n : p.arguments) {
    const node &x = p[n];
    const pack *k = packed(n);
    const int rank = static_cast<int>(k ? k->outer.size() + 3 : x.shape.size());
    Halide::ImageParam image(halide_type(x.type), rank, free_name(p, x.name, n));
    const auto bound = [&](std::size_t d, const Expr &n) {
      image.dim(static_cast<int>(d)).set_bounds(0, n);
    };
    if (k) {
      Expr rows = 1;
      for (axis_id a : k->rows) rows = rows * extent(a);
      const Expr columns = extent(k->columns[0]);
      bound(0, k->panel);
      bound(1, rows);
      bound(2, (columns + k->panel - 1) / k->panel);
      image.dim(1).set_stride(k->panel);
      image.dim(2).set_stride(k->panel * rows);
      for (std::size_t d = 0; d < k->outer.size(); ++d)
        bound(3 + d, extent(k->outer[k->outer.size() - 1 - d]));
    } else {
      for (std::size_t d = 0; d < x.shape.size(); ++d)
        bound(d, extent(x.shape[x.shape.size() - 1 - d]));
    }
    if (rank > 0) image.dim(0).set_stride(1);
    images_.emplace(n, image);
  }
}

Expr context::size(axis_id a) const {
  const std::int64_t size = static_size(p, a);
  return size >= 0 ? Expr(static_cast<int>(size)) : sizes_.at(p.axes[a].root);
}

Expr context::extent(axis_id a) const {
  const std::int64_t size = static_size(p, a);
  if (size >= 0) return std::max(1, static_cast<int>(size));
  return last_.at(p.axes[a].root) + 1;
}

Expr context::within(axis_id a, Expr position) const {
  return Halide::max(Halide::min(std::move(position), extent(a) - 1), 0);
}

Halide::Var context::var(axis_id a) const { return Halide::Var("at_" + p.axes[a].name); }

const pack *context::packed(node_id n) const {
  auto it = packs_.find(n);
  return it == packs_.end() ? nullptr : &it->second;
}

Expr context::read_packed(node_id n, Expr row, Expr column, const indices &outer) const {
  const pack &k = packs_.at(n);
  std::vector<Expr> at = {column % k.panel, row, column / k.panel};
  for (std::size_t d = k.outer.size(); d-- > 0;) at.push_back(outer.at(k.outer[d]));
  return images_.at(n)(at);
}

Expr context::read(node_id n, const indices &i) const {
  if (const pack *k = packed(n)) {
    Expr row = 0;
    for (axis_id a : k->rows) row = row * size(a) + i.at(a);
    return read_packed(n, row, i.at(k->columns[0]), i);
  }
  const Expr own = element(n, i), first = before(n);
  if (!first.defined()) return own;
  using Halide::Internal::Call;
  return Call::make(own.type(), Call::return_second, {first, own}, Call::PureIntrinsic);
}

Expr context::element(node_id n, const indices &i) const {
  const auto stored = stored_.find(n);
  const std::vector<axis_id> &order = stored == stored_.end() ? p[n].shape : stored->second.order;
  std::vector<Expr> at;
  for (std::size_t d = order.size(); d-- > 0;) at.push_back(i.at(order[d]));
  if (stored != stored_.end()) return stored->second.func(at);
  return images_.at(n)(at);
}

node_id context::read_by(const Halide::Internal::Call &call) const {
  for (const auto &[n, at] : stored_)
    if (at.func.name() == call.name) return n;
  for (const auto &[n, image] : images_)
    if (Halide::Func(image).name() == call.name) return n;
  throw std::logic_error("nothing is called " + call.name);
}

Expr context::unknown_number(const Expr &x) {
  if (!no_bits_.defined())
    no_bits_ = late.of_call(
        "no_bits", Halide::cast<int>(Halide::reinterpret<std::uint64_t>(user_context) == 1));
  const Halide::Type bits = Halide::Int(x.type().bits());
  return Halide::reinterpret(x.type(), Halide::reinterpret(bits, x) | Halide::cast(bits, no_bits_));
}

Halide::ExternFuncArgument context::whole_of(node_id n) const {
  const auto stored = stored_.find(n);
  if (stored != stored_.end()) return stored->second.func;
  return images_.at(n);
}

void context::store(node_id n, Halide::Func f, std::vector<axis_id> order) {
  stored_[n] = {std::move(f), std::move(order)};
}

void context::bound_whole(Halide::Func f, const std::vector<axis_id> &order,
                          std::size_t first) const {
  for (std::size_t d = 0; d < order.size(); ++d)
    f.bound(f.args()[first + d], 0, extent(order[order.size() - 1 - d]));
}

void context::bound_results() {
  for (const auto &[n, at] : stored_)
    if (p[n].kind == op::output && bounded_.insert(n).second) bound_whole(at.func, at.order);
}

void context::written_by(node_id n, node_id by) { written_by_[n] = by; }

Expr context::before(node_id n) const {
  const auto by = written_by_.find(n);
  if (by == written_by_.end() || !has(by->second)) return {};
  indices zero;
  for (axis_id a : order(by->second)) zero[a] = 0;
  return element(by->second, zero);
}

std::vector<Halide::Argument> context::arguments() const {
  std::vector<Halide::Argument> list;
  for (node_id n : p.arguments) list.push_back(images_.at(n));
  for (axis_id a : run_time_axes(p)) list.push_back(sizes_.at(a));
  for (axis_id a : run_time_axes(p)) list.push_back(last_.at(a));
  return list;
}

std::string context::label(const program &p, node_id n) {
  std::string s =
      p[n].name.empty() ? std::string(name_of(p[n].kind)) + std::to_string(n) : p[n].name;
  for (char &c : s)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return std::isalpha(static_cast<unsigned char>(s[0])) ? s : "step_" + s;
}

}  // namespace qkv::codegen
