// SPDX-License-Identifier: BSL-1.0
// The time that a forecast has for a ring, beside that of the ring.
//
//   mpirun -n P ring_model [N [REPEATS]]    N tokens (8192), medians of so many runs (9)
//
// The constants of the forecast are measured beside it: how long one machine takes for all tokens,
// while the others do the same, in turns with the ring; how long messages take. Three masks:
// causal, a window, documents.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <qkv/mpi.hpp>
#include <qkv/registry.hpp>
#include <string>
#include <vector>

#include "ring/forecast.hpp"
#include "tensors.hpp"
#include "tests/support/dense_tensors.hpp"

namespace {

using namespace ring_bench;
using qkv::ring::layout;
using qkv::ring::schedule;

void require(const qkv::status &s) {
  if (s) return;
  std::printf("%s\n", s.text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The time that the slowest process takes.
double seconds_of(const std::function<void()> &run) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  run();
  double own = MPI_Wtime() - began, most = 0;
  MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

double median_of(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

double median_seconds(int repeats, const std::function<void()> &run) {
  seconds_of(run);
  std::vector<double> all;
  for (int k = 0; k < repeats; ++k) all.push_back(seconds_of(run));
  return median_of(std::move(all));
}

// The medians of two, run in turns: what disturbs a machine for a while counts for both.
std::array<double, 2> median_seconds_in_turns(int repeats, const std::function<void()> &one,
                                              const std::function<void()> &other) {
  seconds_of(one), seconds_of(other);
  std::vector<double> of_one, of_other;
  for (int k = 0; k < repeats; ++k) {
    of_one.push_back(seconds_of(one));
    of_other.push_back(seconds_of(other));
  }
  return {median_of(std::move(of_one)), median_of(std::move(of_other))};
}

// Every process sends to the next one.
double message_seconds(std::size_t bytes, int repeats) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> sent(bytes), received(bytes);
  return median_seconds(repeats, [&] {
    MPI_Request both[2];
    MPI_Irecv(received.data(), static_cast<int>(bytes), MPI_BYTE, (rank + size - 1) % size, 5,
              MPI_COMM_WORLD, &both[0]);
    MPI_Isend(sent.data(), static_cast<int>(bytes), MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD,
              &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  });
}

// The time that a message takes from a processor that computes beside it, in seconds for each byte:
// of pairs of runs, with the message and without.
double copying_seconds(std::size_t bytes, int repeats, const std::function<void()> &compute) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> sent(bytes), received(bytes);
  const auto slices = [&](bool with) {
    MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (with) {
      MPI_Irecv(received.data(), static_cast<int>(bytes), MPI_BYTE, (rank + size - 1) % size, 6,
                MPI_COMM_WORLD, &both[0]);
      MPI_Isend(sent.data(), static_cast<int>(bytes), MPI_BYTE, (rank + 1) % size, 6,
                MPI_COMM_WORLD, &both[1]);
    }
    for (int k = 0; k < 16; ++k) {  // as often as a turn of a ring asks for its messages
      int done = 0;
      MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
      compute();
    }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  };
  std::vector<double> all;
  for (int k = 0; k < repeats; ++k)
    all.push_back(median_seconds(1, [&] { slices(true); }) -
                  median_seconds(1, [&] { slices(false); }));
  std::sort(all.begin(), all.end());
  return std::max(0.0, all[all.size() / 2]) / static_cast<double>(bytes);
}

// The first key that each query sees; causal.
using first_keys = std::vector<std::int64_t>;

double pairs_of(const qkv::ring::positions &queries, const qkv::ring::positions &keys,
                const first_keys &from) {
  double n = 0;
  for (std::int64_t q = queries.first; q < queries.first + queries.n; ++q) {
    const std::int64_t first = std::max(keys.first, from[static_cast<std::size_t>(q)]),
                       end = std::min(keys.first + keys.n, q + 1);
    n += static_cast<double>(std::max<std::int64_t>(0, end - first));
  }
  return n;
}

// The work of each machine's queries with each machine's keys: pairs that the kernel's own code
// skips do not count, from `computed` to the query; runs without a pair from `seen` to the query
// are only looked at.
std::vector<qkv::ring::turn_work> work_of_turns(const layout &where, const first_keys &computed,
                                                const first_keys &seen) {
  const int p = where.machines();
  const auto n = static_cast<std::int64_t>(computed.size());
  const double all = pairs_of({0, n}, {0, n}, computed);
  std::vector<qkv::ring::turn_work> turns(static_cast<std::size_t>(p * p), {0, 0, 0, 0});
  for (int m = 0; m < p; ++m)
    for (const auto &queries : where.queries(m))
      for (int k = 0; k < p; ++k)
        for (const auto &keys : where.keys(k)) {
          qkv::ring::turn_work &turn = turns[static_cast<std::size_t>(m * p + k)];
          if (pairs_of(queries, keys, seen) == 0) {
            turn.hidden += static_cast<double>(queries.n) * static_cast<double>(keys.n) /
                           static_cast<double>(n * n);
            continue;
          }
          turn.pairs += pairs_of(queries, keys, computed) / all;
          turn.passes += static_cast<double>(queries.n) / static_cast<double>(where.n_queries(m));
          turn.calls += 1;
        }
  return turns;
}

// The seconds of a part with n tokens; 0 where the kernel has no such part. Of many calls, so that
// processes that share a processor all get their part of it.
double part_seconds(const std::string &part, std::int64_t n) {
  const auto found = qkv::kernels(part);
  if (found.empty()) return 0;
  const qkv::testing::dense_tensors zeros(
      *found[0], [n](std::string_view axis) { return axis == "heads" ? 8 : n; });
  const auto seconds = [&](int calls) {
    return median_seconds(3,
                          [&] {
                            for (int k = 0; k < calls; ++k)
                              require(qkv::run(*found[0], zeros.list, {.threads = 1}));
                          }) /
           calls;
  };
  return seconds(std::clamp(static_cast<int>(0.1 / seconds(1)), 1, 1000));
}

// Of the keys and values of a machine.
std::size_t message_bytes(std::int64_t n, int machines) {
  return static_cast<std::size_t>(2 * 8 * 64 * 4 * n / machines);
}

// Beside as much computing as four messages take.
double copying_of_message(std::size_t message, int repeats) {
  const double whole = message_seconds(message, repeats), one = part_seconds("causal_hop0", 512);
  const int calls = std::max(1, static_cast<int>(std::lround(4 * whole / 16 / one)));
  const auto part = qkv::kernels("causal_hop0");
  const qkv::testing::dense_tensors zeros(
      *part[0], [](std::string_view axis) { return axis == "heads" ? 8 : 512; });
  return copying_seconds(message, repeats, [&] {
    for (int k = 0; k < calls; ++k) require(qkv::run(*part[0], zeros.list, {.threads = 1}));
  });
}

template <auto Kernel, class... More>
void compare(const char *name, qkv::ring::group &ring, const layout &where,
             const first_keys &computed, const first_keys &seen, double copying, int repeats,
             const More &...more) {
  const auto n = static_cast<std::int64_t>(seen.size());
  const std::int64_t own = where.n_queries(ring.rank());
  const int p = ring.size();
  const queries all_Q = random<queries>(n), Q = random<queries>(own);
  const keys all_K = random<keys>(n), all_V = random<keys>(n);
  const keys K = random<keys>(own), V = random<keys>(own);
  queries all_O({n}), O({own});
  qkv::ring::settings how;
  how.call.threads = 1;
  how.by = schedule::ring;
  const auto [alone, measured] = median_seconds_in_turns(
      repeats,
      [&] { require(qkv::call<Kernel>({.threads = 1}, all_Q, all_K, all_V, more(0)..., all_O)); },
      [&] { require(qkv::ring::call<Kernel>(ring, where, how, Q, K, V, more(1)..., O)); });
  const std::size_t message = message_bytes(n, p);
  const double latency = message_seconds(64, repeats), whole = message_seconds(message, repeats);
  // A call of a run beside its pairs: the sums so far, keys that are laid out anew.
  const std::int64_t run = where.keys(0)[0].n;
  const double run_pairs =
      pairs_of({0, run}, {0, run}, computed) / pairs_of({0, n}, {0, n}, computed);
  const double beside = part_seconds(std::string(name) + "_hop0", run) - alone * run_pairs;
  const qkv::ring::hardware of{
      1,      static_cast<double>(message) / (whole - latency), latency, 0, std::max(beside, 0.0),
      copying};
  const std::vector<qkv::ring::turn_work> turns = work_of_turns(where, computed, seen);
  const qkv::ring::forecast f = qkv::ring::predicted(
      schedule::ring,
      {{.pair_flops = alone,
        .key_bytes = static_cast<double>(message_bytes(n, 1)),
        .look_flops = part_seconds(std::string(name) + "_seen0", n)}},
      of, p, [&](int m, int k) { return turns[static_cast<std::size_t>(m * p + k)]; });
  if (ring.rank() == 0)
    std::printf(
        "%-10s n %lld, %d processes: forecast %7.1f ms, measured %7.1f ms: %+.1f %%  "
        "(one machine %.1f ms, message %.2f ms, copying %.2f ms, a call %.2f ms, hidden %.0f %%)\n",
        name, static_cast<long long>(n), p, 1e3 * f.seconds, 1e3 * measured,
        100 * (f.seconds / measured - 1), 1e3 * alone, 1e3 * whole,
        1e3 * copying * static_cast<double>(message), 1e3 * of.call, 100 * f.hidden);
  std::fflush(stdout);
}

void report(qkv::ring::group &ring, std::int64_t n, int repeats) {
  first_keys causal_from(static_cast<std::size_t>(n), 0), window_from, document_from;
  qkv::tensor<qkv::i32, seq> document({n});
  std::int64_t begin = 0;
  constexpr std::array lengths = {5, 1, 3, 7, 2, 6, 4, 4};  // of 32
  std::size_t which = 0;
  for (std::int64_t q = 0; q < n; ++q) {
    window_from.push_back(std::max<std::int64_t>(0, q - window_size + 1));
    if (q >= begin + n * lengths[which] / 32 && which + 1 < lengths.size()) {
      begin += n * lengths[which] / 32;
      ++which;
    }
    document(q) = static_cast<std::int32_t>(which);
    document_from.push_back(begin);
  }
  std::vector<double> costs(32, 0);
  for (std::int64_t q = 0; q < n; ++q)
    costs[static_cast<std::size_t>(q * 32 / n)] +=
        static_cast<double>(q + 1 - document_from[static_cast<std::size_t>(q)]);
  const layout by_documents = qkv::ring::by_cost(ring, n, costs);
  qkv::tensor<qkv::i32, seq> mine({by_documents.n_queries(ring.rank())});
  std::int64_t at = 0;
  for (const auto &run : by_documents.queries(ring.rank()))
    for (std::int64_t q = run.first; q < run.first + run.n; ++q) mine(at++) = document(q);

  const double copying = copying_of_message(message_bytes(n, ring.size()), 3 * repeats);
  compare<ring_bench::causal>("causal", ring, qkv::ring::zigzag(ring, n), causal_from, causal_from,
                              copying, repeats);
  compare<ring_bench::window>("window", ring, qkv::ring::contiguous(ring, n), window_from,
                              window_from, copying, repeats);
  compare<ring_bench::documents>("documents", ring, by_documents, document_from, document_from,
                                 copying, repeats,
                                 [&](int of) -> auto & { return of == 0 ? document : mine; });
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    qkv::ring::group ring(MPI_COMM_WORLD);
    report(ring, argc > 1 ? std::atoll(argv[1]) : 8192, argc > 2 ? std::atoi(argv[2]) : 9);
  }
  MPI_Finalize();
}
