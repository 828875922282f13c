// SPDX-License-Identifier: BSL-1.0
// Layouts of tokens, and machines that are threads of one process.
#include <array>
#include <functional>
#include <qkv/ring.hpp>

#include "ring/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/support/on_machines.hpp"

using namespace qkv;
using ring::layout;
using ring::transport;

namespace {

std::vector<status> on_machines(int n, const std::function<status(transport &)> &call) {
  ring::loopback all(n);
  return testing::on_machines(n, [&](int m) { return call(all.machine(m)); });
}

}  // namespace

TEST_CASE("layouts have each position once") {
  for (const int machines : {1, 2, 3, 7})
    for (const std::int64_t n : {0, 1, 5, 64, 1000})
      for (const layout &where :
           {ring::contiguous(machines, n, n + 3), ring::zigzag(machines, n, n + 3),
            ring::stripes(machines, n, n + 3), ring::stripes(machines, n, n + 3, 1)}) {
        INFO(machines << " machines, " << n);
        CHECK(where.defect() == "");
        CHECK(where.machines() == machines);
        CHECK(where.all_queries() == n);
        CHECK(where.all_keys() == n + 3);
      }
  const layout where = ring::zigzag(2, 8, 8);
  CHECK(where.queries(0)[0].first == 0);
  CHECK(where.queries(0)[1].first == 6);
  CHECK(where.n_queries(1) == 4);
}

TEST_CASE("blocks by cost: machines have nearly the same") {
  // Two documents: the cost of a block grows within each.
  std::vector<double> costs;
  for (int block = 0; block < 24; ++block) costs.push_back(block < 8 ? block + 1 : block - 7);
  for (const int machines : {1, 2, 3, 5, 30}) {
    const layout where = ring::by_cost(machines, 240, 120, costs);
    CHECK(where.defect() == "");
    CHECK(where.all_queries() == 240);
    double most = 0, all = 0;
    for (int m = 0; m < machines; ++m) {
      double own = 0;
      for (const auto &r : where.queries(m))
        if (r.n > 0) own += costs[static_cast<std::size_t>(r.first / 10)];
      most = std::max(most, own), all += own;
    }
    INFO(machines << " machines");
    CHECK(most <= std::max(16.0, 1.1 * all / machines));
  }
}

TEST_CASE("forecasts: transfers are hidden where a turn computes longer") {
  using ring::schedule;
  const ring::hardware of{1e12, 1e9, 0, 0};
  // A turn on four machines computes 1/16 of 16 ms, and sends a quarter of 2 or 8 MB.
  const auto on_four = [&](double bytes) {
    return ring::predicted(schedule::ring, {{.pair_flops = 16e9, .key_bytes = bytes}}, of, 4);
  };
  CHECK(on_four(2e6).seconds == Approx(4e-3));
  CHECK(on_four(2e6).hidden == Approx(1));
  CHECK(on_four(2e6).efficiency == Approx(1));
  CHECK(on_four(8e6).transfer == Approx(2e-3));
  CHECK(on_four(8e6).hidden == Approx(0.5));
  CHECK(on_four(8e6).seconds == Approx(7e-3));  // three messages of 2 ms, one turn of 1 ms
  CHECK(ring::predicted(schedule::ring, {{.pair_flops = 16e9, .key_bytes = 8e6}}, of, 1).seconds ==
        Approx(16e-3));
  // Copies take the processors of both machines: three messages of 0.5 MB.
  ring::hardware copies = of;
  copies.copying = 2e-10;
  CHECK(ring::predicted(schedule::ring, {{.pair_flops = 16e9, .key_bytes = 2e6}}, copies, 4)
            .seconds == Approx(4e-3 + 3 * 1e-4));
  // Sums come home after the last turn; sums over all tokens go twice.
  const ring::forecast with_sums = ring::predicted(
      schedule::ring,
      {{.pair_flops = 16e9, .key_bytes = 2e6, .sum_bytes = 4e6, .total_bytes = 8e6}}, of, 4);
  CHECK(with_sums.seconds == Approx(4e-3 + 1e-3 + 1e-3 + 12e-3));
  // One query: machines read their keys, three levels up and down.
  const ring::hardware reads{1e12, 1e9, 1e-5, 1e9};
  const ring::forecast tree = ring::predicted(
      schedule::tree, {{.pair_flops = 1e6, .key_bytes = 8e6, .state_bytes = 1e3}}, reads, 8);
  CHECK(tree.turn == Approx(1e-3));
  CHECK(tree.seconds == Approx(1e-3 + 6 * 11e-6));
}

TEST_CASE("forecasts: a machine waits for one that computes longer, and heads are whole") {
  using ring::schedule;
  const ring::hardware of{1e12, 1e9, 0, 0};
  // All pairs are those of machine 1 with its own keys: 4 ms; machine 0 waits for its message.
  const ring::forecast uneven = ring::predicted(
      schedule::ring, {{.pair_flops = 4e9, .key_bytes = 4e6}}, of, 2,
      [](int machine, int keys) { return ring::turn_work{machine == 1 && keys == 1 ? 1.0 : 0.0}; });
  CHECK(uneven.seconds == Approx(4e-3));
  CHECK(uneven.efficiency == Approx(0.5));
  // Looks are long where runs see nothing of each other: 2 ms of pairs, then 0.5 ms.
  const ring::forecast looked =
      ring::predicted(schedule::ring, {{.pair_flops = 4e9, .key_bytes = 4e6, .look_flops = 2e9}},
                      of, 2, [](int machine, int keys) {
                        return machine == keys ? ring::turn_work{.pairs = 0.5}
                                               : ring::turn_work{.pairs = 0, .hidden = 0.25};
                      });
  CHECK(looked.seconds == Approx(2.5e-3));
  // Three heads on two machines: one has two. 2 of 3 MB, of which half is here, there and back.
  const ring::round_work three{
      .pair_flops = 3e9, .key_bytes = 2e6, .state_bytes = 3e6, .divided_bytes = 3e6, .heads = 3};
  const ring::forecast heads = ring::predicted(schedule::heads, {three}, of, 2);
  CHECK(heads.turn == Approx(2e-3));
  CHECK(heads.seconds == Approx(2e-3 + 1e-3 + 1e-3));
  CHECK(ring::predicted(schedule::gather, {three}, of, 2).seconds == Approx(1.5e-3 + 1e-3));
}

TEST_CASE("layouts that do not fit are refused") {
  using qkv::ring::layout;
  CHECK(layout({{{0, 2}}, {{2, 3}}}, {{{0, 1}}, {{1, 1}}}).defect() == "");
  CHECK(layout({{{0, 2}}, {{3, 2}}}, {{{0, 1}}, {{1, 1}}}).defect() ==
        "position 2 of the queries is missing");
  CHECK(layout({{{0, 2}}, {{2, 3}}}, {{{0, 2}}, {{1, 1}}}).defect() ==
        "position 1 of the keys is given twice");
  CHECK(layout({{{0, 2}}, {{2, 3}}}, {{{0, 2}}}).defect() == "2 machines have queries, 1 keys");
  CHECK(layout({{{0, 2}, {2, 1}}, {{3, 3}}}, {{{0, 1}}, {{1, 1}}}).defect() ==
        "machine 0 has 2 runs of queries and 1 of keys");
  CHECK(layout({{{0, -1}}}, {{{0, 1}}}).defect() == "a run of queries is negative");
}

TEST_CASE("messages go round, and every machine hears the first error") {
  const auto all = on_machines(3, [](transport &t) -> status {
    for (int turn = 0; turn < 50; ++turn) {
      const std::array<int, 2> sent{t.rank(), turn};
      std::array<int, 2> received{};
      if (status s = t.begin((t.rank() + 1) % 3, std::as_bytes(std::span(sent)), (t.rank() + 2) % 3,
                             std::as_writable_bytes(std::span(received)));
          !s)
        return s;
      t.poll();
      if (status s = t.finish(transport::seconds(10)); !s) return s;
      if (received[0] != (t.rank() + 2) % 3 || received[1] != turn)
        return {status_code::kernel_failed, "another message"};
      const bool fails = turn == 40 && t.rank() > 0;
      const status own =
          fails ? status(status_code::null_data, t.rank() == 1 ? "one" : "two") : status();
      if (status s = t.agree(own, transport::seconds(10)); !s) return s;
    }
    return {};
  });
  for (const status &s : all) CHECK(std::string(s.text()) == "one");
}

TEST_CASE("a message of another size is refused") {
  const auto all = on_machines(2, [](transport &t) -> status {
    const std::array<std::byte, 4> sent{};
    std::array<std::byte, 8> received{};
    const std::size_t n = t.rank() == 0 ? 4 : 8;
    if (status s = t.begin(1 - t.rank(), sent, 1 - t.rank(), std::span(received).first(n)); !s)
      return s;
    return t.finish(transport::seconds(10));
  });
  CHECK(all[0].ok());
  CHECK(all[1].code() == status_code::wrong_count);
  CHECK(std::string(all[1].text()) == "machine 0 sent 4 bytes, not 8");
}

TEST_CASE("a silent machine is a status after the deadline") {
  const auto waits = [](const std::function<status(transport &)> &call) {
    const auto all =
        on_machines(2, [&](transport &t) { return t.rank() == 0 ? call(t) : status(); });
    CHECK(all[0].code() == status_code::peer_silent);
    return std::string(all[0].text());
  };
  const transport::seconds soon(0.02);
  CHECK(waits([&](transport &t) { return t.agree({}, soon); }) ==
        "no message from some machine within 0.02 s");
  CHECK(waits([&](transport &t) {
          if (status s = t.begin(1, {}, 1, {}); !s) return s;
          return t.finish(soon);
        }) == "no message from machine 1 within 0.02 s");
}
