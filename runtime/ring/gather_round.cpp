// SPDX-License-Identifier: BSL-1.0
// Every machine receives the keys of all others, then computes. One latency, memory for all keys.
#include <memory>
#include <utility>

#include "ring/exchange.hpp"
#include "ring/rounds.hpp"

namespace qkv::ring {
namespace {

status gathered(machine &m, hop &h, int round, const std::vector<message> &all) {
  const message &mine = all[static_cast<std::size_t>(m.rank())];
  exchange e(m, round, 0);
  for (int away = 1; away < m.size(); ++away) {
    const int to = neighbour(m, away), from = neighbour(m, -away);
    if (status s = e.both(to, mine, m.rank(), from, all[static_cast<std::size_t>(from)], from); !s)
      return s;
  }
  if (status s = e.finish(); !s) return s;
  status own;
  for (int turn = 0; turn < m.size() && own; ++turn) {
    const int of = neighbour(m, -turn);  // in the order of a ring: the same bits
    own = m.guarded([&] { return h.with(of, all[static_cast<std::size_t>(of)].first(), nullptr); });
  }
  if (own) own = m.guarded([&] { h.settle(); });
  return m.agree(own);
}

}  // namespace

status gather_round(machine &m, int round, std::vector<std::string> &totals) {
  std::unique_ptr<hop> h;
  std::vector<message> all;
  if (status s = m.agree(m.guarded([&] {
        h = std::make_unique<hop>(m, round);
        for (int of = 0; of < m.size(); ++of)
          all.emplace_back(m.memory(), h->keys().bytes(m.where.keys(of)), 0);
        h->pack(all[static_cast<std::size_t>(m.rank())].first());
      }));
      !s)
    return s;
  if (status s = gathered(m, *h, round, all); !s) return s;
  h->give(totals);
  return {};
}

}  // namespace qkv::ring
