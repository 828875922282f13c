// SPDX-License-Identifier: BSL-1.0
// Compiled kernels on processes of MPI: mpirun -n 4 ring_mpi. Each process compares its own results
// with those of one machine.
#include <cstdio>
#include <qkv/mpi.hpp>

#include "tests/ring/distributed.hpp"

using namespace qkv::testing;
using qkv::codegen::arrays;

namespace {

int failures = 0;

void require(bool holds, const char *what, const std::string &detail) {
  if (holds) return;
  std::printf("%s: %s\n", what, detail.c_str());
  ++failures;
}

void compare(qkv::ring::group &ring) {
  for (const distributed_kernel &k : distributed_kernels())
    for (const auto &[n, m] : {std::pair<std::int64_t, std::int64_t>{70, 51}, {3, 2}})
      for (const named_layout &layout : layouts())
        for (const auto by : {qkv::ring::schedule::ring, qkv::ring::schedule::automatic}) {
          const qkv::codegen::size_map sizes = sizes_for(program_of(k), n, m);
          const distributed_calls c(k, sizes);
          const qkv::ring::layout where = layout.make(ring.size(), n, sizes.count("mem") ? m : n);
          const arrays reference = c.reference();
          const double of_one = c.own_distance(reference, c.on_one(), where, ring.rank());
          arrays found = c.blank();
          qkv::ring::settings how;
          how.by = by;
          const qkv::status s = c.on(ring, where, found, how);
          require(s.ok(), k.name, s.text());
          const double far = c.own_distance(reference, found, where, ring.rank());
          require(far <= 2 * of_one + 2 * rounding(k, reference), k.name,
                  std::string(layout.name) + " is off by " + std::to_string(far));
        }
}

void refuse(qkv::ring::group &ring) {
  const distributed_kernel &k = distributed_kernels()[0];
  const distributed_calls c(k, sizes_for(program_of(k), 20, 14));
  arrays found = c.blank();
  const qkv::status s = c.on(ring, qkv::ring::zigzag(ring, 20, 14), found, {},
                             [&](int rank, std::vector<qkv_tensor> &t) {
                               if (rank == ring.size() - 1) t[1].data = nullptr;
                             });
  require(std::string(s.text()) == "cross: K has no data", "refusal", s.text());
}

// Every machine but the last one waits in vain.
void be_silent(qkv::ring::group &ring) {
  if (ring.size() == 1 || ring.rank() == ring.size() - 1) return;
  const qkv::status s = ring.agree({}, qkv::ring::transport::seconds(0.2));
  require(s.code() == qkv::status_code::peer_silent, "silence", s.text());
  require(!ring.state().ok(), "after a silence", "the group goes on");
}

}  // namespace

int main(int argc, char **argv) {
  const qkv::ring::group early(MPI_COMM_NULL);
  require(std::string(early.state().text()) == "a group of MPI before MPI_Init", "before MPI_Init",
          early.state().text());
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  int all = 0;
  {
    qkv::ring::group ring(MPI_COMM_WORLD), other(MPI_COMM_WORLD);
    compare(ring);
    refuse(ring);
    compare(ring);  // a refusal changes nothing
    be_silent(other);
    if (ring.rank() == 0) std::printf("%d machines\n", ring.size());
  }
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all > 0;
}
