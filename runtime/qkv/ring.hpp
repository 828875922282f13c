// SPDX-License-Identifier: BSL-1.0
#pragma once
// One kernel over tokens that several machines share. Each has some queries and some keys; keys
// travel round a ring of the machines.
//   qkv_add_kernels(my SPEC my.hpp KERNELS my::attention DISTRIBUTED my::attention:seq,kv)
//   qkv::ring::layout where = qkv::ring::zigzag(ring, n);
//   qkv::status s = qkv::ring::call<my::attention>(ring, where, Q, K, V, O);
// where Q, K, V and O have the tokens of this machine.
#include <cstdint>
#include <qkv/call.hpp>
#include <qkv/ring_layout.hpp>
#include <qkv/ring_timeline.hpp>
#include <qkv/ring_transport.hpp>
#include <span>

namespace qkv::ring {

// How the keys of all machines meet the queries.
enum class schedule {
  automatic,  // tree where every machine has all queries, else the one that `settings::of` makes
              // fastest
  ring,       // keys go from machine to machine while queries are computed with those that are here
  gather,     // every machine receives all keys, then computes; memory for the keys of all
  heads,      // every machine computes some heads with the tokens of all: any batch axis will do
  tree        // keys stay, every machine has all queries; what they found is merged in pairs
};

// Rates of a machine and its link.
struct hardware {
  double flops = 1e11;     // of one machine at these kernels
  double link = 1.25e9;    // bytes that it sends and receives
  double latency = 20e-6;  // seconds of a message
  double memory = 0;       // bytes that it reads; 0: as fast as it computes
  double call = 0;         // seconds of a call of compiled code that has nothing to do
  double copying = 0;      // seconds of a processor for each byte that comes and goes, as TCP takes
};

struct settings {
  transport::seconds deadline{60};  // of all waits of a call for other machines, together
  schedule by = schedule::automatic;
  hardware of = {};            // what schedules are compared for, the same on all machines
  options call = {};           // of each part: threads, executor, workspace
  timeline *record = nullptr;  // when this machine computes and when it waits
};

// Runs the parts of a kernel that was built with DISTRIBUTED. `arguments` are those of this
// machine, in the order of the table: its queries and keys; of pairs (a bias [seq, kv]) its queries
// and all keys; of what has no tokens (params, their gradients) all of it. Every machine calls it
// with the same layout and schedule, and gets the same status before any data travel; outputs are
// as they were then. Results do not depend on the number of threads, nor on when messages arrive.
// Errors: those of qkv::run(), wrong_count (the layout is of another number of machines),
// unsupported (a schedule that does not fit), and those of the transport, after which outputs are
// undefined. Cost of a ring: the keys of all machines pass through this one. Memory: two buffers of
// the keys of a machine (gradients: and of their sums, which come home with them), and two states
// of its queries. Gathered: the keys of all machines. Heads: one of so many parts of all tokens and
// results, three times.
status run_parts(const qkv_kernel &, transport &, const layout &,
                 std::span<const qkv_tensor> arguments, const settings & = {}) noexcept;

template <class... Argument>
inline constexpr bool begins_with_settings = false;
template <class First, class... Argument>
inline constexpr bool begins_with_settings<First, Argument...> =
    std::is_same_v<std::remove_cvref_t<First>, settings>;

template <auto Kernel, class... Argument>
  requires qkv::detail::callable<"call", Kernel, qkv::detail::part::all, Argument...>
status call(transport &machine, const layout &where, const settings &how, Argument &&...argument) {
  const qkv_kernel *table = nullptr;
  // The others hear of a kernel that is missing here: it is the first agreement of a call.
  if (status s = qkv::detail::table_of<qkv::detail::kernel_type<Kernel>>(table); !s.ok())
    return machine.agree(s, how.deadline);
  return run_parts(*table, machine, where, qkv::detail::descriptors(argument...), how);
}
template <auto Kernel, class... Argument>
  requires(!begins_with_settings<Argument...> &&
           qkv::detail::callable<"call", Kernel, qkv::detail::part::all, Argument...>)
status call(transport &machine, const layout &where, Argument &&...argument) {
  return ring::call<Kernel>(machine, where, settings{}, argument...);
}
template <
    auto Kernel, class... Argument,
    class Err = qkv::detail::call_refusal<"call", Kernel, qkv::detail::part::all, Argument...>>
Err call(transport &, const layout &, const settings &, Argument &&...);
template <
    auto Kernel, class... Argument,
    class Err = qkv::detail::call_refusal<"call", Kernel, qkv::detail::part::all, Argument...>>
  requires(!begins_with_settings<Argument...>)
Err call(transport &, const layout &, Argument &&...);

}  // namespace qkv::ring
