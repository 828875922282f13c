// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which machine has which tokens.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qkv::ring {

class transport;

// Neighbouring positions of all tokens.
struct positions {
  std::int64_t first, n;
};

// The tokens of each machine: runs of queries and of keys, as many of one as of the other. Runs may
// be empty and of any lengths; all together have each position once, or every machine has all
// queries. A tensor of a machine has its runs one after the other.
class layout {
 public:
  // By machine.
  layout(std::vector<std::vector<positions>> queries, std::vector<std::vector<positions>> keys);

  int machines() const noexcept { return static_cast<int>(queries_.size()); }
  std::span<const positions> queries(int machine) const;
  std::span<const positions> keys(int machine) const;
  std::int64_t n_queries(int machine) const noexcept;
  std::int64_t n_keys(int machine) const noexcept;
  std::int64_t all_queries() const noexcept;
  std::int64_t all_keys() const noexcept;
  // True if every machine has all queries, of which there are some.
  bool queries_are_everywhere() const noexcept { return queries_are_everywhere_; }

  // Empty, or what is wrong: positions that are missing or given twice, numbers of runs that
  // differ.
  std::string defect() const;

 private:
  std::vector<std::vector<positions>> queries_, keys_;
  bool queries_are_everywhere_ = false;
};

// The keys of one machine under block_cyclic, of so many.
constexpr std::int64_t share_of_blocks(std::int64_t n, std::int64_t block, int machines, int rank) {
  const std::int64_t turns = n / block / machines, rest = n - turns * block * machines,
                     full = rest / block;
  return turns * block + (rank < full ? block : rank == full ? rest % block : 0);
}

// One run a machine.
layout contiguous(int machines, std::int64_t queries, std::int64_t keys);
// A run from the beginning and one from the end: under a causal mask, machines have the same work.
layout zigzag(int machines, std::int64_t queries, std::int64_t keys);
// Blocks of so many positions in turn: for windows.
layout stripes(int machines, std::int64_t queries, std::int64_t keys, std::int64_t block = 16);
// As many blocks as there are costs, each of the same length, so that machines have nearly the same
// cost: for documents and other masks. The cost of a block is that of its queries: the number of
// keys that they see.
layout by_cost(int machines, std::int64_t queries, std::int64_t keys,
               std::span<const double> costs);
// Every machine has all queries; blocks of keys in turn: for a few queries of a long cache.
layout block_cyclic(int machines, std::int64_t queries, std::int64_t keys,
                    std::int64_t block = 256);

// For the machines of a group; keys are as many as queries where they are not given.
layout contiguous(const transport &, std::int64_t queries, std::int64_t keys = -1);
layout zigzag(const transport &, std::int64_t queries, std::int64_t keys = -1);
layout stripes(const transport &, std::int64_t queries, std::int64_t keys = -1);
layout by_cost(const transport &, std::int64_t queries, std::span<const double> costs);
layout block_cyclic(const transport &, std::int64_t queries, std::int64_t keys);

}  // namespace qkv::ring
