// SPDX-License-Identifier: BSL-1.0
// The same on processes of MPI, each of which has some of the tokens:
//   mpirun -n 4 ring_mpi [FILE]
// FILE: when each computes and when its messages are under way, for chrome://tracing or Perfetto.
#include <cstdio>
#include <qkv/mpi.hpp>

#include "tokens.hpp"

int main(int argc, char **argv) {
  using namespace examples;
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    qkv::ring::group ring(MPI_COMM_WORLD);
    constexpr std::int64_t n = 4096;
    const qkv::ring::layout where = qkv::ring::zigzag(ring, n);
    // Of all tokens, so that results can be compared: a program would read its own.
    const queries Q = random<queries>(n, 1);
    const keys K = random<keys>(n, 2), V = random<keys>(n, 3);
    queries O({n}), expected({n});
    qkv::ring::timeline record;
    qkv::ring::settings how;
    if (argc > 1) how.record = &record;
    qkv::status s = attend(ring, where, how, Q, K, V, O);
    if (s && argc > 1) s = record.write(ring, argv[1], how.deadline);
    if (s) s = qkv::call<my::attention>(Q, K, V, expected);
    const float far = difference(O, expected, where.queries(ring.rank()));
    failed = !s || !(far < 1e-5f);
    if (failed) std::printf("machine %d: %s, off by %g\n", ring.rank(), s.text(), double(far));
    if (s.code() == qkv::status_code::peer_silent)
      MPI_Abort(MPI_COMM_WORLD, 1);  // it waits in vain
    if (ring.rank() == 0 && !failed)
      std::printf("%d processes, %d tokens: the results of one\n", ring.size(),
                  static_cast<int>(n));
  }
  MPI_Finalize();
  return failed;
}
