// SPDX-License-Identifier: BSL-1.0
// Keys go from machine to machine while queries are computed with those that are here. The sums
// that go home with keys follow one turn later, so that no machine waits for another one's
// computing.
//
//   turn h of machine m: it has the keys of machine m - h, sends these and the sums of machine m -
//   h + 1, and receives the keys of machine m - h - 1 and the sums of machine m - h, to which it
//   adds.
#include <algorithm>
#include <memory>
#include <utility>

#include "ring/exchange.hpp"
#include "ring/join.hpp"
#include "ring/rounds.hpp"

namespace qkv::ring {
namespace {

class ring_keys {
 public:
  ring_keys(machine &m, hop &h, int round) : m_(m), hop_(h), round_(round) {}

  // Takes the memory of all messages. Throws std::bad_alloc.
  void prepare() {
    std::size_t keys = 0, sums = 0;
    for (int of = 0; of < m_.size(); ++of) {
      keys = std::max(keys, hop_.keys().bytes(m_.where.keys(of)));
      sums = std::max(sums, hop_.sums().bytes(m_.where.keys(of)));
    }
    for (message &one : rooms_) one = message(m_.memory(), keys, sums);
    if (sums > 0) added_ = message(m_.memory(), 0, sums);
    now_ = room(m_.rank(), -1);
    hop_.pack(now_.first());
  }

  status run() {
    status own;
    for (int turn = 0; turn < m_.size(); ++turn)
      if (status s = take_turn(turn, own); !s) return s;
    if (sums_travel())
      if (status s = sums_home(); !s) return s;
    if (own) own = m_.guarded([&] { hop_.settle(); });
    return m_.agree(own);
  }

 private:
  // The message that is not in use, with the keys of one machine and the sums for another one's;
  // -1: without.
  message room(int of_keys, int of_sums) {
    turned_ = !turned_;
    return rooms_[turned_].with(of_keys < 0 ? 0 : hop_.keys().bytes(m_.where.keys(of_keys)),
                                of_sums < 0 ? 0 : hop_.sums().bytes(m_.where.keys(of_sums)));
  }
  bool sums_travel() const { return !hop_.sums().empty(); }

  status take_turn(int turn, status &own) {
    const int of = neighbour(m_, -turn), next = neighbour(m_, -turn - 1);
    const bool keys_go = turn + 1 < m_.size(), sums_go = sums_travel() && turn > 0;
    const message after = room(keys_go ? next : -1, sums_travel() ? of : -1);
    exchange e(m_, round_, turn);
    if (keys_go || sums_go)
      if (status s = e.both(neighbour(m_, 1), now_, of, neighbour(m_, -1), after, next,
                            {keys_go, sums_go});
          !s)
        return s;
    // The first machine to see some keys begins their sums, the others add to them.
    const message added = added_.with(0, hop_.sums().bytes(m_.where.keys(of)));
    std::byte *const sums = sums_go ? added.second() : after.second();
    if (own) own = computed(of, sums_travel() ? sums : nullptr);
    if (keys_go || sums_go)
      if (status s = e.finish(); !s) return s;
    if (sums_go) add(of, after.second(), added.second());
    now_ = after;
    return {};
  }

  status computed(int of, std::byte *sums) {
    const double began = m_.how.record ? m_.how.record->now() : 0;
    const status s = m_.guarded([&] { return hop_.with(of, now_.first(), sums); });
    if (m_.how.record)
      m_.how.record->add({timeline::row::computing, "keys of machine " + std::to_string(of), began,
                          m_.how.record->now(), 0});
    return s;
  }

  void add(int of, std::byte *to, std::byte *from) const {
    const auto all = hop_.sums().placed(m_.where.keys(of), to),
               more = hop_.sums().placed(m_.where.keys(of), from);
    for (std::size_t r = 0; r < all.size(); ++r)
      for (const auto &[name, t] : all[r]) join(name, t, more[r].at(name));
  }

  // After the last turn, a machine has the sums of the next one.
  status sums_home() {
    if (m_.size() > 1) {
      const message mine = room(-1, m_.rank());
      exchange e(m_, round_, m_.size());
      if (status s = e.both(neighbour(m_, 1), now_, neighbour(m_, 1), neighbour(m_, -1), mine,
                            m_.rank(), {false, true});
          !s)
        return s;
      if (status s = e.finish(); !s) return s;
      now_ = mine;
    }
    hop_.unpack_sums(now_.second());
    return {};
  }

  machine &m_;
  hop &hop_;
  const int round_;
  message rooms_[2], added_, now_;
  bool turned_ = false;
};

}  // namespace

status ring_round(machine &m, int round, std::vector<std::string> &totals) {
  std::unique_ptr<hop> h;
  std::unique_ptr<ring_keys> keys;
  if (status s = m.agree(m.guarded([&] {
        h = std::make_unique<hop>(m, round);
        keys = std::make_unique<ring_keys>(m, *h, round);
        keys->prepare();
      }));
      !s)
    return s;
  if (status s = keys->run(); !s) return s;
  h->give(totals);
  return {};
}

}  // namespace qkv::ring
