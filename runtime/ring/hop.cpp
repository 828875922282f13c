// SPDX-License-Identifier: BSL-1.0
#include "ring/hop.hpp"

#include <algorithm>
#include <qkv/core/partial_sum.hpp>
#include <utility>

#include "memory/dense.hpp"
#include "ring/join.hpp"
#include "ring/message.hpp"

namespace qkv::ring {
namespace {

double beginning(std::string_view sum) {
  return core::beginning_of(core::joining_of(sum).value_or(core::joining::sum));
}

}  // namespace

hop::hop(machine &m, int round)
    : m_(m),
      k_(*m.of().hops[static_cast<std::size_t>(round)]),
      seen_(m.of().seen[static_cast<std::size_t>(round)]),
      queries_(m.queries()) {
  const qkv_kernel &k = k_;
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role != QKV_OUT) {
      const auto at = m.tensors.find(a.name);
      if (at == m.tensors.end()) continue;
      const int key = at->second.place(m.of().key);
      if (key >= 0 && at->second.place(m.of().query) < 0) keys_.add(a.name, at->second.t, key);
      continue;
    }
    const hop_result kind = result_kind(k, a, m.of());
    if (kind == hop_result::sum_for_keys) {
      local_tensor home = m.made(k, a, 0, m.where.n_keys(m.rank()));
      sums_.add(a.name, home.t, home.place(m.of().key));
      home_.emplace(a.name, std::move(home));
    }
    if (kind != hop_result::continued) continue;
    const std::int64_t queries = m.where.n_queries(m.rank());
    const bool is_total = !has_axis(k, a, m.of().query);
    state s{m.made(k, a, queries, 0), m.made(k, a, queries, 0),
            std::vector<bool>(is_total ? 1 : queries_.size()), is_total};
    fill(s.first, beginning(a.name));
    states.emplace(a.name, std::move(s));
  }
}

void hop::pack(std::byte *memory) const {
  const auto runs = keys_.placed(m_.where.keys(m_.rank()), memory);
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (const auto &[name, t] : runs[r])
      detail::copy_dense(m_.of_run(m_.tensors.at(name), r), t.data);
}

void hop::unpack_sums(std::byte *memory) {
  for (auto &[name, x] : home_) m_.tensors[name] = x;
  const auto runs = sums_.placed(m_.where.keys(m_.rank()), memory);
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (const auto &[name, t] : runs[r])
      detail::copy_apart(t.data, m_.of_run(m_.tensors.at(name), r));
}

status hop::with_own() {
  const auto where = m_.where.keys(m_.rank());
  for (std::size_t r = 0; r < where.size(); ++r) {
    if (where[r].n == 0) continue;
    tensors_by_name keys;
    for (int i = 0; i < k_.n_arguments; ++i) {
      const auto at = m_.tensors.find(k_.arguments[i].name);
      if (at == m_.tensors.end() || k_.arguments[i].role == QKV_OUT) continue;
      const local_tensor &x = at->second;
      if (x.place(m_.of().query) < 0) keys[at->first] = m_.of_run(x, r);
    }
    if (status s = with_run(where[r], keys, {}); !s) return s;
  }
  return {};
}

status hop::with(int machine, std::byte *keys, std::byte *sums) {
  const auto where = m_.where.keys(machine);
  const auto all_keys = keys_.placed(where, keys), all_sums = sums_.placed(where, sums);
  for (std::size_t r = 0; r < where.size(); ++r)
    if (where[r].n > 0)
      if (status s = with_run(where[r], all_keys[r], all_sums[r]); !s) return s;
  return {};
}

status hop::with_run(const positions &run, const tensors_by_name &keys,
                     const tensors_by_name &sums) {
  bool is_first = true;
  for (std::size_t r = 0; r < queries_.size(); ++r) {
    bool sees = true;
    if (status s = look(queries_[r], run, keys, sees); !s) return s;
    if (!sees) continue;
    if (is_first || sums.empty()) {
      if (status s = with_queries(r, run, keys, sums); !s) return s;
    } else {
      tensors_by_name more;
      std::vector<std::shared_ptr<std::byte>> memory;
      for (const auto &[name, t] : sums) {
        memory.push_back(borrowed(m_.memory(), detail::dense_bytes(t)));
        more[name] = detail::dense(t, memory.back().get());
      }
      if (status s = with_queries(r, run, keys, more); !s) return s;
      for (const auto &[name, t] : sums) join(name, t, more.at(name));
    }
    is_first = false;
  }
  if (is_first)
    for (const auto &[name, t] : sums) fill({t, {}, nullptr}, beginning(name));
  return {};
}

qkv_tensor hop::argument(std::string_view name, const some_queries &q, const positions &run,
                         const tensors_by_name &keys, machine::position_memory &numbers) const {
  if (const auto key = keys.find(name); key != keys.end()) return key->second;
  if (const auto number = m_.position(name, q.of_all, run, numbers)) return *number;
  return m_.of_pairs(m_.tensors.find(name)->second, q, run);
}

// Masks often hide all pairs of some runs: a look is cheap beside a hop that changes nothing, and
// most often one query is enough of it.
status hop::look(const some_queries &q, const positions &run, const tensors_by_name &keys,
                 bool &sees) const {
  if (!seen_) return {};
  const std::int64_t last = q.of_all.n - 1;
  if (last > 0) {
    if (status s = look_at({{q.of_all.first + last, 1}, q.own + last}, run, keys, sees); !s || sees)
      return s;
    if (status s = look_at({{q.of_all.first, 1}, q.own}, run, keys, sees); !s || sees) return s;
  }
  return look_at(q, run, keys, sees);
}

status hop::look_at(const some_queries &q, const positions &run, const tensors_by_name &keys,
                    bool &sees) const {
  machine::position_memory numbers{};
  double pairs = 0;
  std::vector<qkv_tensor> list;
  for (int i = 0; i < seen_->n_arguments; ++i) {
    const qkv_argument &a = seen_->arguments[i];
    if (a.role != QKV_OUT) {
      list.push_back(argument(a.name, q, run, keys, numbers));
      continue;
    }
    qkv_tensor &t = list.emplace_back();
    t.data = &pairs;
    t.dtype = QKV_F64;
  }
  const status s = m_.run(*seen_, list);
  sees = pairs > 0;
  return s;
}

status hop::with_queries(std::size_t r, const positions &run, const tensors_by_name &keys,
                         const tensors_by_name &sums) {
  const some_queries &q = queries_[r];
  const auto place = [&](const state &s) { return s.is_total ? 0 : r; };
  machine::position_memory numbers{};
  std::vector<qkv_tensor> list;
  for (int i = 0; i < k_.n_arguments; ++i) {
    const qkv_argument &a = k_.arguments[i];
    const std::string_view name = a.name;
    if (a.role == QKV_OUT) {
      if (const auto at = states.find(name); at != states.end()) {
        const state &s = at->second;
        list.push_back(m_.of_queries(s.in_second[place(s)] ? s.first : s.second, q));
      } else if (const auto sum = sums.find(name); sum != sums.end()) {
        list.push_back(sum->second);
      } else {
        list.push_back(m_.of_pairs(m_.tensors.find(name)->second, q, run));
      }
    } else if (const auto at = states.find(name_after("before_", name)); at != states.end()) {
      const state &s = at->second;
      list.push_back(m_.of_queries(s.in_second[place(s)] ? s.second : s.first, q));
    } else {
      list.push_back(argument(name, q, run, keys, numbers));
    }
  }
  if (status s = m_.run(k_, list); !s) return s;
  for (auto &[name, s] : states) s.in_second[place(s)].flip();
  return {};
}

void hop::settle() {
  for (auto &[name, s] : states) {
    if (std::all_of(s.in_second.begin(), s.in_second.end(), [](bool second) { return second; }))
      std::swap(s.first, s.second);
    else
      for (std::size_t r = 0; r < s.in_second.size(); ++r)
        if (s.in_second[r]) {
          const auto part = [&](const local_tensor &x) {
            return s.is_total ? x.t : m_.of_queries(x, queries_[r]);
          };
          const qkv_tensor from = part(s.second);
          const auto elements = borrowed(m_.memory(), detail::dense_bytes(from));
          detail::copy_dense(from, elements.get());
          detail::copy_apart(elements.get(), part(s.first));
        }
    std::fill(s.in_second.begin(), s.in_second.end(), false);
  }
}

void hop::give(std::vector<std::string> &totals) {
  for (auto &[name, s] : states) {
    if (s.is_total) totals.push_back(name);
    m_.tensors[name] = std::move(s.first);
  }
}

}  // namespace qkv::ring
