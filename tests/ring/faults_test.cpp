// SPDX-License-Identifier: BSL-1.0
// Calls in which something goes wrong: wrong arguments, machines that stop, are slow, or send
// messages that are cut off. No call outlasts its deadline, no machine crashes, and what all can
// know, all say.
#include <cmath>
#include <random>

#include "tests/catch.hpp"
#include "tests/ring/distributed.hpp"
#include "tests/ring/faulty.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using qkv::status;
using qkv::status_code;
using qkv::codegen::arrays;
using qkv::ring::transport;

namespace {

bool are_untouched(const arrays &results) {
  for (const auto &[name, x] : results)
    for (const double y : x.data)
      if (!std::isnan(y)) return false;
  return true;
}

// Empty, or what is wrong.
std::string faulty_run(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const auto below = [&](std::size_t n) { return static_cast<int>(draw() % n); };
  const int machines = 2 + below(3), guilty = below(static_cast<std::size_t>(machines));
  const auto &kernels = distributed_kernels();
  const std::size_t which = static_cast<std::size_t>(below(kernels.size()));
  const auto what = static_cast<fault>(below(n_faults));
  const distributed_kernel &k = kernels[which], &other = kernels[(which + 1) % kernels.size()];
  const std::int64_t n = 8 + below(30), m = std::string(k.key) == "mem" ? 8 + below(30) : n;
  const distributed_calls c(k, sizes_for(program_of(k), n, m)),
      of_other(other, sizes_for(program_of(other), n, std::string(other.key) == "mem" ? m : n));
  const qkv::ring::layout where = qkv::ring::zigzag(machines, n, m),
                          another = qkv::ring::contiguous(machines, n, m);
  const bool stops = what == fault::stop || what == fault::cut || what == fault::foreign;
  qkv::ring::settings how;
  how.deadline = transport::seconds(stops ? 0.1 : 20);
  how.by = seed % 2 ? qkv::ring::schedule::ring : qkv::ring::schedule::automatic;

  qkv::workspace little(static_cast<std::size_t>(1) << (10 + below(10)));
  qkv::ring::loopback all(machines);
  arrays results = c.blank(), others = of_other.blank();
  std::vector<double> seconds(static_cast<std::size_t>(machines));
  const int at = below(12);
  const auto found = on_machines(machines, [&](int rank) {
    const bool is_guilty = rank == guilty;
    qkv::ring::settings own = how;
    if (is_guilty && what == fault::workspace) own.call.workspace = &little;
    faulty link(all.machine(rank), is_guilty ? what : fault::none, at);
    const auto began = std::chrono::steady_clock::now();
    const status s =
        is_guilty && what == fault::kernel
            ? of_other.on(link,
                          qkv::ring::zigzag(machines, n, std::string(other.key) == "mem" ? m : n),
                          others, how)
            : c.on(link, is_guilty && what == fault::layout ? another : where, results, own,
                   [&](int, std::vector<qkv_tensor> &t) {
                     if (is_guilty) spoil(what, t);
                   });
    const transport::seconds lasted = std::chrono::steady_clock::now() - began;
    seconds[static_cast<std::size_t>(rank)] = lasted.count();
    return s;
  });

  const std::string label = std::string(k.name) + ", fault " +
                            std::to_string(static_cast<int>(what)) + " of machine " +
                            std::to_string(guilty) + " of " + std::to_string(machines) + ": ";
  for (int r = 0; r < machines; ++r) {
    const status &s = found[static_cast<std::size_t>(r)];
    if (seconds[static_cast<std::size_t>(r)] > how.deadline.count() + 1)
      return label + "a call lasted " + std::to_string(seconds[static_cast<std::size_t>(r)]) + " s";
    if ((what == fault::none || what == fault::slow) && !s.ok()) return label + s.text();
    if (is_wrong_call(what) && s.ok()) return label + "machine " + std::to_string(r) + " says ok";
    if (what == fault::workspace && std::string(s.text()) != found[0].text())
      return label + s.text() + ", but " + found[0].text();
    if (is_wrong_call(what) && std::string(s.text()) != found[0].text())
      return label + s.text() + ", but " + found[0].text();
    if (stops && s.code() == status_code::peer_silent &&
        all.machine(r).state().code() != status_code::peer_silent)
      return label + "a machine goes on after a silence";
    if (std::string(s.text()).find("sent another message") != std::string::npos &&
        all.machine(r).state().ok())
      return label + "a machine goes on after a foreign message";
  }
  if (is_wrong_call(what) && !are_untouched(results)) return label + "outputs are written";
  if (what == fault::none || what == fault::slow) {
    qkv::ring::loopback undisturbed(machines);
    arrays expected = c.blank();
    for (const status &s : on_machines(machines, [&](int rank) {
           return c.on(undisturbed.machine(rank), where, expected, how);
         }))
      if (!s.ok()) return label + s.text();
    if (distance(expected, results) != 0) return label + "other results";
  }
  return "";
}

void faulty_runs(int n) {
  for (int run = 0; run < n; ++run) {
    const std::uint64_t seed = seed_or(static_cast<std::uint64_t>(run));
    INFO("seed " << seed);
    CHECK(faulty_run(seed) == "");
  }
}

}  // namespace

TEST_CASE("calls in which something goes wrong end in time, with one status") { faulty_runs(120); }

TEST_CASE("many calls in which something goes wrong", "[.long]") { faulty_runs(900); }
