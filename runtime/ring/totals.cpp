// SPDX-License-Identifier: BSL-1.0
#include "ring/totals.hpp"

#include <algorithm>
#include <cstring>
#include <qkv/core/dtype.hpp>

#include "memory/dense.hpp"
#include "ring/exchange.hpp"
#include "ring/join.hpp"

namespace qkv::ring {
namespace {

// The elements of a total that one machine joins, in memory.
struct share {
  std::byte *data;
  std::size_t elements, bytes;
};

class joining {
 public:
  joining(machine &m, int round, const std::vector<std::string> &names)
      : m_(m), round_(round), names_(names) {}

  // Takes the memory of all messages, and packs this machine's sums. Throws std::bad_alloc.
  void prepare() {
    for (int m = 0; m < m_.size(); ++m) {
      mine_.push_back(packed(m));
      theirs_.push_back(room(m_.rank()));
      whole_.push_back(room(m));
    }
  }

  status run() {
    const int rank = m_.rank(), n = m_.size();
    exchange partial(m_, round_, 0);
    for (int away = 1; away < n; ++away) {
      const int to = neighbour(m_, away), from = neighbour(m_, -away);
      if (status s = partial.both(to, of(mine_, to), to, from, of(theirs_, from), rank); !s)
        return s;
    }
    if (status s = partial.finish(); !s) return s;
    theirs_[static_cast<std::size_t>(rank)] = of(mine_, rank);
    const message &all = theirs_[0];  // in the order of the machines
    for (int m = 1; m < n; ++m) add(of(theirs_, m), all);
    exchange whole(m_, round_, 1);
    for (int away = 1; away < n; ++away) {
      const int to = neighbour(m_, away), from = neighbour(m_, -away);
      if (status s = whole.both(to, all, rank, from, of(whole_, from), from); !s) return s;
    }
    if (status s = whole.finish(); !s) return s;
    for (int m = 0; m < n; ++m) unpack(m, m == rank ? all : of(whole_, m));
    return {};
  }

 private:
  static const message &of(const std::vector<message> &all, int machine) {
    return all[static_cast<std::size_t>(machine)];
  }

  // Joins this machine's share of the elements.
  void add(const message &more, const message &all) const {
    std::size_t at = 0;
    for (const std::string &name : names_) {
      const share s = share_of(name, m_.rank());
      join(name, m_.tensors.at(name).t.dtype, all.first() + at, more.first() + at, s.elements);
      at += padded(s.bytes);
    }
  }

  share share_of(const std::string &name, int machine) const {
    const qkv_tensor &t = m_.tensors.at(name).t;
    const auto size = static_cast<std::size_t>(size_of(static_cast<dtype>(t.dtype)));
    const std::size_t all = detail::dense_bytes(t) / size, n = static_cast<std::size_t>(m_.size()),
                      m = static_cast<std::size_t>(machine);
    const std::size_t first = all * m / n, end = all * (m + 1) / n;
    return {static_cast<std::byte *>(t.data) + first * size, end - first, (end - first) * size};
  }
  message room(int machine) const {
    std::size_t bytes = 0;
    for (const std::string &name : names_) bytes += padded(share_of(name, machine).bytes);
    return {m_.memory(), bytes, 0};
  }
  message packed(int machine) const {
    message x = room(machine);
    std::size_t at = 0;
    for (const std::string &name : names_) {
      const share s = share_of(name, machine);
      std::memcpy(x.first() + at, s.data, s.bytes);
      at += padded(s.bytes);
    }
    return x;
  }
  void unpack(int machine, const message &x) const {
    std::size_t at = 0;
    for (const std::string &name : names_) {
      const share s = share_of(name, machine);
      std::memcpy(s.data, x.first() + at, s.bytes);
      at += padded(s.bytes);
    }
  }

  machine &m_;
  const int round_;
  const std::vector<std::string> &names_;
  // By machine: its share of the sums here, this share of its sums, its share of all sums.
  std::vector<message> mine_, theirs_, whole_;
};

}  // namespace

status join_totals(machine &m, int round, const std::vector<std::string> &names) {
  if (names.empty() || m.size() == 1) return {};
  joining all(m, round, names);
  if (status s = m.agree(m.guarded([&] { all.prepare(); })); !s) return s;
  return all.run();
}

}  // namespace qkv::ring
