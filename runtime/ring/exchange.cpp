// SPDX-License-Identifier: BSL-1.0
#include "ring/exchange.hpp"

#include "status/fail.hpp"

namespace qkv::ring {

int neighbour(const machine &m, int places) {
  const int n = m.size();
  return ((m.rank() + places) % n + n) % n;
}

message_header exchange::header(int of) const {
  message_header h;
  h.kernel = m_.k.fingerprint;
  h.round = round_;
  h.turn = turn_;
  h.of = of;
  return h;
}

// Memory of messages that may still be under way.
exchange::~exchange() {
  for (const message &x : sent_) x.abandon();
  for (const expected &x : expected_) x.received.abandon();
}

status exchange::send(int to, const message &sent, int of, body part) {
  return both(to, sent, of, transport::nobody, {}, 0, part);
}
status exchange::receive(int from, const message &received, int of, body part) {
  return both(transport::nobody, {}, 0, from, received, of, part);
}

status exchange::both(int to, const message &sent, int of_sent, int from, const message &received,
                      int of_received, body part) {
  const bool sends = to != transport::nobody, receives = from != transport::nobody;
  std::span<std::byte> out, in;
  if (m_.how.record && sent_.empty() && expected_.empty()) began_ = m_.how.record->now();
  if (sends) {
    // A message to several machines may be under way already.
    if (sent.header() != header(of_sent)) sent.mark(header(of_sent));
    out = sent.bytes(part.first, part.second);
    sent_.push_back(sent);
  }
  if (receives) {
    in = received.bytes(part.first, part.second);
    expected_.push_back({received, from, of_received});
    awaited_ += in.size();
  }
  bytes_ += out.size();
  return m_.link.begin(to, out, from, in);
}

status exchange::finish() {
  const double wait = m_.how.record ? m_.how.record->now() : 0;
  if (status s = m_.finish(); !s) {
    if (s.code() != status_code::peer_silent) return s;
    return detail::fail(s.code(), "{}: {} (round {}, turn {}, {} bytes)", m_.k.name, s.text(),
                        round_, turn_, awaited_);
  }
  if (timeline *record = m_.how.record) {
    const double now = record->now();
    record->add(
        {timeline::row::link, fmt::format("round {} turn {}", round_, turn_), began_, now, bytes_});
    record->add({timeline::row::waiting, "wait", wait, now, 0});
  }
  sent_.clear();
  const std::vector<expected> all = std::move(expected_);
  expected_.clear();
  for (const expected &x : all)
    if (x.received.header() != header(x.of)) {
      const status foreign = detail::fail(status_code::wrong_version,
                                          "{}: machine {} sent another message", m_.k.name, x.from);
      m_.link.close(foreign);
      return foreign;
    }
  return {};
}

}  // namespace qkv::ring
