// Compiled kernels on several machines of this process, against one machine and the reference.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/ring/distributed.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using qkv::status;
using qkv::codegen::arrays;
using qkv::codegen::program;

namespace {

qkv::ring::settings patient(int threads = 1,
                            qkv::ring::schedule by = qkv::ring::schedule::automatic) {
  qkv::ring::settings how;
  how.deadline = std::chrono::seconds(20);
  how.call.threads = threads;
  how.by = by;
  return how;
}

std::vector<status> on_loopback(const distributed_calls &c, const qkv::ring::layout &where,
                                arrays &results, const qkv::ring::settings &how = patient(),
                                const distributed_calls::spoiler &change = {}, double delay = 0) {
  qkv::ring::loopback all(where.machines());
  all.delay(qkv::ring::transport::seconds(delay), seed_or(1));
  results = c.blank();
  return on_machines(where.machines(),
                     [&](int m) { return c.on(all.machine(m), where, results, how, change); });
}

void require_ok(const std::vector<status> &all) {
  for (const status &s : all) {
    INFO(s.text());
    REQUIRE(s.ok());
  }
}

}  // namespace

TEST_CASE("compiled kernels on 1 to 8 machines give the results of one") {
  for (const distributed_kernel &k : distributed_kernels())
    for (const auto &[n, m] :
         {std::pair<std::int64_t, std::int64_t>{70, 51}, {300, 130}, {5, 3}, {1, 1}}) {
      const qkv::codegen::size_map sizes = sizes_for(program_of(k), n, m);
      const distributed_calls c(k, sizes);
      const arrays reference = c.reference();
      const double of_one = distance(reference, c.on_one());
      for (const int machines : {1, 2, 3, 8})
        for (const auto &[name, make] : layouts()) {
          INFO(k.name << ": " << machines << " machines, " << name << ", " << n << " x " << m);
          const qkv::ring::layout where = make(machines, n, sizes.count("mem") ? m : n);
          arrays many, again;
          require_ok(on_loopback(c, where, many));
          CHECK(distance(reference, many) <= 2 * of_one + rounding(k, reference));
          require_ok(on_loopback(c, where, again, patient(2)));
          CHECK(distance(many, again) == 0);
        }
    }
}

TEST_CASE("wrong arguments of one machine are the status of all, before any data travel") {
  const distributed_kernel &k = distributed_kernels()[0];
  const distributed_calls c(k, sizes_for(program_of(k), 20, 14));
  const auto all_say = [&](const std::string &text, int machines,
                           const distributed_calls::spoiler &change) {
    arrays results;
    for (const status &s :
         on_loopback(c, qkv::ring::zigzag(machines, 20, 14), results, patient(), change))
      CHECK(s.text() == text);
    for (const auto &[name, x] : results)
      for (const double y : x.data) CHECK(std::isnan(y));  // as they were
  };
  all_say("cross: axis mem is 3 in K but 4 on machine 2", 4, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 2) t[1].extent[2] = 3;
  });
  all_say("cross: V has no data", 3, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 1) t[2].data = nullptr;
  });
  all_say("cross: Q is bf16, not f32", 3, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 0) t[0].dtype = QKV_BF16;
  });
  all_say("cross: axis batch is 1 on machine 1 but 2 on machine 0", 3,
          [](int m, std::vector<qkv_tensor> &t) {
            if (m == 1)
              for (qkv_tensor &x : t) x.extent[0] = 1;
          });
}

TEST_CASE("whole numbers that all machines share are the same") {
  const auto &kernels = distributed_kernels();
  const distributed_kernel &k = kernels.back();  // all_pairs
  const distributed_calls c(k, sizes_for(program_of(k), 20, 14));
  std::int32_t other = 7;
  arrays results;
  for (const status &s : on_loopback(c, qkv::ring::zigzag(3, 20, 14), results, patient(),
                                     [&](int m, std::vector<qkv_tensor> &t) {
                                       if (m == 1) t[2].data = &other;
                                     }))
    CHECK(std::string(s.text()).find("have different lengths, seeds or other whole numbers") !=
          std::string::npos);
}

TEST_CASE("machines with different layouts are refused") {
  const distributed_kernel &k = distributed_kernels()[0];
  const distributed_calls c(k, sizes_for(program_of(k), 8, 8));
  qkv::ring::loopback all(2);
  arrays results = c.blank();
  std::vector<status> found;
  found = on_machines(2, [&](int m) {
    return c.on(all.machine(m), m ? qkv::ring::contiguous(2, 8, 8) : qkv::ring::zigzag(2, 8, 8),
                results);
  });
  for (const status &s : found)
    CHECK(std::string(s.text()) == "cross: machines 1 and 0 have different layouts");
}

TEST_CASE("results have the same bits whenever messages arrive") {
  for (const distributed_kernel &k : distributed_kernels()) {
    INFO(k.name);
    const qkv::codegen::size_map sizes = sizes_for(program_of(k), 50, 40);
    const distributed_calls c(k, sizes);
    const qkv::ring::layout where = qkv::ring::zigzag(3, 50, sizes.count("mem") ? 40 : 50);
    arrays at_once, later;
    require_ok(on_loopback(c, where, at_once));
    for (int turn = 0; turn < 2; ++turn) {
      require_ok(on_loopback(c, where, later, patient(), {}, 0.005));
      CHECK(distance(at_once, later) == 0);
    }
  }
}

TEST_CASE("keys that are gathered give the bits of a ring") {
  for (const distributed_kernel &k : distributed_kernels()) {
    INFO(k.name);
    const bool sums_go_home = std::string(k.name).ends_with("gradient");
    const qkv::codegen::size_map sizes = sizes_for(program_of(k), 50, 40);
    const distributed_calls c(k, sizes);
    const qkv::ring::layout where = qkv::ring::stripes(3, 50, sizes.count("mem") ? 40 : 50, 7);
    arrays ring, gathered;
    require_ok(on_loopback(c, where, ring));
    const auto found = on_loopback(c, where, gathered, patient(1, qkv::ring::schedule::gather));
    if (sums_go_home) {
      CHECK(std::string(found[0].text()).ends_with("sums go home with their keys: ring"));
      continue;
    }
    require_ok(found);
    CHECK(distance(ring, gathered) == 0);
  }
}

TEST_CASE("where every machine has all queries, what they found is merged in a tree") {
  for (const distributed_kernel &k : distributed_kernels()) {
    if (std::string(k.key) != "mem" || std::string(k.name).ends_with("gradient")) continue;
    for (const auto &[n, m] : {std::pair<std::int64_t, std::int64_t>{1, 500}, {3, 70}, {2, 1}}) {
      const distributed_calls c(k, sizes_for(program_of(k), n, m));
      const arrays reference = c.reference();
      const double of_one = distance(reference, c.on_one());
      for (const int machines : {1, 2, 3, 5, 8}) {
        INFO(k.name << ": " << machines << " machines, " << n << " x " << m);
        const qkv::ring::layout where = qkv::ring::block_cyclic(machines, n, m, 16);
        CHECK(where.defect() == "");
        arrays found;
        require_ok(on_loopback(c, where, found));
        CHECK(distance(reference, found) <= 2 * of_one + rounding(k, reference));
      }
    }
  }
}

TEST_CASE("schedules that do not fit are refused on every machine") {
  const auto refused = [](std::size_t kernel, const qkv::ring::layout &where,
                          qkv::ring::schedule by, const std::string &text) {
    const distributed_kernel &k = distributed_kernels()[kernel];
    const distributed_calls c(k, sizes_for(program_of(k), where.all_queries(), where.all_keys()));
    arrays results;
    for (const status &s : on_loopback(c, where, results, patient(1, by))) CHECK(s.text() == text);
  };
  using qkv::ring::schedule;
  refused(0, qkv::ring::zigzag(3, 9, 8), schedule::tree,
          "cross: schedule tree: every machine has all queries, as in ring::block_cyclic");
  refused(0, qkv::ring::block_cyclic(3, 9, 8), schedule::ring,
          "cross: every machine has all queries: the schedule is tree");
  refused(4, qkv::ring::block_cyclic(3, 9, 8), schedule::automatic,
          "cross_gradient: schedule tree: results along keys or sums over queries");
}

TEST_CASE("a timeline has the turns of a ring") {
  const distributed_kernel &k = distributed_kernels()[1];
  const distributed_calls c(k, sizes_for(program_of(k), 60, 60));
  const qkv::ring::layout where = qkv::ring::zigzag(3, 60, 60);
  qkv::ring::loopback all(3);
  std::vector<qkv::ring::timeline> records(3);
  arrays results = c.blank();
  const std::string path = std::filesystem::temp_directory_path() / "qkv_timeline_test.json";
  require_ok(on_machines(3, [&](int m) -> status {
    qkv::ring::settings how = patient();
    how.record = &records[static_cast<std::size_t>(m)];
    if (status s = c.on(all.machine(m), where, results, how); !s) return s;
    return how.record->write(all.machine(m), path, how.deadline);
  }));
  for (const qkv::ring::timeline &t : records) {
    std::size_t computing = 0, messages = 0;
    for (const auto &e : t.events()) {
      CHECK(e.begin <= e.end);
      computing += e.where == qkv::ring::timeline::row::computing;
      messages += e.where == qkv::ring::timeline::row::link;
    }
    CHECK(computing == 3);
    CHECK(messages == 2);
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::filesystem::remove(path);
  for (const char *machine : {"machine 0", "machine 1", "machine 2"})
    CHECK(text.str().find(machine) != std::string::npos);
  CHECK(text.str().find("\"keys of machine 1\"") != std::string::npos);
}
