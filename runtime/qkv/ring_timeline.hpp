// SPDX-License-Identifier: BSL-1.0
#pragma once
// When machines compute, and when messages are under way.
#include <chrono>
#include <qkv/status.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::ring {

class transport;

// The events of one machine in its calls, for settings::record.
class timeline {
 public:
  enum class row { computing, link, waiting };
  struct event {
    row where;
    std::string what;   // "hop 3"
    double begin, end;  // seconds since the machines agreed on the first call
    std::size_t bytes;  // of a message
  };

  double now() const;
  void add(event);
  // Time begins now, unless there are events: machines, whose clocks differ, call it at one time.
  void start();
  const std::vector<event> &events() const { return events_; }
  double seconds(row) const;  // of all events

  // The events of all machines as one file in Chrome's trace format (chrome://tracing, Perfetto),
  // which machine 0 writes: two rows a machine. Every machine calls it, and gets the same status.
  // Errors: bad_file, those of the transport.
  status write(transport &, const std::string &path, std::chrono::duration<double> deadline) const;

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
  std::vector<event> events_;
};

}  // namespace qkv::ring
