// SPDX-License-Identifier: BSL-1.0
#pragma once
// One kernel over tokens that several machines share. Each has some queries and some keys; keys travel
// round a ring of the machines.
//   qkv_add_kernels(my SPEC my.hpp KERNELS my::attention DISTRIBUTED my::attention:seq,kv)
//   qkv::ring::layout where = qkv::ring::zigzag(ring.size(), n, n);
//   qkv::status s = qkv::ring::call<my::attention>(ring, where, Q, K, V, O);   // own tokens of each
#include <chrono>
#include <cstdint>
#include <memory>
#include <qkv/call.hpp>
#include <span>
#include <vector>

namespace qkv::ring {

// Neighbouring positions of all tokens.
struct positions {
  std::int64_t first, n;
};

// The tokens of each machine: runs of queries and of keys, as many of one as of the other. Runs may
// be empty and of any lengths; all together have each position once. A tensor of a machine has its
// runs one after the other.
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

  // Empty, or what is wrong: positions that are missing or given twice, numbers of runs that differ.
  std::string defect() const;

 private:
  std::vector<std::vector<positions>> queries_, keys_;
};

// One run a machine.
layout contiguous(int machines, std::int64_t queries, std::int64_t keys);
// A run from the beginning and one from the end: under a causal mask, machines have the same work.
layout zigzag(int machines, std::int64_t queries, std::int64_t keys);
// Blocks of so many positions in turn: for windows.
layout stripes(int machines, std::int64_t queries, std::int64_t keys, std::int64_t block = 16);

class transport;
// For the machines of a group; keys are as many as queries where they are not given.
layout contiguous(const transport &, std::int64_t queries, std::int64_t keys = -1);
layout zigzag(const transport &, std::int64_t queries, std::int64_t keys = -1);

// How machines reach each other. Calls of one machine come from one thread at a time. None throws.
class transport {
 public:
  using seconds = std::chrono::duration<double>;
  virtual ~transport() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // Not ok once another machine was silent, or where there is nothing to speak through.
  virtual status state() const noexcept { return {}; }
  // Begins to send to the next machine and to receive from the one before; both memories stay as
  // they are until finish().
  virtual status begin(std::span<const std::byte> sent, std::span<std::byte> received) noexcept = 0;
  // Lets transfers go on, without waiting.
  virtual void poll() noexcept = 0;
  // Waits for both. Errors: peer_silent past the deadline, wrong_count for a message of another size.
  virtual status finish(seconds deadline) noexcept = 0;
  // Every machine gets the status of the first one that has an error. Errors: peer_silent.
  virtual status agree(const status &own, seconds deadline) noexcept = 0;
};

// Machines of one process, each in a thread of its own, for tests.
class loopback {
 public:
  explicit loopback(int machines);
  loopback(const loopback &) = delete;
  loopback &operator=(const loopback &) = delete;
  ~loopback();
  transport &machine(int rank);

 private:
  struct shared;
  class member;
  std::unique_ptr<shared> shared_;
  std::vector<std::unique_ptr<member>> members_;
};

struct limits {
  transport::seconds deadline{60};  // of each wait for another machine
};

// Runs the parts of a kernel that was built with DISTRIBUTED. `arguments` are those of this machine, in
// the order of the table: its own queries and keys; of pairs (a bias [seq, kv]) its queries and all
// keys. Every machine calls it with the same layout and gets the same status before any data travel;
// outputs are as they were then. Results do not depend on the number of threads.
// Errors: those of qkv::run(), wrong_count (the layout is of another number of machines), and
// those of the transport, after which outputs are undefined.
// Cost: the keys of all machines pass through this one; two buffers of the keys of a machine, and two
// states of its queries.
status run_parts(const qkv_kernel &, transport &, const layout &,
                 std::span<const qkv_tensor> arguments, const options & = {},
                 const limits & = {}) noexcept;

template <auto Kernel, class... Argument>
  requires detail::callable<"call", Kernel, detail::part::all, Argument...>
status call(transport &machine, const layout &where, Argument &&...argument) {
  const qkv_kernel *table = nullptr;
  if (status s = detail::table_of<detail::kernel_type<Kernel>>(table); !s.ok()) return s;
  return run_parts(*table, machine, where, detail::descriptors(argument...));
}
template <auto Kernel, class... Argument,
          class Err = detail::call_refusal<"call", Kernel, detail::part::all, Argument...>>
Err call(transport &, const layout &, Argument &&...);

}  // namespace qkv::ring
