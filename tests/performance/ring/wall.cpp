// SPDX-License-Identifier: BSL-1.0
// Processes of MPI beside one, in wall time, and what their messages cost.
//
//   mpirun -n P ring_wall [N [REPEATS]]    N tokens (8192), the best of so many runs (9)
//
// Each run of one process, while the others sleep, is followed by one of all. Exposed is the time
// that a process waits for messages, of its whole call. Where other programs keep processors busy,
// processor time and what is exposed are printed beside the wall time.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <qkv/mpi.hpp>

#include "tensors.hpp"

namespace {

using namespace ring_bench;
using qkv::ring::timeline;

void require(const qkv::status &s) {
  if (s) return;
  std::printf("%s\n", s.text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The largest of all processes.
double largest(double x) {
  double most = 0;
  MPI_Allreduce(&x, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

// The others sleep: Open MPI waits by computing.
void wait_for_first(int rank, int size) {
  int done = 0;
  if (rank == 0) {
    for (int to = 1; to < size; ++to) MPI_Send(&done, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
    return;
  }
  for (int here = 0; !here;) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    MPI_Iprobe(0, 9, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&done, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

struct times {
  double one = 1e9, one_cpu = 1e9, all = 1e9, all_cpu = 1e9;
  double exposed = 0, computing = 0, link = 0, bytes = 0;  // of the best run of all
};

template <auto Kernel>
times measured(qkv::ring::group &ring, std::int64_t n, int repeats) {
  times best;
  const qkv::ring::layout where = qkv::ring::zigzag(ring, n);
  const std::int64_t own = where.n_queries(ring.rank());
  const queries Q = random<queries>(own);
  const keys K = random<keys>(own), V = random<keys>(own);
  queries O({own});
  const std::int64_t alone = ring.rank() == 0 ? n : 0;
  const queries all_Q = random<queries>(alone);
  const keys all_K = random<keys>(alone), all_V = random<keys>(alone);
  queries all_O({alone});
  for (int k = 0; k <= repeats; ++k) {
    if (ring.rank() == 0) {
      const double began = MPI_Wtime(), cpu = cpu_seconds();
      require(qkv::call<Kernel>({.threads = 1}, all_Q, all_K, all_V, all_O));
      if (k > 0) {
        best.one = std::min(best.one, MPI_Wtime() - began);
        best.one_cpu = std::min(best.one_cpu, cpu_seconds() - cpu);
      }
    }
    wait_for_first(ring.rank(), ring.size());
    timeline record;
    qkv::ring::settings how;
    how.call.threads = 1;
    how.record = &record;
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime(), cpu = cpu_seconds();
    require(qkv::ring::call<Kernel>(ring, where, how, Q, K, V, O));
    const double waiting = record.seconds(timeline::row::waiting);
    const double wall = largest(MPI_Wtime() - began), busy = largest(cpu_seconds() - cpu),
                 exposed = largest(waiting),
                 computing = largest(record.seconds(timeline::row::computing));
    if (k == 0 || wall > best.all) continue;
    best.all = wall, best.all_cpu = busy, best.exposed = exposed, best.computing = computing;
    best.link = record.seconds(timeline::row::link);
    best.bytes = 0;
    for (const auto &e : record.events()) best.bytes += static_cast<double>(e.bytes);
  }
  return best;
}

template <auto Kernel>
void report(const char *name, qkv::ring::group &ring, std::int64_t n, int repeats) {
  const times t = measured<Kernel>(ring, n, repeats);
  if (ring.rank() != 0) return;
  std::printf(
      "%-7s n %lld: one %.1f ms, %d processes %.1f ms: %.2f of one; processor time %.2f of one; "
      "computing %.1f ms, %.2f MB sent by each, exposed %.1f ms = %.1f %%\n",
      name, static_cast<long long>(n), 1e3 * t.one, ring.size(), 1e3 * t.all, t.one / t.all,
      t.one_cpu / t.all_cpu, 1e3 * t.computing, t.bytes / 1e6, 1e3 * t.exposed,
      100 * t.exposed / t.all);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    qkv::ring::group ring(MPI_COMM_WORLD);
    const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 8192;
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 9;
    report<ring_bench::causal>("causal", ring, n, repeats);
    report<ring_bench::full>("full", ring, n, repeats);
  }
  MPI_Finalize();
}
