// SPDX-License-Identifier: BSL-1.0
#include "ring/machine.hpp"

#include <algorithm>
#include <utility>

#include "status/fail.hpp"

namespace qkv::ring {

std::int64_t offset(std::span<const positions> runs, std::size_t r) {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < r; ++k) n += runs[k].n;
  return n;
}

machine::machine(const qkv_kernel &kernel, transport &t, const layout &l, const settings &s)
    : k(kernel), link(t), where(l), how(s), threads_(t, s.call), options_(s.call) {
  if (t.size() > 1) options_.executor = &threads_;
}

status machine::run(const qkv_kernel &part, std::span<const qkv_tensor> arguments) {
  return qkv::run(part, arguments, options_);
}

template <class Wait>
status machine::within_deadline(const Wait &wait) {
  const auto began = std::chrono::steady_clock::now();
  const status s = wait(std::max(how.deadline - waited_, transport::seconds(0)));
  waited_ += std::chrono::steady_clock::now() - began;
  return s;
}
status machine::finish() {
  return within_deadline([&](transport::seconds most) { return link.finish(most); });
}
status machine::agree(const status &own) {
  return within_deadline([&](transport::seconds most) { return link.agree(own, most); });
}

status machine::no_memory() const {
  return qkv::detail::fail(status_code::out_of_memory, "{}: no memory on machine {}", k.name,
                           rank());
}

std::vector<std::int64_t> machine::extents(const qkv_kernel &part, const qkv_argument &a,
                                           std::int64_t queries, std::int64_t keys) const {
  std::vector<std::int64_t> all;
  for (int d = 0; d < a.rank; ++d) {
    const qkv_axis &axis = part.axes[a.axes[d]];
    const std::string_view name = axis.name;
    all.push_back(name == of().query ? queries
                  : name == of().key ? keys
                  : axis.size >= 0   ? axis.size
                                     : size_of(name));
  }
  return all;
}

std::int64_t machine::size_of(std::string_view axis) const {
  const int root = k.axes[axis_called(k, axis)].root;
  return k.axes[root].size >= 0 ? k.axes[root].size : checked.sizes[static_cast<std::size_t>(root)];
}

local_tensor machine::made(const qkv_kernel &part, const qkv_argument &a, std::int64_t queries,
                           std::int64_t keys) const {
  return local_tensor::made(memory(), part, a, extents(part, a, queries, keys));
}

bool machine::is_unknown(const qkv_kernel &part, const qkv_argument &a) const {
  const std::vector<std::int64_t> e = extents(part, a, 0, 0);
  return std::any_of(e.begin(), e.end(), [](std::int64_t n) { return n < 0; });
}

std::optional<qkv_tensor> machine::position(std::string_view name, const positions &queries,
                                            const positions &keys, position_memory &memory) const {
  const std::string first = name_after("first_", name), whole = name_after("whole_", name);
  const std::string &axis = first.empty() ? whole : first;
  if (axis.empty() || tensors.count(name)) return std::nullopt;
  std::int64_t number = 0;
  if (axis == of().query)
    number = first.empty() ? where.all_queries() : queries.first;
  else if (axis == of().key)
    number = first.empty() ? where.all_keys() : keys.first;
  else if (first.empty())
    number = size_of(axis);
  return scalar(number, memory);
}

qkv_tensor machine::scalar(std::int64_t number, position_memory &memory) {
  qkv_tensor t{};
  t.data = &memory.emplace_back(static_cast<std::int32_t>(number));
  t.dtype = QKV_I32;
  return t;
}

qkv_tensor machine::of_run(const local_tensor &x, std::size_t r) const {
  const int q = x.place(of().query), key = x.place(of().key);
  const auto queries = where.queries(rank()), keys = where.keys(rank());
  if (q >= 0) return x.part(q, offset(queries, r), queries[r].n);
  if (key >= 0) return x.part(key, offset(keys, r), keys[r].n);
  const int pages = x.place(of().pages);
  if (pages < 0) return x.t;
  const std::int64_t n = std::max<std::int64_t>(size_of(of().within), 1);
  return x.part(pages, offset(keys, r) / n, keys[r].n / n);
}

qkv_tensor machine::of_queries(const local_tensor &x, const some_queries &q) const {
  return x.part(x.place(of().query), q.own, q.of_all.n);
}

qkv_tensor machine::of_pairs(const local_tensor &x, const some_queries &q,
                             const positions &keys) const {
  const local_tensor mine{of_queries(x, q), x.axes, nullptr};
  const int key = mine.place(of().key);
  return key < 0 ? mine.t : mine.part(key, keys.first, keys.n);
}

std::vector<some_queries> machine::queries() const {
  std::vector<some_queries> all;
  std::int64_t own = 0;
  for (const positions &r : where.queries(rank())) {
    if (r.n > 0) all.push_back({r, own});
    own += r.n;
  }
  return all;
}

}  // namespace qkv::ring
