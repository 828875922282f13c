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
    const qkv_axis &mine = k.axes[axis_called(k, name)];
    all.push_back(name == of().query ? queries
                  : name == of().key ? keys
                  : axis.size >= 0   ? axis.size
                  : k.axes[mine.root].size >= 0
                      ? k.axes[mine.root].size
                      : checked.sizes[static_cast<std::size_t>(mine.root)]);
  }
  return all;
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
  const std::array<std::pair<std::string, std::int64_t>, 4> known = {
      {{"first_" + of().query, queries.first},
       {"first_" + of().key, keys.first},
       {"whole_" + of().query, where.all_queries()},
       {"whole_" + of().key, where.all_keys()}}};
  for (std::size_t n = 0; n < known.size(); ++n) {
    if (name != known[n].first) continue;
    memory[n] = static_cast<std::int32_t>(known[n].second);
    qkv_tensor t{};
    t.data = &memory[n];
    t.dtype = QKV_I32;
    return t;
  }
  return std::nullopt;
}

qkv_tensor machine::of_run(const local_tensor &x, std::size_t r) const {
  const int q = x.place(of().query), key = x.place(of().key);
  const auto queries = where.queries(rank()), keys = where.keys(rank());
  if (q >= 0) return x.part(q, offset(queries, r), queries[r].n);
  return key >= 0 ? x.part(key, offset(keys, r), keys[r].n) : x.t;
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
