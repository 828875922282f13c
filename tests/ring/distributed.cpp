// SPDX-License-Identifier: BSL-1.0
#include "tests/ring/distributed.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <qkv/core/half.hpp>
#include <qkv/registry.hpp>
#include <stdexcept>

#include "ring_programs.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/ring/machines.hpp"
#include "tests/support/random.hpp"

namespace qkv::testing {

using codegen::array;
using codegen::arrays;
using codegen::program;

namespace {

// Memory of a tensor.
struct dense {
  std::vector<std::uint64_t> memory;
  qkv_tensor t{};

  dense(const array &a, dtype type) : memory(a.data.size() + 1) {
    t.data = memory.data();
    t.dtype = static_cast<std::int32_t>(type);
    t.rank = static_cast<std::int32_t>(a.shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = a.shape.size(); d-- > 0;) {
      t.extent[d] = a.shape[d];
      t.stride[d] = stride;
      stride *= std::max<std::int64_t>(a.shape[d], 1);
    }
    for (std::size_t k = 0; k < a.data.size(); ++k) put(k, a.data[k]);
  }
  void put(std::size_t k, double x) {
    if (t.dtype == QKV_F32) static_cast<float *>(t.data)[k] = static_cast<float>(x);
    if (t.dtype == QKV_I32) static_cast<std::int32_t *>(t.data)[k] = static_cast<std::int32_t>(x);
    if (t.dtype == QKV_BF16)
      static_cast<std::uint16_t *>(t.data)[k] = qkv::to_bf16(static_cast<float>(x));
  }
  array numbers() const {
    array a;
    std::int64_t n = 1;
    for (int d = 0; d < t.rank; ++d) n *= t.extent[d];
    a.shape.assign(t.extent, t.extent + t.rank);
    for (std::int64_t k = 0; k < n; ++k)
      a.data.push_back(t.dtype == QKV_F32
                           ? static_cast<float *>(t.data)[k]
                           : qkv::from_bf16(static_cast<std::uint16_t *>(t.data)[k]));
    return a;
  }
};

named_array named_of(const program &p, codegen::node_id n, array a) {
  named_array x{std::move(a), {}};
  for (codegen::axis_id d : p[n].shape) x.axes.push_back(p.axes[d].name);
  return x;
}

array blank_of(const program &p, codegen::node_id n, const codegen::size_map &sizes) {
  array a;
  std::size_t all = 1;
  for (codegen::axis_id d : p[n].shape) {
    const codegen::axis &root = p.axes[p.axes[d].root];
    a.shape.push_back(root.size >= 0 ? root.size : sizes.at(root.name));
    all *= static_cast<std::size_t>(a.shape.back());
  }
  a.data.assign(all, std::nan(""));
  return a;
}

tokens tokens_of(const ring::layout &where, int machine) {
  tokens t;
  for (const auto &r : where.queries(machine)) t.queries.push_back({r.first, r.n});
  for (const auto &r : where.keys(machine)) t.keys.push_back({r.first, r.n});
  return t;
}

}  // namespace

const std::vector<distributed_kernel> &distributed_kernels() {
  static const std::vector<distributed_kernel> all = {{"cross", "seq", "mem"},
                                                      {"masked", "seq", "kv"},
                                                      {"layer", "seq", "kv"},
                                                      {"biased_bf16", "seq", "mem"},
                                                      {"cross_gradient", "seq", "mem"},
                                                      {"layer_gradient", "seq", "kv"},
                                                      {"biased_bf16_gradient", "seq", "mem"},
                                                      {"groups_of_call", "seq", "mem"},
                                                      {"all_pairs", "seq", "mem"}};
  return all;
}

const program &program_of(const distributed_kernel &k) {
  static const std::vector<program> all = ring_programs();
  return *std::find_if(all.begin(), all.end(), [&](const program &p) { return p.name == k.name; });
}

codegen::size_map sizes_for(const program &p, std::int64_t queries, std::int64_t keys) {
  codegen::size_map sizes = small_sizes(p);
  sizes["seq"] = queries;
  if (sizes.count("mem")) sizes["mem"] = keys;
  return sizes;
}

distributed_calls::distributed_calls(const distributed_kernel &k, const codegen::size_map &sizes)
    : k_(k), p_(program_of(k)), sizes_(sizes), in_(arguments_for(p_, sizes, seed_or(5))) {
  for (auto n : p_.arguments)  // as memory has them
    if (p_[n].type == f32 || p_[n].type == bf16)
      in_[p_[n].name] = dense(in_.at(p_[n].name), p_[n].type).numbers();
  table_ = kernels(k.name).at(0);
}

arrays distributed_calls::reference() const {
  return codegen::interpret(codegen::widened(p_), in_, sizes_);
}

arrays distributed_calls::blank() const {
  arrays all;
  for (auto n : p_.outputs) all[p_[n].name] = blank_of(p_, n, sizes_);
  return all;
}

arrays distributed_calls::on_one() const {
  std::vector<dense> all;
  for (auto n : p_.arguments) all.emplace_back(in_.at(p_[n].name), p_[n].type);
  for (auto n : p_.outputs) all.emplace_back(blank_of(p_, n, sizes_), p_[n].type);
  std::vector<qkv_tensor> list;
  for (dense &d : all) list.push_back(d.t);
  if (const status s = qkv::run(*table_, list); !s) throw std::runtime_error(s.text());
  arrays results;
  for (std::size_t o = 0; o < p_.outputs.size(); ++o)
    results[p_[p_.outputs[o]].name] = all[p_.arguments.size() + o].numbers();
  return results;
}

status distributed_calls::on(ring::transport &t, const ring::layout &where, arrays &whole,
                             const ring::settings &how, const spoiler &change) const {
  const tokens own = tokens_of(where, t.rank());
  std::vector<dense> all;
  std::vector<named_array> parts;
  for (auto n : p_.arguments)
    all.emplace_back(part_of_machine(named_of(p_, n, in_.at(p_[n].name)), k_.query, k_.key, own).a,
                     p_[n].type);
  for (auto n : p_.outputs) {
    parts.push_back(
        part_of_machine(named_of(p_, n, blank_of(p_, n, sizes_)), k_.query, k_.key, own));
    all.emplace_back(parts.back().a, p_[n].type);
  }
  std::vector<qkv_tensor> list;
  for (dense &d : all) list.push_back(d.t);
  if (change) change(t.rank(), list);
  const status s = ring::run_parts(*table_, t, where, list, how);
  static std::mutex putting;
  const std::lock_guard hold(putting);
  for (std::size_t o = 0; o < parts.size(); ++o) {
    const auto n = p_.outputs[o];
    parts[o].a = all[p_.arguments.size() + o].numbers();
    named_array to = named_of(p_, n, whole.at(p_[n].name));
    put_part(to, parts[o], k_.query, k_.key, own);
    whole[p_[n].name] = to.a;
  }
  return s;
}

double distributed_calls::own_distance(const arrays &expected, const arrays &found,
                                       const ring::layout &where, int rank) const {
  const tokens own = tokens_of(where, rank);
  arrays a, b;
  for (auto n : p_.outputs) {
    const std::string &name = p_[n].name;
    a[name] = part_of_machine(named_of(p_, n, expected.at(name)), k_.query, k_.key, own).a;
    b[name] = part_of_machine(named_of(p_, n, found.at(name)), k_.query, k_.key, own).a;
  }
  return distance(a, b);
}

double rounding(const distributed_kernel &k, const arrays &reference) {
  double largest = 1;
  if (std::string(k.name) == "all_pairs")
    for (const auto &[name, x] : reference)
      for (const double y : x.data) largest = std::max(largest, std::fabs(y));
  return 1e-6 * largest;
}

double distance(const arrays &a, const arrays &b) {
  double most = 0;
  for (const auto &[name, x] : a)
    for (std::size_t k = 0; k < x.data.size(); ++k) {
      const double d = std::fabs(x.data[k] - b.at(name).data[k]);
      if (x.data[k] != b.at(name).data[k]) most = std::max(most, std::isnan(d) ? 1e9 : d);
    }
  return most;
}

const std::vector<named_layout> &layouts() {
  static const std::vector<named_layout> all = {
      {"contiguous", &ring::contiguous},
      {"zigzag", &ring::zigzag},
      {"stripes", [](int p, std::int64_t n, std::int64_t m) { return ring::stripes(p, n, m, 3); }}};
  return all;
}

}  // namespace qkv::testing
