// SPDX-License-Identifier: BSL-1.0
#pragma once
// Machines that share the tokens of a kernel, one after the other in this process, by the
// interpreter.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.hpp"
#include "codegen/ring/shard.hpp"

namespace qkv::testing {

// Neighbouring positions.
struct run {
  std::int64_t first, n;
};
// The positions of a machine along the query axis and along the key axis; as many runs of each.
struct tokens {
  std::vector<run> queries, keys;
};

// Layouts of n queries and m keys for some machines. Zigzag: a run from the beginning and one from
// the end.
std::vector<tokens> contiguous(int machines, std::int64_t n, std::int64_t m);
std::vector<tokens> zigzag(int machines, std::int64_t n, std::int64_t m);
// Runs that are as long as their number.
std::vector<tokens> unequal(int machines, std::int64_t n, std::int64_t m);

// A tensor with the names of its axes.
struct named_array {
  codegen::array a;
  std::vector<std::string> axes;
};
// The part of a machine: its queries; its keys, or, of pairs, all keys.
named_array part_of_machine(const named_array &whole, const std::string &query,
                            const std::string &key, const tokens &);
// The reverse: its queries, or its keys; all of it where it has neither axis.
void put_part(named_array &whole, const named_array &part, const std::string &query,
              const std::string &key, const tokens &);

// The results of the whole kernel, put together. Throws std::runtime_error where machines have
// different numbers of what all of them have.
codegen::arrays results_of_machines(const codegen::program &, const codegen::shares &,
                                    const std::string &query, const std::string &key,
                                    const std::vector<tokens> &, const codegen::arrays &arguments,
                                    const codegen::size_map &);

}  // namespace qkv::testing
