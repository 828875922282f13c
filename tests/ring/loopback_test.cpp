// Compiled kernels on several machines of this process, against one machine and the reference.
#include <cmath>
#include <thread>

#include "tests/catch.hpp"
#include "tests/ring/distributed.hpp"

using namespace qkv::testing;
using qkv::status;
using qkv::codegen::arrays;
using qkv::codegen::program;

namespace {

// Every machine in a thread of its own; the status of each.
std::vector<status> on_machines(const distributed_calls &c, const qkv::ring::layout &where,
                                arrays &results, int threads = 1,
                                const distributed_calls::spoiler &change = {}) {
  const int n = where.machines();
  qkv::ring::loopback all(n);
  results = c.blank();
  std::vector<status> found(static_cast<std::size_t>(n));
  std::vector<std::thread> machines;
  for (int m = 0; m < n; ++m)
    machines.emplace_back([&, m] {
      found[static_cast<std::size_t>(m)] = c.on(all.machine(m), where, results, threads, change);
    });
  for (std::thread &t : machines) t.join();
  return found;
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
          require_ok(on_machines(c, where, many));
          CHECK(distance(reference, many) <= 2 * of_one + 1e-6);
          require_ok(on_machines(c, where, again, 2));
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
    for (const status &s : on_machines(c, qkv::ring::zigzag(machines, 20, 14), results, 1, change))
      CHECK(s.text() == text);
    for (const auto &[name, x] : results)
      for (const double y : x.data) CHECK(std::isnan(y));  // as they were
  };
  all_say("cross: axis mem is 3 in K but 4 on machine 2", 4, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 2) t[1].extent[2] = 3;
  });
  all_say("cross: V has no memory", 3, [](int m, std::vector<qkv_tensor> &t) {
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

TEST_CASE("machines with different layouts are refused") {
  const distributed_kernel &k = distributed_kernels()[0];
  const distributed_calls c(k, sizes_for(program_of(k), 8, 8));
  qkv::ring::loopback all(2);
  arrays results = c.blank();
  std::vector<status> found(2);
  std::thread other(
      [&] { found[1] = c.on(all.machine(1), qkv::ring::contiguous(2, 8, 8), results); });
  found[0] = c.on(all.machine(0), qkv::ring::zigzag(2, 8, 8), results);
  other.join();
  for (const status &s : found)
    CHECK(std::string(s.text()) == "cross: machines 1 and 0 have different layouts");
}
