// SPDX-License-Identifier: BSL-1.0
#pragma once
// The calls of one round on one machine: its queries with some keys, again and again.
#include "ring/cargo.hpp"
#include "ring/machine.hpp"

namespace qkv::ring {

class hop {
 public:
  // Takes all memory but that of single calls. Throws std::bad_alloc.
  hop(machine &, int round);

  // The tensors that travel: those with the key axis and without the query axis; sums that go home.
  const cargo &keys() const { return keys_; }
  const cargo &sums() const { return sums_; }
  // The keys of this machine, packed.
  void pack(std::byte *memory) const;
  // Sums that came home, unpacked.
  void unpack_sums(std::byte *memory);

  // Continues the sums of queries with the keys of this machine, where they are.
  status with_own();
  // Continues all sums with a machine's keys; sums for these keys are of the queries here alone.
  status with(int machine, std::byte *keys, std::byte *sums);

  // A continued sum: two tensors. The newer numbers of each run of queries are in one of them,
  // until settle() puts all of them into the first.
  struct state {
    local_tensor first, second;
    std::vector<bool> in_second;  // by run of queries; of a total, of all pairs: one
    bool is_total;
  };
  std::map<std::string, state, std::less<>> states;
  void settle();
  // Puts the states in place of tensors of this machine, settled. Adds the names of totals.
  void give(std::vector<std::string> &totals);

 private:
  status with_run(const positions &, const tensors_by_name &keys, const tensors_by_name &sums);
  status with_queries(std::size_t run, const positions &, const tensors_by_name &keys,
                      const tensors_by_name &sums);
  // Some tensor of the machine, of a message, or a position.
  qkv_tensor argument(std::string_view name, const some_queries &, const positions &,
                      const tensors_by_name &keys, machine::position_memory &) const;
  // Finds out whether some of these queries sees one of the keys.
  status look(const some_queries &, const positions &, const tensors_by_name &keys,
              bool &sees) const;
  status look_at(const some_queries &, const positions &, const tensors_by_name &keys,
                 bool &sees) const;

  machine &m_;
  const qkv_kernel &k_;
  const qkv_kernel *const seen_;  // null: all pairs are computed
  const std::vector<some_queries> queries_;
  cargo keys_, sums_;
  std::map<std::string, local_tensor> home_;  // sums for the keys of this machine
};

}  // namespace qkv::ring
