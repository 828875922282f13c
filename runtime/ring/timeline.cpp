// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <qkv/ring_timeline.hpp>
#include <qkv/ring_transport.hpp>

#include "ring/message.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

// Rows of a machine in the order of the picture.
std::string events_of(const timeline &all, int machine) {
  std::string text = fmt::format(
      "{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_name\",\"args\":{{\"name\":\"machine "
      "{0}\"}}}},\n"
      "{{\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"name\":\"thread_name\",\"args\":{{\"name\":"
      "\"computing\"}}}},\n"
      "{{\"ph\":\"M\",\"pid\":{0},\"tid\":1,\"name\":\"thread_name\",\"args\":{{\"name\":\"link\"}}"
      "}},\n",
      machine);
  for (const timeline::event &e : all.events())
    text += fmt::format(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"ts\":{:.3f},\"dur\":{:.3f},"
        "\"args\":{{\"bytes\":{}}}}},\n",
        machine, e.where == timeline::row::link ? 1 : 0, e.what, e.begin * 1e6,
        (e.end - e.begin) * 1e6, e.bytes);
  return text;
}

}  // namespace

double timeline::now() const {
  return std::chrono::duration<double>(clock::now() - start_).count();
}

void timeline::add(event e) { events_.push_back(std::move(e)); }

void timeline::start() {
  if (events_.empty()) start_ = clock::now();
}

double timeline::seconds(row where) const {
  double all = 0;
  for (const event &e : events_)
    if (e.where == where) all += e.end - e.begin;
  return all;
}

namespace {

// Waits for one message or sends one; its memory is kept where that never ends.
status passed(transport &link, int to, int from, const message &text, std::size_t n,
              std::chrono::duration<double> deadline) {
  const std::span<std::byte> bytes(text.first(), n);
  status s = link.begin(to, to == transport::nobody ? std::span<std::byte>() : bytes, from,
                        from == transport::nobody ? std::span<std::byte>() : bytes);
  if (s) s = link.finish(deadline);
  if (!s) text.abandon();
  return s;
}

}  // namespace

status timeline::write(transport &link, const std::string &path,
                       std::chrono::duration<double> deadline) const try {
  // Each machine passes on what it has of those after it: machine 0 has all.
  constexpr int nobody = transport::nobody;
  std::string text = events_of(*this, link.rank());
  const int before = link.rank() > 0 ? link.rank() - 1 : nobody,
            after = link.rank() + 1 < link.size() ? link.rank() + 1 : nobody;
  const message length(default_workspace(), sizeof(std::uint64_t), 0);
  std::uint64_t n = 0;
  if (after != nobody) {
    if (status s = passed(link, nobody, after, length, sizeof n, deadline); !s) return s;
    std::memcpy(&n, length.first(), sizeof n);
    const message more(default_workspace(), n, 0);
    if (status s = passed(link, nobody, after, more, n, deadline); !s) return s;
    text.append(reinterpret_cast<const char *>(more.first()), n);
  }
  status own;
  if (before != nobody) {
    n = text.size();
    std::memcpy(length.first(), &n, sizeof n);
    if (status s = passed(link, before, nobody, length, sizeof n, deadline); !s) return s;
    const message mine(default_workspace(), n, 0);
    std::memcpy(mine.first(), text.data(), n);
    if (status s = passed(link, before, nobody, mine, n, deadline); !s) return s;
  } else {
    text.resize(text.size() - std::strlen(",\n"));
    std::ofstream file(path);
    file << "[\n" << text << "\n]\n";
    if (!file.flush()) own = detail::fail(status_code::bad_file, "{}: not written", path);
  }
  return link.agree(own, deadline);
} catch (...) {
  return detail::fail(status_code::out_of_memory, "no memory for a timeline");
}

}  // namespace qkv::ring
