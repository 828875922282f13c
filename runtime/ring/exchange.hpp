// SPDX-License-Identifier: BSL-1.0
#pragma once
// Messages of a call, with the time that they take.
#include "ring/machine.hpp"
#include "ring/message.hpp"

namespace qkv::ring {

// The machine that is so many places further round the ring.
int neighbour(const machine &, int places);

// Which bodies of a message are sent and received.
struct body {
  bool first = true, second = false;
};

// Messages that are begun together and awaited together. All memory is kept until they are over;
// for good where they never end.
class exchange {
 public:
  // `turn` and `round` go into the headers.
  exchange(machine &m, int round, int turn) : m_(m), round_(round), turn_(turn) {}
  exchange(const exchange &) = delete;
  exchange &operator=(const exchange &) = delete;
  ~exchange();

  // `of`: the machine whose tokens the message has.
  status send(int to, const message &, int of, body = {});
  status receive(int from, const message &, int of, body = {});
  status both(int to, const message &sent, int of_sent, int from, const message &received,
              int of_received, body = {});
  status finish();

 private:
  message_header header(int of) const;

  machine &m_;
  const int round_, turn_;
  struct expected {
    message received;
    int from, of;
  };
  std::vector<expected> expected_;
  std::vector<message> sent_;
  double began_ = 0;
  std::size_t bytes_ = 0, awaited_ = 0;  // sent, to be received
};

}  // namespace qkv::ring
