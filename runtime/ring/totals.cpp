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

  status run() {
    const int mine = m_.rank(), n = m_.size();
    if (n == 1) return {};
    std::vector<message> theirs(static_cast<std::size_t>(n));
    exchange partial(m_, round_, 0);
    for (int away = 1; away < n; ++away) {
      const int to = neighbour(m_, away), from = neighbour(m_, -away);
      theirs[static_cast<std::size_t>(from)] = room(mine);
      if (status s =
              partial.both(to, packed(to), to, from, theirs[static_cast<std::size_t>(from)], mine);
          !s)
        return s;
    }
    if (status s = partial.finish(); !s) return s;
    theirs[static_cast<std::size_t>(mine)] = packed(mine);
    const message &all = theirs[0];
    for (int m = 1; m < n; ++m) {
      std::size_t at = 0;
      for (const std::string &name : names_) {
        const share s = share_of(name, mine);
        join(name, m_.tensors.at(name).t.dtype, all.first() + at,
             theirs[static_cast<std::size_t>(m)].first() + at, s.elements);
        at += padded(s.bytes);
      }
    }
    unpack(mine, all);
    exchange whole(m_, round_, 1);
    std::vector<message> received(static_cast<std::size_t>(n));
    for (int away = 1; away < n; ++away) {
      const int to = neighbour(m_, away), from = neighbour(m_, -away);
      message &one = received[static_cast<std::size_t>(from)] = room(from);
      if (status s = whole.both(to, all, mine, from, one, from); !s) return s;
    }
    if (status s = whole.finish(); !s) return s;
    for (int m = 0; m < n; ++m)
      if (m != mine) unpack(m, received[static_cast<std::size_t>(m)]);
    return {};
  }

 private:
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
};

}  // namespace

status join_totals(machine &m, int round, const std::vector<std::string> &names) {
  return names.empty() ? status() : joining(m, round, names).run();
}

}  // namespace qkv::ring
