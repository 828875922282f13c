// SPDX-License-Identifier: BSL-1.0
// Compiled kernels on several machines of this process, against one machine and the reference.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <qkv/registry.hpp>
#include <sstream>

#include "ring/work.hpp"
#include "tests/catch.hpp"
#include "tests/ring/distributed.hpp"
#include "tests/support/dense_tensors.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using qkv::status;
using qkv::codegen::arrays;
using qkv::codegen::program;

namespace {

qkv::ring::settings patient(int threads = 1, qkv::ring::schedule by = qkv::ring::schedule::ring) {
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

// The size of an axis that machines do not share.
std::int64_t size_named(const program &p, const qkv::codegen::size_map &sizes,
                        std::string_view name) {
  for (const qkv::codegen::axis &a : p.axes)
    if (a.name == name) {
      const qkv::codegen::axis &root = p.axes[static_cast<std::size_t>(a.root)];
      return root.size >= 0 ? root.size : sizes.at(root.name);
    }
  return 1;
}

// Bytes that a kernel takes of a workspace, on zeros.
double own_memory(const qkv_kernel &k, const std::function<std::int64_t(std::string_view)> &size) {
  const dense_tensors zeros(k, size);
  qkv::workspace used;
  require_ok({qkv::run(k, zeros.list, {.threads = 1, .workspace = &used})});
  return static_cast<double>(used.peak());
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

TEST_CASE("machines that exchange tokens for heads give the results of one") {
  using qkv::ring::schedule;
  for (const distributed_kernel &k : distributed_kernels())
    for (const auto &[n, m] : {std::pair<std::int64_t, std::int64_t>{70, 51}, {5, 3}, {1, 1}}) {
      const qkv::codegen::size_map sizes = sizes_for(program_of(k), n, m);
      const distributed_calls c(k, sizes);
      const arrays reference = c.reference();
      const double of_one = distance(reference, c.on_one());
      for (const int machines : {2, 3, 8})
        for (const auto &[name, make] : layouts()) {
          INFO(k.name << ": " << machines << " machines, " << name << ", " << n << " x " << m);
          const qkv::ring::layout where = make(machines, n, sizes.count("mem") ? m : n);
          arrays many, again;
          const auto found = on_loopback(c, where, many, patient(1, schedule::heads));
          if (std::string(k.name) == "biased_bf16_gradient") {  // the bias has no batch axis
            CHECK(
                std::string(found[0].text()).ends_with("no batch axis keeps all sums apart: ring"));
            continue;
          }
          require_ok(found);
          CHECK(distance(reference, many) <= 2 * of_one + rounding(k, reference));
          require_ok(on_loopback(c, where, again, patient(2, schedule::heads), {}, 0.001));
          CHECK(distance(many, again) == 0);
        }
    }
}

TEST_CASE("the schedule of a call is that which its machines make fastest") {
  using qkv::ring::schedule;
  const distributed_kernel &k = distributed_kernels()[0];  // batch and heads: 8
  const distributed_calls c(k, sizes_for(program_of(k), 50, 40));
  const qkv::ring::layout where = qkv::ring::zigzag(4, 50, 40);
  const auto with = [&](const qkv::ring::hardware &of, schedule by) {
    arrays results;
    qkv::ring::settings how = patient(1, by);
    how.of = of;
    std::vector<qkv::ring::timeline> records(4);
    qkv::ring::loopback all(4);
    results = c.blank();
    require_ok(on_machines(4, [&](int m) {
      qkv::ring::settings own = how;
      own.record = &records[static_cast<std::size_t>(m)];
      return c.on(all.machine(m), where, results, own);
    }));
    return records[0].events().size();
  };
  const qkv::ring::hardware slow_computers{1e6, 1e9, 1e-6}, slow_messages{1e15, 1e9, 1e-3},
      narrow_links{1e15, 1e3, 0};
  for (const auto &[of, expected] : {std::pair{slow_computers, schedule::ring},
                                     {slow_messages, schedule::gather},
                                     {narrow_links, schedule::heads}})
    CHECK(with(of, schedule::automatic) == with(of, expected));
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
        require_ok(on_loopback(c, where, found, patient(1, qkv::ring::schedule::automatic)));
        CHECK(distance(reference, found) <= 2 * of_one + rounding(k, reference));
      }
    }
  }
}

TEST_CASE("a machine takes the memory that its forecast has") {
  using qkv::ring::schedule;
  for (const int which : {0, 1, 4}) {  // cross, masked, cross_gradient
    const distributed_kernel &k = distributed_kernels()[static_cast<std::size_t>(which)];
    const qkv::codegen::size_map sizes = sizes_for(program_of(k), 2048, 3072);
    const distributed_calls c(k, sizes);
    const std::int64_t keys = sizes.count("mem") ? 3072 : 2048;
    for (const int machines : {2, 4})
      for (const schedule by : {schedule::ring, schedule::gather, schedule::heads}) {
        if (which == 4 && by == schedule::gather) continue;
        // In one block each: a workspace that grows reuses blocks of other sizes.
        std::vector<std::vector<double>> blocks(static_cast<std::size_t>(machines),
                                                std::vector<double>(std::size_t{6} << 20));
        std::vector<std::unique_ptr<qkv::workspace>> memory;
        for (std::vector<double> &b : blocks)
          memory.push_back(std::make_unique<qkv::workspace>(b.data(), b.size() * sizeof b[0]));
        arrays results = c.blank();
        qkv::ring::loopback all(machines);
        const qkv::ring::layout where = qkv::ring::contiguous(machines, 2048, keys);
        require_ok(on_machines(machines, [&](int m) {
          qkv::ring::settings how = patient(1, by);
          how.call.workspace = memory[static_cast<std::size_t>(m)].get();
          return c.on(all.machine(m), where, results, how);
        }));
        const qkv_kernel &table = *qkv::kernels(k.name).at(0);
        qkv::ring::parts of;
        require_ok({qkv::ring::parts::of(table, of)});
        std::vector<qkv::ring::round_work> rounds;
        for (std::size_t n = 0; n < of.own.size(); ++n)
          rounds.push_back(qkv::ring::work_of(of, n, machines, [&](std::string_view axis) {
            return axis == of.query ? 2048
                   : axis == of.key ? keys
                                    : size_named(program_of(k), sizes, axis);
          }));
        const double forecast = qkv::ring::predicted(by, rounds, {}, machines).memory;
        // The memory of compiled code, while it runs, is not the ring's.
        double of_kernels = 0;
        for (const qkv_kernel *hop : of.hops)
          of_kernels = std::max(
              of_kernels, own_memory(*hop, [&](std::string_view axis) {
                const bool of_heads = by == schedule::heads && axis == "heads";
                const std::int64_t tokens = axis == of.query ? 2048 : axis == of.key ? keys : 0;
                if (tokens > 0) return by == schedule::heads ? tokens : tokens / machines;
                return size_named(program_of(k), sizes, axis) / (of_heads ? machines : 1);
              }));
        const double peak = static_cast<double>(memory[0]->peak()) - of_kernels;
        INFO(k.name << ": " << machines << " machines, schedule " << static_cast<int>(by) << ": "
                    << peak << " bytes, forecast " << forecast);
        CHECK(peak <= 1.05 * forecast);
        CHECK(peak >= 0.95 * forecast);
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
  refused(0, qkv::ring::zigzag(3, 9, 8), static_cast<schedule>(77), "cross: no such schedule");
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
