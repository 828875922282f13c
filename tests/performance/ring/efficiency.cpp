// SPDX-License-Identifier: BSL-1.0
// How well machines share the work of a kernel: the processor time of one machine over the number
// of machines, divided by the time of the slowest of them.
//
//   ring_efficiency [N [REPEATS]]    N tokens (8192), medians of so many runs (5)
//
// Machines are threads of this process that compute one after the other, so that they do not
// disturb each other; time is that of each thread, without waiting, in a second call.
#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <qkv/ring.hpp>
#include <thread>
#include <vector>

#include "tensors.hpp"

namespace {

using namespace ring_bench;
using qkv::status;
using qkv::ring::layout;

// One machine computes at a time: it has the turn but while it waits.
class in_turn : public qkv::ring::transport {
 public:
  in_turn(transport &inner, std::mutex &turn) : inner_(inner), turn_(turn) {}
  int rank() const noexcept override { return inner_.rank(); }
  int size() const noexcept override { return inner_.size(); }
  status begin(int to, std::span<const std::byte> sent, int from,
               std::span<std::byte> received) noexcept override {
    return inner_.begin(to, sent, from, received);
  }
  void poll() noexcept override {}
  status finish(seconds deadline) noexcept override {
    turn_.unlock();
    status s = inner_.finish(deadline);
    turn_.lock();
    return s;
  }
  status agree(const status &own, seconds deadline) noexcept override {
    turn_.unlock();
    status s = inner_.agree(own, deadline);
    turn_.lock();
    return s;
  }

 private:
  transport &inner_;
  std::mutex &turn_;
};

void require(const status &s) {
  if (s) return;
  std::printf("%s\n", s.text());
  std::exit(1);
}

// Calls a kernel with fresh tensors of so many tokens.
template <auto Kernel, class Call>
void with_tensors(std::int64_t n, const Call &call) {
  const queries Q = random<queries>(n), dO = random<queries>(n);
  const keys K = random<keys>(n), V = random<keys>(n);
  queries O({n}), dQ({n});
  keys dK({n}), dV({n});
  if constexpr (qkv::detail::kernel_type<Kernel>::name == "causal_gradient")
    call(Q, K, V, dO, dQ, dK, dV);
  else
    call(Q, K, V, O);
}

template <auto Kernel>
double one_machine(std::int64_t n) {
  double seconds = 0;
  with_tensors<Kernel>(n, [&](auto &...t) {
    require(qkv::call<Kernel>({.threads = 1}, t...));
    const double began = cpu_seconds();
    require(qkv::call<Kernel>({.threads = 1}, t...));
    seconds = cpu_seconds() - began;
  });
  return seconds;
}

// The processor time of the slowest machine.
template <auto Kernel>
double slowest(int machines, std::int64_t n) {
  const layout where = qkv::ring::zigzag(machines, n, n);
  qkv::ring::loopback all(machines);
  std::mutex turn;
  std::vector<double> seconds(static_cast<std::size_t>(machines));
  std::vector<std::thread> threads;
  for (int m = 0; m < machines; ++m)
    threads.emplace_back([&, m] {
      in_turn link(all.machine(m), turn);
      with_tensors<Kernel>(where.n_queries(m), [&](auto &...t) {
        const std::lock_guard hold(turn);
        qkv::ring::settings how;
        how.call.threads = 1;
        how.deadline = std::chrono::hours(1);
        require(qkv::ring::call<Kernel>(link, where, how, t...));
        const double began = cpu_seconds();
        require(qkv::ring::call<Kernel>(link, where, how, t...));
        seconds[static_cast<std::size_t>(m)] = cpu_seconds() - began;
      });
    });
  for (std::thread &t : threads) t.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

template <auto Kernel>
void report(const char *name, std::int64_t n, int repeats) {
  // The runs of one machine and of several take turns: both see the same weather.
  for (const int machines : {2, 4, 8}) {
    std::vector<double> shares;
    double of_one = 0;
    for (int k = 0; k < repeats; ++k) {
      const double before = one_machine<Kernel>(n), many = slowest<Kernel>(machines, n),
                   after = one_machine<Kernel>(n);
      of_one = (before + after) / 2;
      shares.push_back(of_one / machines / many);
    }
    std::sort(shares.begin(), shares.end());
    std::printf("%-8s %d machines: %5.1f %%   (one machine %.0f ms)\n", name, machines,
                100 * shares[shares.size() / 2], 1e3 * of_one);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char **argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 8192;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  report<ring_bench::causal>("causal", n, repeats);
  report<ring_bench::full>("full", n, repeats);
  report<ring_bench::step>("gradient", n, repeats);
}
