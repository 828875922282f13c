// SPDX-License-Identifier: BSL-1.0
#include "ring/agreement.hpp"

#include <cstring>

#include "ring/exchange.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

std::int64_t hash_of(const layout &where) {
  std::uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::int64_t x) { h = (h ^ static_cast<std::uint64_t>(x)) * 0x100000001b3; };
  for (int m = 0; m < where.machines(); ++m)
    for (const auto &runs : {where.queries(m), where.keys(m)}) {
      add(static_cast<std::int64_t>(runs.size()));
      for (const positions &r : runs) add(r.first), add(r.n);
    }
  return static_cast<std::int64_t>(h);
}

using numbers = std::vector<std::int64_t>;

// With the machines before and after.
status compared(machine &m, const numbers &own, numbers &theirs) {
  const std::size_t bytes = own.size() * sizeof own[0];
  const message sent(m.memory(), bytes, 0), received(m.memory(), bytes, 0);
  std::memcpy(sent.first(), own.data(), bytes);
  // No header of a kernel: which one it is, is compared first.
  if (status s = m.link.begin(neighbour(m, 1), {sent.first(), bytes}, neighbour(m, -1),
                              {received.first(), bytes});
      !s)
    return s;
  if (status s = m.finish(); !s) {
    sent.abandon();
    received.abandon();
    return s;
  }
  theirs.resize(own.size());
  std::memcpy(theirs.data(), received.first(), bytes);
  return {};
}

status same_call(machine &m) {
  numbers theirs;
  const numbers own = {static_cast<std::int64_t>(m.k.signature), hash_of(m.where),
                       static_cast<std::int64_t>(m.how.by)};
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

status agree_on_call(machine &m) {
  if (m.size() == 1) return {};
  if (status s = same_call(m); !s) return s;
  return same_extents(m);
}

}  // namespace qkv::ring
