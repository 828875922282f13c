// SPDX-License-Identifier: BSL-1.0
#include "ring/agreement.hpp"

#include <bit>
#include <memory>
#include <utility>

#include "memory/dense.hpp"
#include "ring/exchange.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

// FNV-1a of whole numbers.
class hash {
 public:
  void operator()(std::int64_t x) { h_ = (h_ ^ static_cast<std::uint64_t>(x)) * 0x100000001b3; }
  std::int64_t value() const { return static_cast<std::int64_t>(h_); }

 private:
  std::uint64_t h_ = 0xcbf29ce484222325;
};

// The parts of a kernel: another build may have others.
std::int64_t hash_of(const qkv_kernel &k, const parts &of) {
  hash add;
  add(static_cast<std::int64_t>(k.fingerprint));
  for (const std::string *axis : {&of.query, &of.key})
    for (const char c : *axis) add(c);
  for (const auto *kind : {&of.own, &of.hops, &of.merges, &of.seen})
    for (const qkv_kernel *part : *kind)
      add(part ? static_cast<std::int64_t>(part->fingerprint) : 0);
  return add.value();
}

std::int64_t hash_of(const layout &where) {
  hash add;
  for (int m = 0; m < where.machines(); ++m)
    for (const auto &runs : {where.queries(m), where.keys(m)}) {
      add(static_cast<std::int64_t>(runs.size()));
      for (const positions &r : runs) add(r.first), add(r.n);
    }
  return add.value();
}

// How the keys meet the queries, and what decides it.
std::int64_t hash_of(const settings &how) {
  hash add;
  add(static_cast<std::int64_t>(how.by));
  for (const double x : {how.of.flops, how.of.link, how.of.latency, how.of.memory})
    add(std::bit_cast<std::int64_t>(x));
  return add.value();
}

using numbers = std::vector<std::int64_t>;

// With the machines before and after. Not in the workspace: a machine without memory there must be
// able to say so.
status compared(machine &m, const numbers &own, numbers &theirs) {
  const std::size_t bytes = own.size() * sizeof own[0];
  struct pair {
    numbers sent, received;
  };
  auto both = std::make_unique<pair>(pair{own, numbers(own.size())});
  // No header of a kernel: which one it is, is compared first.
  status s =
      m.link.begin(neighbour(m, 1), {reinterpret_cast<std::byte *>(both->sent.data()), bytes},
                   neighbour(m, -1), {reinterpret_cast<std::byte *>(both->received.data()), bytes});
  if (s) s = m.finish();
  if (s) {
    theirs = std::move(both->received);
  } else {  // the link may still read and write them
    pair *abandoned = both.release();
    (void)abandoned;
  }
  return s;
}

status same_call(machine &m, std::int64_t shared_numbers) {
  numbers theirs;
  const numbers own = {hash_of(m.k, m.of()), hash_of(m.where), hash_of(m.how), shared_numbers};
  if (status s = compared(m, own, theirs); !s) return s;
  const int before = neighbour(m, -1);
  const auto differ = [&](status_code code, const char *what) {
    return detail::fail(code, "{}: machines {} and {} {}", m.k.name, before, m.rank(), what);
  };
  if (own[0] != theirs[0])
    return m.agree(differ(status_code::wrong_version, "call different kernels"));
  if (own[1] != theirs[1])
    return m.agree(differ(status_code::wrong_count, "have different layouts"));
  if (own[2] != theirs[2])
    return m.agree(differ(status_code::unsupported, "ask for different schedules"));
  if (own[3] != theirs[3])
    return m.agree(differ(status_code::wrong_condition,
                          "have different lengths, seeds or other whole numbers that all share"));
  return m.agree({});
}

// Extents that queries and keys do not decide.
status same_extents(machine &m) {
  numbers theirs;
  const numbers &own = m.checked.sizes;
  if (status s = compared(m, own, theirs); !s) return s;
  for (std::size_t a = 0; a < own.size(); ++a)
    if (own[a] != theirs[a])
      return m.agree(detail::fail(status_code::wrong_extent,
                                  "{}: axis {} is {} on machine {} but {} on machine {}", m.k.name,
                                  m.k.axes[a].name, own[a], m.rank(), theirs[a], neighbour(m, -1)));
  return m.agree({});
}

}  // namespace

std::int64_t hash_of_shared(const machine &m, std::span<const qkv_tensor> arguments) {
  constexpr std::size_t most = 1 << 16;
  hash add;
  for (int i = 0; i < m.k.n_arguments; ++i) {
    const qkv_argument &a = m.k.arguments[i];
    const qkv_tensor &t = arguments[static_cast<std::size_t>(i)];
    const bool is_whole = a.dtype == QKV_I32 || a.dtype == QKV_B8;
    if (a.role == QKV_OUT || !is_whole || has_axis(m.k, a, m.of().query) ||
        has_axis(m.k, a, m.of().key) || has_axis(m.k, a, m.of().pages) ||
        detail::dense_bytes(t) > most)
      continue;
    std::vector<unsigned char> bytes(detail::dense_bytes(t));
    detail::copy_dense(t, bytes.data());
    for (const unsigned char b : bytes) add(b);
  }
  return add.value();
}

status agree_on_call(machine &m, std::int64_t shared_numbers) {
  if (m.size() == 1) return {};
  if (status s = same_call(m, shared_numbers); !s) return s;
  return same_extents(m);
}

}  // namespace qkv::ring
