// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <qkv/ring_layout.hpp>
#include <qkv/ring_transport.hpp>
#include <utility>

namespace qkv::ring {
namespace {

using runs = std::vector<positions>;

std::int64_t total(const runs &all) {
  std::int64_t n = 0;
  for (const positions &r : all) n += r.n;
  return n;
}

std::int64_t total(const std::vector<runs> &all) {
  std::int64_t n = 0;
  for (const runs &r : all) n += total(r);
  return n;
}

// n positions in so many parts of nearly one length.
runs even_parts(std::int64_t parts, std::int64_t n) {
  runs all;
  for (std::int64_t k = 0; k < parts; ++k) {
    const std::int64_t first = n * k / parts;
    all.push_back({first, n * (k + 1) / parts - first});
  }
  return all;
}

std::vector<runs> one_each(int machines, std::int64_t n) {
  std::vector<runs> all;
  for (const positions &r : even_parts(machines, n)) all.push_back({r});
  return all;
}

std::vector<runs> from_both_ends(int machines, std::int64_t n) {
  const runs halves = even_parts(2 * static_cast<std::int64_t>(machines), n);
  std::vector<runs> all;
  for (std::size_t m = 0; m < halves.size() / 2; ++m)
    all.push_back({halves[m], halves[halves.size() - 1 - m]});
  return all;
}

std::vector<runs> in_turn(int machines, std::int64_t n, std::int64_t block, std::size_t rounds) {
  std::vector<runs> all(static_cast<std::size_t>(machines));
  std::int64_t first = 0;
  for (std::size_t r = 0; r < rounds; ++r)
    for (runs &mine : all) {
      const std::int64_t length = std::clamp<std::int64_t>(n - first, 0, block);
      mine.push_back({first, length});
      first += length;
    }
  return all;
}

std::string defect_of(const std::vector<runs> &all, const char *what) {
  runs sorted;
  for (const runs &r : all)
    for (const positions &one : r) {
      if (one.n < 0 || one.first < 0) return fmt::format("a run of {} is negative", what);
      if (one.n > 0) sorted.push_back(one);
    }
  std::sort(sorted.begin(), sorted.end(),
            [](const positions &a, const positions &b) { return a.first < b.first; });
  std::int64_t next = 0;
  for (const positions &r : sorted) {
    if (r.first != next)
      return fmt::format("position {} of the {} is {}", std::min(r.first, next), what,
                         r.first > next ? "missing" : "given twice");
    next += r.n;
  }
  return {};
}

}  // namespace

layout::layout(std::vector<std::vector<positions>> queries,
               std::vector<std::vector<positions>> keys)
    : queries_(std::move(queries)), keys_(std::move(keys)) {
  const std::int64_t n = queries_.size() > 1 ? total(queries_[0]) : 0;
  queries_are_everywhere_ =
      n > 0 && std::all_of(queries_.begin(), queries_.end(), [&](const runs &r) {
        return total(r) == n && !defect_of({r}, "").size();
      });
}

std::span<const positions> layout::queries(int machine) const {
  return queries_[static_cast<std::size_t>(machine)];
}
std::span<const positions> layout::keys(int machine) const {
  return keys_[static_cast<std::size_t>(machine)];
}
std::int64_t layout::n_queries(int machine) const noexcept {
  return total(queries_[static_cast<std::size_t>(machine)]);
}
std::int64_t layout::n_keys(int machine) const noexcept {
  return total(keys_[static_cast<std::size_t>(machine)]);
}
std::int64_t layout::all_queries() const noexcept {
  return queries_are_everywhere_ ? n_queries(0) : total(queries_);
}
std::int64_t layout::all_keys() const noexcept { return total(keys_); }

std::string layout::defect() const {
  if (queries_.size() != keys_.size())
    return fmt::format("{} machines have queries, {} keys", queries_.size(), keys_.size());
  for (std::size_t m = 0; m < queries_.size(); ++m)
    if (queries_[m].empty() && keys_[m].empty())
      return fmt::format("machine {} has no run, not even an empty one", m);
  for (std::size_t m = 0; m < queries_.size(); ++m)
    if (queries_[m].size() != keys_[m].size())
      return fmt::format("machine {} has {} runs of queries and {} of keys", m, queries_[m].size(),
                         keys_[m].size());
  if (std::string d = defect_of(queries_, "queries"); !d.empty() && !queries_are_everywhere_)
    return d;
  return defect_of(keys_, "keys");
}

layout contiguous(int machines, std::int64_t queries, std::int64_t keys) {
  return {one_each(machines, queries), one_each(machines, keys)};
}

layout zigzag(int machines, std::int64_t queries, std::int64_t keys) {
  return {from_both_ends(machines, queries), from_both_ends(machines, keys)};
}

layout contiguous(const transport &of, std::int64_t queries, std::int64_t keys) {
  return contiguous(of.size(), queries, keys < 0 ? queries : keys);
}
layout zigzag(const transport &of, std::int64_t queries, std::int64_t keys) {
  return zigzag(of.size(), queries, keys < 0 ? queries : keys);
}

layout stripes(const transport &of, std::int64_t queries, std::int64_t keys) {
  return stripes(of.size(), queries, keys < 0 ? queries : keys);
}
layout by_cost(const transport &of, std::int64_t queries, std::span<const double> costs) {
  return by_cost(of.size(), queries, queries, costs);
}

// The costliest block first, each to the machine that has the least: at most 4/3 of the best.
layout by_cost(int machines, std::int64_t queries, std::int64_t keys,
               std::span<const double> costs) {
  if (machines < 1) return contiguous(machines, queries, keys);
  const auto n = static_cast<std::int64_t>(costs.size());
  const runs query_blocks = even_parts(n, queries), key_blocks = even_parts(n, keys);
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  struct load {
    double cost = 0;
    std::vector<std::size_t> blocks;
  };
  std::vector<load> all(static_cast<std::size_t>(machines));
  for (const std::size_t block : order) {
    const auto least = std::min_element(all.begin(), all.end(), [](const load &a, const load &b) {
      return std::pair(a.cost, a.blocks.size()) < std::pair(b.cost, b.blocks.size());
    });
    least->cost += costs[block];
    least->blocks.push_back(block);
  }
  std::vector<runs> of_queries, of_keys;
  for (load &l : all) {
    std::sort(l.blocks.begin(), l.blocks.end());
    runs &q = of_queries.emplace_back(), &k = of_keys.emplace_back();
    for (const std::size_t block : l.blocks)
      q.push_back(query_blocks[block]), k.push_back(key_blocks[block]);
    if (q.empty()) q.push_back({0, 0}), k.push_back({0, 0});
  }
  return {std::move(of_queries), std::move(of_keys)};
}

layout block_cyclic(const transport &of, std::int64_t queries, std::int64_t keys) {
  return block_cyclic(of.size(), queries, keys);
}

layout block_cyclic(int machines, std::int64_t queries, std::int64_t keys, std::int64_t block) {
  const layout of_keys = stripes(machines, 0, keys, block);
  std::vector<runs> all_queries, all_keys;
  for (int m = 0; m < machines; ++m) {
    const auto own = of_keys.keys(m);
    runs keys_here(own.begin(), own.end()), queries_here;
    if (keys_here.empty()) keys_here.push_back({0, 0});
    queries_here.assign(keys_here.size(), {queries, 0});
    queries_here[0] = {0, queries};
    all_queries.push_back(std::move(queries_here));
    all_keys.push_back(std::move(keys_here));
  }
  return {std::move(all_queries), std::move(all_keys)};
}

layout stripes(int machines, std::int64_t queries, std::int64_t keys, std::int64_t block) {
  if (machines < 1) return contiguous(machines, queries, keys);
  const std::int64_t most = std::max<std::int64_t>({queries, keys, 1}),
                     own = std::clamp<std::int64_t>(block, 1, most),
                     round = own > most / machines ? most : own * machines;
  const auto rounds = static_cast<std::size_t>((most - 1) / round + 1);
  return {in_turn(machines, queries, own, rounds), in_turn(machines, keys, own, rounds)};
}

}  // namespace qkv::ring
