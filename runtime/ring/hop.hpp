// SPDX-License-Identifier: BSL-1.0
#pragma once
// The calls of one round on one machine: its queries with some keys, again and again.
#include "ring/cargo.hpp"
#include "ring/machine.hpp"

namespace qkv::ring {

class hop {
 public:
  // Throws std::bad_alloc.
  hop(machine &, const qkv_kernel &);

  // The tensors that travel: those with the key axis and without the query axis; sums that go home.
  const cargo &keys() const { return keys_; }
  const cargo &sums() const { return sums_; }
  bool has_results_of_pairs() const { return has_results_of_pairs_; }
  // The keys of this machine, packed.
  void pack(std::byte *memory) const;
  // Sums that came home, unpacked.
  void unpack_sums(std::byte *memory);

  // Continues all sums with a machine's keys; sums for these keys are of the queries here alone.
  status with(int machine, std::byte *keys, std::byte *sums);

  // A continued sum: its tensor now, and another of the same size, for what comes after.
  struct state {
    local_tensor now, next;
    bool is_total;  // of all pairs
  };
  std::map<std::string, state, std::less<>> states;
  // Puts the states in place of tensors of this machine. Returns the names of totals.
  std::vector<std::string> give();

 private:
  status with_run(const positions &, const tensors_by_name &keys, const tensors_by_name &sums);
  status call(const some_queries &, const positions &, const tensors_by_name &keys,
              const tensors_by_name &sums);
  void advance(bool totals);

  machine &m_;
  const qkv_kernel &k_;
  cargo keys_, sums_;
  bool has_results_of_pairs_ = false;
};

}  // namespace qkv::ring
