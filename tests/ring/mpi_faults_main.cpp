// SPDX-License-Identifier: BSL-1.0
// One call in which something goes wrong, on processes of MPI: mpirun -n 3 ring_mpi_faults SEED.
// Exits with 0 when every process got the status that it should; after a silence, it aborts the job
// with 7.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <qkv/mpi.hpp>
#include <string>

#include "tests/ring/distributed.hpp"
#include "tests/ring/faulty.hpp"

using namespace qkv::testing;
using qkv::status;
using qkv::ring::transport;

namespace {

enum class outcome { right, wrong, silent };

outcome call(transport &ring, int seed) {
  constexpr fault kinds[] = {fault::extent, fault::memory, fault::slow, fault::stop, fault::stop};
  const fault what = kinds[seed % 5];
  const int guilty = seed / 5 % ring.size(), at = 1 + seed / 15 % 6;
  const bool is_guilty = ring.rank() == guilty, is_killed = seed % 5 == 4;
  const distributed_kernel &k =
      distributed_kernels()[static_cast<std::size_t>(seed) % distributed_kernels().size()];
  const qkv::codegen::size_map sizes = sizes_for(program_of(k), 30, 20);
  const distributed_calls c(k, sizes);
  qkv::codegen::arrays found = c.blank();
  faulty link(ring, is_guilty ? what : fault::none, at,
              [&] { (void)std::raise(is_killed ? SIGKILL : SIGSTOP); });
  qkv::ring::settings how;
  how.deadline = transport::seconds(what == fault::stop ? 1 : 20);
  const auto began = std::chrono::steady_clock::now();
  const status s = c.on(link, qkv::ring::zigzag(ring, 30, sizes.count("mem") ? 20 : 30), found, how,
                        [&](int, std::vector<qkv_tensor> &t) {
                          if (is_guilty) spoil(what, t);
                        });
  if (is_guilty && what == fault::stop) return outcome::silent;  // the launcher lets it go on
  const transport::seconds lasted = std::chrono::steady_clock::now() - began;
  const auto wrong = [&](const std::string &why) {
    std::printf("seed %d, machine %d: %s\n", seed, ring.rank(), why.c_str());
    return outcome::wrong;
  };
  if (lasted.count() > how.deadline.count() + 1)
    return wrong("the call lasted " + std::to_string(lasted.count()) + " s");
  if (what == fault::stop)
    return s.code() == qkv::status_code::peer_silent ? outcome::silent : wrong(s.text());
  if (s.ok() != (what == fault::slow)) return wrong(s.text());
  return outcome::right;
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  outcome all = outcome::right;
  {
    qkv::ring::group ring(MPI_COMM_WORLD);
    all = call(ring, argc > 1 ? std::atoi(argv[1]) : 0);
    if (all == outcome::silent) MPI_Abort(MPI_COMM_WORLD, 7);  // one process waits for ever
  }
  if (all == outcome::wrong) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
