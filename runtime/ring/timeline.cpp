// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <qkv/ring_timeline.hpp>
#include <qkv/ring_transport.hpp>

#include "status/fail.hpp"

namespace qkv::ring {
namespace {

// Rows of a machine in the order of the picture.
std::string events_of(const timeline &all, int machine) {
  std::string text = fmt::format(
      "{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_name\",\"args\":{{\"name\":\"machine {0}\"}}}},\n"
      "{{\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"name\":\"thread_name\",\"args\":{{\"name\":\"computing\"}}}},\n"
      "{{\"ph\":\"M\",\"pid\":{0},\"tid\":1,\"name\":\"thread_name\",\"args\":{{\"name\":\"link\"}}}},\n",
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

status timeline::write(transport &link, const std::string &path,
                       std::chrono::duration<double> deadline) const try {
  // Each machine passes on what it has of those after it: machine 0 has all.
  std::string text = events_of(*this, link.rank());
  const int before = link.rank() > 0 ? link.rank() - 1 : transport::nobody,
            after = link.rank() + 1 < link.size() ? link.rank() + 1 : transport::nobody;
  std::uint64_t theirs = 0;
  if (after != transport::nobody) {
    if (status s =
            link.begin(transport::nobody, {}, after, std::as_writable_bytes(std::span(&theirs, 1)));
        !s)
      return s;
    if (status s = link.finish(deadline); !s) return s;
    std::string more(theirs, ' ');
    if (status s = link.begin(transport::nobody, {}, after,
                              std::as_writable_bytes(std::span(more.data(), more.size())));
        !s)
      return s;
    if (status s = link.finish(deadline); !s) return s;
    text += more;
  }
  status own;
  if (before != transport::nobody) {
    const std::uint64_t mine = text.size();
    if (status s = link.begin(before, std::as_bytes(std::span(&mine, 1)), transport::nobody, {});
        !s)
      return s;
    if (status s = link.finish(deadline); !s) return s;
    if (status s = link.begin(before, std::as_bytes(std::span(text.data(), text.size())),
                              transport::nobody, {});
        !s)
      return s;
    if (status s = link.finish(deadline); !s) return s;
  } else {
    text.resize(text.size() - std::strlen(",\n"));
    std::ofstream file(path);
    file << "[\n" << text << "\n]\n";
    if (!file.flush()) own = detail::fail(status_code::bad_file, "{}: not written", path);
  }
  return link.agree(own, deadline);
} catch (const std::bad_alloc &) {
  return detail::fail(status_code::out_of_memory, "no memory for a timeline");
}

}  // namespace qkv::ring
